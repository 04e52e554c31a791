/* The library behind plt.c: 64 nearly empty functions, each of which is called through a PLT stub of its own. */
#define ONE(n) int callee_##n(int x);
#define EACH8(f, t) f(t##0) f(t##1) f(t##2) f(t##3) f(t##4) f(t##5) f(t##6) f(t##7)
#define EACH64(f) EACH8(f, 0) EACH8(f, 1) EACH8(f, 2) EACH8(f, 3) EACH8(f, 4) EACH8(f, 5) EACH8(f, 6) EACH8(f, 7)
EACH64(ONE)
#undef ONE
#define ONE(n)                \
	int callee_##n(int x) \
	{                     \
		return x + 1; \
	}
EACH64(ONE)
