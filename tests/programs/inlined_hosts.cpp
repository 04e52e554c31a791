/*
 * Functions with hooks that are inlined into functions without them. The program prints how often each path was taken;
 * a path has the functions without hooks as well, where the compiler cannot inline them.
 */
#include <cstdio>

#define NOINLINE __attribute__((noinline))
#ifdef ALWAYS /* cpprof cxx does not instrument such functions */
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif
#define HIDDEN __attribute__((no_instrument_function))

enum { TIMES = 50 };

static volatile long sink;

NOINLINE void burn(int n)
{
	sink += n;
}

/* It is called from two lines of one function without hooks. */
INLINE void small(int n)
{
	burn(n);
	burn(n + 1);
}

NOINLINE HIDDEN void wraps(int n)
{
	sink++;
	small(n);
	sink++;
	small(n + 1);
	sink++;
}

/* It is inlined into two functions without hooks. */
INLINE void both(int n)
{
	burn(n);
	sink++;
}

NOINLINE HIDDEN void wraps_first(int n)
{
	both(n);
	sink++;
}

NOINLINE HIDDEN void wraps_second(int n)
{
	both(n);
	sink += 2;
}

/* It is inlined into a function that is inlined itself. */
INLINE void inner(int n)
{
	burn(n);
	sink++;
}

INLINE void outer(int n)
{
	inner(n);
	burn(n);
	sink++;
}

NOINLINE HIDDEN void wraps_both(int n)
{
	outer(n);
	sink += 3;
}

/* A function without hooks lies between two inlined functions with hooks. */
template <typename Called> INLINE HIDDEN void between(Called called)
{
	sink++;
	called(1);
	sink++;
}

struct calls_burn {
#ifdef ALWAYS
	__attribute__((always_inline))
#endif
	inline void
	operator()(int n) const
	{
		burn(n);
		sink++;
	}
};

NOINLINE void passes()
{
	between(calls_burn());
	sink++;
}

NOINLINE void runs(int n)
{
	wraps(n);
	wraps_first(n);
	wraps_second(n);
	wraps_both(n);
	passes();
}

HIDDEN static void states(const char *path, long calls)
{
	std::printf("path %s %ld\n", path, calls);
}

int main()
{
	for (int i = 0; i < TIMES; i++)
		runs(i);
	states("main;runs", TIMES);
	states("main;runs;wraps;small", 2 * TIMES);
	states("main;runs;wraps;small;burn", 4 * TIMES);
	states("main;runs;wraps_first;both", TIMES);
	states("main;runs;wraps_second;both", TIMES);
	states("main;runs;wraps_both;outer", TIMES);
	states("main;runs;wraps_both;outer;inner", TIMES);
	states("main;runs;wraps_both;outer;inner;burn", TIMES);
	states("main;runs;wraps_both;outer;burn", TIMES);
	states("main;runs;passes", TIMES);
	states("main;runs;passes;between;operator()", TIMES);
	states("main;runs;passes;between;operator();burn", TIMES);
#ifdef ALWAYS /* otherwise nothing shows which of its callers has called `both` when it calls burn */
	states("main;runs;wraps_first;both;burn", TIMES);
	states("main;runs;wraps_second;both;burn", TIMES);
#endif
	return 0;
}
