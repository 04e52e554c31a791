/* Functions that run before main, after it, and only once. */
// counts: Logged::Logged 4
// counts: Logged::~Logged 4
// counts: Static::later 1
// counts: at_exit 1
// counts: compute 3
// counts: instance 3
// counts: lazily 2
// counts: main 1
// prints: begins 1
// prints: begins 3
// prints: begins 4
// prints: 21 31 83
// prints: begins 2
// prints: 4 21
// prints: ends 4
// prints: ends 4
// prints: ends 3
// prints: ends 1
#include <cstdio>
#include <cstdlib>

static int compute(int x);

struct Logged {
	int number;
	explicit Logged(int n) : number(n) { std::printf("begins %d\n", number); }
	~Logged() { std::printf("ends %d\n", number); }
};

static Logged first(1);
static int second = compute(20);
thread_local int third = compute(30);
static Logged *kept = nullptr;

static int compute(int x)
{
	return x + 1;
}

static int lazily()
{
	static int value = compute(40);
	return value++;
}

static Logged &instance()
{
	static Logged logged(2);
	return logged;
}

static void at_exit() { delete kept; }

struct Static {
	static Logged member;
	static int later() { return second; }
};
Logged Static::member(3);

int main()
{
	std::atexit(at_exit);
	kept = new Logged(4);
	std::printf("%d %d %d\n", second, third, lazily() + lazily());
	instance().number++;
	instance().number++;
	std::printf("%d %d\n", instance().number, Static::later());
}
