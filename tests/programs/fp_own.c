#define _GNU_SOURCE
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
static sigjmp_buf env;
static volatile int n;
static void h(int s, siginfo_t *i, void *c)
{
	ucontext_t *u = c;
	printf("signal %d code %d mxcsr %x cw %x sw %x trap %lld\n", s, i->si_code, u->uc_mcontext.fpregs->mxcsr,
	       u->uc_mcontext.fpregs->cwd, u->uc_mcontext.fpregs->swd, (long long)u->uc_mcontext.gregs[REG_TRAPNO]);
	n++;
	siglongjmp(env, 1);
}
static void h2(int s, siginfo_t *i, void *c)
{
	ucontext_t *u = c;
	(void)s;
	printf("code %d mxcsr %x\n", i->si_code, u->uc_mcontext.fpregs->mxcsr);
	u->uc_mcontext.fpregs->mxcsr |= 0x1f80;
}
int main(int c, char **v)
{
	volatile double z = 0, one = 1, three = 3;
	volatile long double lz = 0;
	volatile int iz = 0;
	if (c > 1) {
		if (!strcmp(v[1], "int"))
			return 7 / iz;
		feenableexcept(FE_DIVBYZERO);
		volatile double r = 1 / z;
		return (int)r;
	}
	struct sigaction a = { .sa_sigaction = h, .sa_flags = SA_SIGINFO };
	sigaction(SIGFPE, &a, 0);
	volatile double r = one / three;
	if (!sigsetjmp(env, 1)) {
		r = iz;
		r = 7 / iz;
	}
	feenableexcept(FE_DIVBYZERO | FE_INVALID);
	r = one / three;
	if (!sigsetjmp(env, 1)) {
		r = one / z;
		printf("not reached\n");
	}
	feenableexcept(FE_DIVBYZERO | FE_INVALID);
	if (!sigsetjmp(env, 1)) {
		volatile long double l = 1 / lz;
		l += 1;
		printf("not reached\n");
	}
	fesetenv(FE_DFL_ENV);
	if (!sigsetjmp(env, 1))
		raise(SIGFPE);
	a.sa_sigaction = h2;
	sigaction(SIGFPE, &a, 0);
	feenableexcept(FE_INVALID | FE_OVERFLOW);
	volatile double big = 1e300;
	r = big * big;
	printf("%a %x\n", r, fetestexcept(FE_ALL_EXCEPT));
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, 0);
	fesetenv(FE_DFL_ENV);
	r = one / three;
	printf("%a %x\n", r, fetestexcept(FE_ALL_EXCEPT));
	return 0;
}
