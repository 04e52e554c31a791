/* plt.c loads this library lazily and unloads it: the dynamic linker binds each of its 64 calls at its first use. */
#define EACH8(f, t) f(t##0) f(t##1) f(t##2) f(t##3) f(t##4) f(t##5) f(t##6) f(t##7)
#define EACH64(f) EACH8(f, 0) EACH8(f, 1) EACH8(f, 2) EACH8(f, 3) EACH8(f, 4) EACH8(f, 5) EACH8(f, 6) EACH8(f, 7)
#define DECLARE(n) int callee_##n(int x);
#define CALL(n) x = callee_##n(x);
EACH64(DECLARE)

int call_all(int x, int times);

__attribute__((noinline)) int call_all(int x, int times)
{
	while (times-- > 0) {
		EACH64(CALL)
	}
	return x;
}
