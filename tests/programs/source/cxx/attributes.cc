/* Functions with attributes. */
// counts: Marked::run 1
// counts: aligned 1
// counts: begin 1
// counts: checked 2
// counts: cold_one 1
// counts: constant_one 3
// counts: deprecated_one 1
// counts: end_of_all 1
// counts: fatal 1
// counts: flat 1
// counts: hidden_one 1
// counts: main 1
// counts: optimized 1
// counts: pure_one 3
// counts: renamed 1
// counts: wide 1
// prints: 86
// prints: end
// skipped: unseen no_instrument_function
// skipped: naked_one naked
// skipped: always always_inline
#include <csetjmp>
#include <cstdio>

static std::jmp_buf back;

[[noreturn]] void fatal(int code)
{
	std::longjmp(back, code);
}

[[nodiscard]] int checked [[gnu::noinline]] ([[maybe_unused]] int a, int b)
{
	return b;
}

__attribute__((pure)) int pure_one(const int *p) { return *p; }
__attribute__((const)) int constant_one(int x) { return x * 2; }
[[gnu::cold]] int cold_one() { return 1; }
#ifdef __clang__
#define OTHER_RULES optnone, noinline
#else
#define OTHER_RULES optimize("O3")
#endif
__attribute__((OTHER_RULES)) int optimized(int x) { return x; }
__attribute__((target("avx"))) int wide(int x) { return x + 1; }
static int began;
__attribute__((constructor)) static void begin() { began = 5; }
__attribute__((destructor)) static void end_of_all() { std::printf("end\n"); }
int renamed(int x) __asm__("another_name");
int renamed(int x) { return x; }
__attribute__((aligned(64))) int aligned() { return 3; }
[[deprecated("old")]] int deprecated_one() { return 4; }
__attribute__((no_instrument_function)) int unseen(int x) { return x; }
__attribute__((naked, used)) void naked_one() { __asm__("ret"); }
__attribute__((always_inline)) inline int always(int x) { return x + 1; }
__attribute__((flatten)) int flat(int x) { return always(x); }
__attribute__((visibility("hidden"))) int hidden_one() { return 2; }

struct [[nodiscard]] Marked {
	[[gnu::always_inline, nodiscard]] inline int direct() const { return 1; }
	[[gnu::noinline]] int run() const noexcept
	{
		return direct();
	}
};

int main()
{
	volatile int seed = 4;
	int value = seed;
	int total = checked(1, 2) + checked(seed, seed) + cold_one() + optimized(seed) + began;
	for (int i = 0; i < 3; i++)
		total += pure_one(&value) + constant_one(seed + i), value++;
	if (__builtin_cpu_supports("avx"))
		total += wide(seed);
	else
		total += 5;
	total += renamed(seed) + aligned() + unseen(1) + flat(seed) + hidden_one() + Marked().run();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	total += deprecated_one();
#pragma GCC diagnostic pop
	naked_one();
	if (setjmp(back) == 0)
		fatal(3);
	std::printf("%d\n", total);
}
