/* Function try blocks, and exceptions that pass through instrumented functions. */
// counts: Holder::Holder 2
// counts: Holder::~Holder 2
// counts: Member::Member 3
// counts: Throwing::~Throwing 1
// counts: deep 11
// counts: guarded 3
// counts: last 1
// counts: main 1
// counts: nothing 1
// counts: rethrowing 1
// counts: thrower 4
// prints: 1 -2 -9
// prints: 5
// prints: no member
// prints: -1
// prints: 4
// prints: 1.5
// prints: 7
#include <cstdio>

static int thrower(int what)
{
	if (what > 1)
		throw what;
	return what;
}

int guarded(int x) try {
	return thrower(x);
} catch (int caught) {
	return -caught;
} catch (...) {
	return 0;
}

void nothing()
try
{
	thrower(5);
}
catch (const int &)
{
}

struct Member {
	int value;
	explicit Member(int v) : value(v)
	{
		if (v < 0)
			throw v;
	}
};

struct Holder {
	Member member;
	explicit Holder(int v) try : member(v) {
		member.value++;
	} catch (int) {
		std::printf("no member\n");
	}
	~Holder() try {
		member.value = 0;
	} catch (...) {
	}
};

struct Throwing {
	~Throwing() noexcept(false) { throw 4; }
};

int deep(int level)
{
	if (level == 0)
		throw 1.5;
	return deep(level - 1) + 1;
}

void rethrowing()
{
	try {
		deep(10);
	} catch (...) {
		throw;
	}
}

int last() { return 7; }

int main()
{
	std::printf("%d %d %d\n", guarded(1), guarded(2), guarded(9));
	nothing();
	{
		Holder first(1), second(2);
		std::printf("%d\n", first.member.value + second.member.value);
	}
	try {
		Holder third(-1);
	} catch (int x) {
		std::printf("%d\n", x);
	}
	try {
		Throwing throwing;
	} catch (int x) {
		std::printf("%d\n", x);
	}
	try {
		rethrowing();
	} catch (double x) {
		std::printf("%.1f\n", x);
	}
	std::printf("%d\n", last());
}
