/*
 * Raises many inexact exceptions while signals arrive, whose handlers interrupt the code at any instruction. The argument selects what
 * the handlers do:
 *
 *   work    nothing that concerns exceptions, for longer than a tick
 *   fenv    call functions of <fenv.h>, and raise an exception
 *   jump    jump out
 */
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { SIGNALS = 150, EACH_US = 3000, WORK = 3000000 };

static const char *how;
static volatile double sink, one = 1, three = 3;
static volatile sig_atomic_t handled;
static volatile unsigned wrong;
static sigjmp_buf out;

/* No signal comes after the last one: its handler would jump out of the output or the exit, which would run twice. */
static void arm(void)
{
	const struct itimerval once = { .it_value.tv_usec = EACH_US };
	if (handled < SIGNALS)
		setitimer(ITIMER_REAL, &once, NULL);
}

static void raise_one(void)
{
	feclearexcept(FE_ALL_EXCEPT);
	sink = one / three;
	wrong += !fetestexcept(FE_INEXACT);
}

static void on_alarm(int number)
{
	(void)number;
	handled = handled + 1;
	if (!strcmp(how, "work"))
		for (volatile int i = 0; i < WORK; i = i + 1)
			;
	else if (!strcmp(how, "fenv"))
		raise_one();
	arm();
	if (!strcmp(how, "jump"))
		siglongjmp(out, 1);
}

int main(int count, char **words)
{
	how = count > 1 ? words[1] : "work";
	signal(SIGALRM, on_alarm);
	if (sigsetjmp(out, 1))
		raise_one();
	else
		arm();
	for (unsigned i = 1; handled < SIGNALS; i++)
		sink = one / (2.0 * i + 1);
	printf("handled %d, wrong %u\n", handled, wrong);
	return 0;
}
