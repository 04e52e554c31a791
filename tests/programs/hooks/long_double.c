/* Results on the floating-point stack, one and two of them, in vector registers and in pairs: the hook at a
 * function's exit runs between their computation and their use. */
#include <complex.h>

#include "hooks.h"

typedef float four_floats __attribute__((vector_size(16)));

static NOINLINE long double power(long double base, int exponent)
{
	return exponent == 0 ? 1.0L : base * power(base, exponent - 1);
}

static NOINLINE long double complex turn(long double complex z)
{
	return z * (long double complex)I;
}

static NOINLINE double complex turn_double(double complex z)
{
	return z * I;
}

static NOINLINE __int128 square(long n)
{
	return (__int128)n * n;
}

static NOINLINE four_floats twice(four_floats v)
{
	return v + v;
}

static NOINLINE float halve(float x)
{
	return x / 2;
}

int main(void)
{
	volatile long double two = 2.0L;
	volatile float start = 64.0F;
	long double complex z = 3.0L + 4.0L * (long double complex)I;
	double complex y = 3.0 + 4.0 * I;
	float x = start;
	four_floats v = { 1, 2, 3, x };
	CHECK(power(two, 60) == 1152921504606846976.0L);
	for (int i = 0; i < 40; i++) {
		z = turn(z);
		y = turn_double(y);
	}
	CHECK(creall(z) == 3.0L && cimagl(z) == 4.0L);
	CHECK(creal(y) == 3.0 && cimag(y) == 4.0);
	for (long n = 1; n < 30; n++)
		CHECK(square(UNKNOWN(n) << 40) == (__int128)(n * n) << 80);
	for (int i = 0; i < 6; i++) {
		x = halve(x);
		v = twice(v);
	}
	CHECK(x == 1.0F && v[0] == 64.0F && v[3] == 4096.0F);
	return 0;
}
