/* Lambdas in every position that the language allows. */
// counts: Adder::operator() 1
// counts: Holder::run 1
// counts: lambda 36
// counts: main 1
// counts: make_adder 1
// counts: twice 2
// counts: visit 3
// counts: with_default 2
// counts if 14: lambda 38
// counts if 17: lambda 39
// counts if 20: lambda 43
// prints: 213
// prints if 14: 220
// prints if 17: 235
// prints if 20: 255
// skipped if 20: main::lambda only the type
// skipped if 20: main::lambda consteval
// skipped: main::lambda macro
#include <cstdio>

static auto at_namespace = [](int x) { return x * 3; };
static int initialised = [] { return 5; }();

template <class F> auto twice(F function) -> decltype(function(1))
{
	return function(1) + function(2);
}

struct Adder {
	int amount;
	int operator()(int x) const;
};
int Adder::operator()(int x) const { return x + amount; }

static Adder make_adder(int amount) { return Adder{ amount }; }

struct Holder {
	int base = [] { return 10; }();
	int run(int x)
	{
		auto add = [this, x](int y) mutable -> int {
			x += y;
			return x + base;
		};
		return add(1) + add(2);
	}
};

static int with_default(int x, int (*function)(int) = [](int y) { return y + 100; }) { return function(x); }

#define VISIT(from, to, body) \
	for (int i = from; i < to; i++) \
		visit(body)
template <class F> int visit(F function) { return function(3); }

int main()
{
	volatile int seed = 2;
	int total = at_namespace(seed) + initialised;
	total += twice([](int x) { return x + 1; });
	total += twice([&](int x) {
		auto inner = [=](int y) { return [=](int z) { return x + y + z; }(seed); };
		return inner(1) + inner(2);
	});
	total += make_adder(3)(4);
	Holder holder;
	total += holder.run(seed) + with_default(1) + with_default(1, [](int y) noexcept { return -y; });
	/* Early return from a loop; without parameters; a body on several lines. */
	auto find = [=](int limit) {
		for (int i = 0;; i++)
			if (i * i > limit)
				return i;
	};
	for (int i = 0; i < 10; i++)
		total += find(i);
	[] {}();
	/* In a macro's argument, where it is not instrumented. */
	VISIT(0, 3, [](int x) { return x; });
	int (*pointer)(int) = [](int x) { return x - 1; };
	total += pointer(1) + (+[](int x) { return x; })(2);
	static const int kept = [](int x) { return x; }(8);
	total += kept;
	const int each_of[] = { 1, 2, 3 };
	for (auto each : each_of)
		total += [each] { return each; }();
#if __cplusplus >= 201402L
	auto generic = [](auto x) { return x + x; };
	total += generic(seed) + static_cast<int>(generic(1.5));
#endif
#if __cplusplus >= 201703L
	constexpr auto square = [](int x) constexpr { return x * x; };
	static_assert(square(3) == 9, "evaluated by the compiler");
	static_assert([](auto x) { return x + 1; }(1) == 2);
	auto implicitly = [](int x) { return x + 2; };
	constexpr int folded = implicitly(3);
	int bounds[implicitly(1)] = {};
	total += square(seed) + implicitly(seed) + [copy = seed] { return copy; }() + folded + bounds[0];
#endif
#if __cplusplus >= 202002L
	auto templated = []<class T>(T x, T y) { return x < y ? x : y; };
	total += templated(1, int(seed)) + static_cast<int>(templated(1L, 2L));
	auto several = [](auto... xs) { return (xs + ...); };
	total += several(1, 2, 3) + several(1);
	decltype([](int x) { return x; }) unnamed;
	total += unnamed(3);
	auto evaluated = [](int x) consteval { return x * 2; };
	total += evaluated(4);
#endif
	std::printf("%d\n", total);
}
