/*
 * plt.c loads this library lazily and unloads it: the dynamic linker binds each of its 64 calls at its first use. All
 * PLT stubs are in one page, without other code.
 */
#define EACH8(f, t) f(t##0) f(t##1) f(t##2) f(t##3) f(t##4) f(t##5) f(t##6) f(t##7)
#define EACH64(f) EACH8(f, 0) EACH8(f, 1) EACH8(f, 2) EACH8(f, 3) EACH8(f, 4) EACH8(f, 5) EACH8(f, 6) EACH8(f, 7)
#define DECLARE(n) int callee_##n(int x);
#define CALL(n) between(stub), x = callee_##n(x);
EACH64(DECLARE)

int call_all(int x, void (*between)(void *stub));

__attribute__((noinline, aligned(4096))) int call_all(int x, void (*between)(void *stub))
{
	void *stub;

	__asm__("lea callee_00@PLT(%%rip), %0" : "=r"(stub));
	EACH64(CALL)
	__asm__ volatile("" ::: "memory"); /* the last one is no tail call */
	return x;
}
