/* Raises known numbers of floating point exceptions, in functions that are named after them, and prints every
 * result and every state of <fenv.h>, bit by bit. The output is the same with and without a recorder. */
#include <fenv.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 200 };

static uint64_t digest = 1469598103934665603ULL;

static void see(const void *what, size_t bytes)
{
	const unsigned char *at = what;
	for (size_t i = 0; i < bytes; i++)
		digest = (digest ^ at[i]) * 1099511628211ULL;
}

static void print_count(const char *name)
{
	fenv_t environment;
	fegetenv(&environment);
	printf("%s %016lx flags %02x control %04x status %04x mxcsr %04x\n", name, digest, fetestexcept(FE_ALL_EXCEPT),
	       environment.__control_word, environment.__status_word, environment.__mxcsr);
	feclearexcept(FE_ALL_EXCEPT);
}

/* Repeats one instruction in a function whose name lists the exceptions that it raises. */
#define REPEATED(name, type, setup, statement)                                                                     \
	__attribute__((noinline)) static void name(void)                                                           \
	{                                                                                                          \
		setup;                                                                                             \
		for (int i = 0; i < CALLS; i++) {                                                                  \
			volatile type result;                                                                      \
			result = statement;                                                                        \
			type seen = result;                                                                        \
			see(&seen, sizeof(seen) > 10 && sizeof(seen) == 16 && (type)0.5 != 0 ? 10 : sizeof(seen)); \
		}                                                                                                  \
		print_count(#name);                                                                                \
	}

REPEATED(sse_invalid, double, volatile double zero = 0, zero / zero)
REPEATED(sse_divzero, double, volatile double zero = 0, 1 / zero)
REPEATED(sse_overflow_inexact, double, volatile double big = 1e300, big *big)
REPEATED(sse_underflow_inexact, double, volatile double tiny = 1e-300, tiny *tiny)
REPEATED(sse_denormal, double, volatile double denormal = 0x1p-1074, denormal + 1e-300 * 0 + denormal)
REPEATED(sse_inexact, double, volatile double three = 3, 1 / three)
REPEATED(sse_exact, double, volatile double two = 2, 1 / two)
REPEATED(sse_invalid_integer, int, volatile double big = 1e300, (int)big)
REPEATED(x87_invalid, long double, volatile long double zero = 0, zero / zero)
REPEATED(x87_divzero, long double, volatile long double zero = 0, 1 / zero)
REPEATED(x87_overflow_inexact, long double, volatile long double big = 0x1p16000L, big *big)
REPEATED(x87_underflow_inexact, long double, volatile long double tiny = 0x1.8p-16000L, tiny *tiny)
REPEATED(x87_inexact, long double, volatile long double three = 3, 1 / three)
REPEATED(x87_stored_overflow_inexact, double, volatile long double big = 0x1p16000L, (double)big)
REPEATED(x87_stored_invalid_integer, int, volatile long double big = 0x1p16000L, (int)big)
REPEATED(x87_exact, long double, volatile long double two = 2, 1 / two)

__attribute__((noinline)) static void packed_invalid_divzero_inexact(void)
{
	volatile __m128 above = _mm_setr_ps(0, 1, 1, 1), below = _mm_setr_ps(0, 0, 3, 3);
	for (int i = 0; i < CALLS; i++) {
		__m128 result = _mm_div_ps(above, below);
		see(&result, sizeof(result));
	}
	print_count("packed_invalid_divzero_inexact");
}

__attribute__((noinline, target("avx"))) static void avx_divzero_inexact(void)
{
	volatile __m256d above = _mm256_setr_pd(1, 1, 1, 1), below = _mm256_setr_pd(0, 3, 0, 7);
	for (int i = 0; i < CALLS; i++) {
		__m256d result = _mm256_div_pd(above, below);
		double lanes[4];
		memcpy(lanes, &result, sizeof(lanes));
		see(lanes, sizeof(lanes));
	}
	print_count("avx_divzero_inexact");
}

static void *in_thread(void *none)
{
	sse_divzero();
	x87_inexact();
	return none;
}

static void environment(void)
{
	fenv_t saved;
	feraiseexcept(FE_OVERFLOW | FE_INVALID);
	print_count("feraiseexcept");
	fesetround(FE_DOWNWARD);
	sse_inexact();
	x87_inexact();
	fesetenv(FE_DFL_ENV);
	print_count("fesetenv");
	sse_inexact();
	feholdexcept(&saved);
	sse_divzero();
	feupdateenv(&saved);
	print_count("feupdateenv");
	printf("fegetexcept %x %x\n", feenableexcept(FE_DIVBYZERO), fegetexcept());
	printf("fedisableexcept %x %x\n", fedisableexcept(FE_DIVBYZERO), fegetexcept());
	_mm_setcsr(_mm_getcsr() | _MM_FLUSH_ZERO_ON | 0x40);
	sse_underflow_inexact();
	sse_inexact();
}

int main(void)
{
	pthread_t thread;
	sse_invalid(), sse_divzero(), sse_overflow_inexact(), sse_underflow_inexact(), sse_denormal(), sse_inexact();
	sse_exact(), sse_invalid_integer();
	x87_invalid(), x87_divzero(), x87_overflow_inexact(), x87_underflow_inexact(), x87_inexact();
	x87_stored_overflow_inexact(), x87_stored_invalid_integer(), x87_exact();
	packed_invalid_divzero_inexact();
	if (__builtin_cpu_supports("avx"))
		avx_divzero_inexact();
	if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
		pthread_join(thread, NULL);
	environment();
	return 0;
}
