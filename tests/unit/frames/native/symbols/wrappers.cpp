// Inlined functions that are artificial: one that the source declares so, and an implicit constructor.
#include "mark.h"

volatile int sink;

INLINE int plain(int x)
{
	MARK(1);
	return x + sink;
}

INLINE __attribute__((artificial)) int wrapper(int x)
{
	MARK(2);
	return plain(x) * 2;
}

extern "C" NOINLINE int caller(int x)
{
	return wrapper(x); /* call wrapper */
}

struct part {
	int value;
	__attribute__((always_inline)) part() : value(sink)
	{
		MARK(3);
	}
};

struct whole {
	part first;
};

extern "C" NOINLINE int maker(void)
{
	whole made;
	return made.first.value;
}

int main(int argc, char **)
{
	return caller(argc) + maker();
}
