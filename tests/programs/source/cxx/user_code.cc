/* Functions with the user's code at entry and exit, also in constant expressions; groups; functions that are switched off. */
// standards: 14 17 20 23
// options: -I../../../../include
// counts: Box::Box 1
// counts: Box::get 1
// counts: grouped 1
// counts: main 1
// counts: own::log_enter 4
// counts: own::log_leave 4
// counts: plain 1
// counts: twice 1
// prints: enter 7
// prints: leave 7
// prints: enter 2
// prints: leave 2
// prints: enter 3
// prints: leave 3
// prints: enter 4
// prints: leave 4
// prints: 20
// skipped: unseen off
#include <cpprof/profiler.h>
#include <cstdio>

namespace own
{
void *log_enter(int what)
{
	std::printf("enter %d\n", what);
	return reinterpret_cast<void *>(static_cast<long>(what));
}
void log_leave(void *entered)
{
	std::printf("leave %ld\n", reinterpret_cast<long>(entered));
}
} // namespace own

CPPROF_HOOK(own::log, x)
int plain(int x) { return x + 1; }

template <class T> struct Box {
	/* cpprof: hook(own::log, 7) group(boxes) */
	Box() { made = 1; }
	CPPROF_HOOK(own::log, static_cast<int>(value))
	T get(T value) { return value + made; }
	int made;
};

CPPROF_HOOK(own::log, x)
constexpr int twice(int x) { return x + x; }
static_assert(twice(2) == 4, "no hook is called for it");

CPPROF_OFF int unseen(int x) { return x; }
CPPROF_GROUP("io") int grouped(int x) { return x; }

int main()
{
	volatile int seed = 3;
	Box<long> box;
	int total = plain(2);
	total += static_cast<int>(box.get(seed));
	total += twice(seed + 1);
	std::printf("%d\n", total + unseen(2) + grouped(3));
}
