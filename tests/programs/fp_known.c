/*
 * Raises known numbers of floating point exceptions, and states them (burn.h). The first argument selects the
 * behaviour:
 *
 *   windows   divides by zero before cpprof_start, between it and cpprof_stop, and afterwards, in two threads and in a
 *             third that starts between the two
 *   forks     in a process, its child, and the child's child, which executes this program again ("leaf")
 *   avx       packed: an instruction is one event for each kind, independent of its elements
 *   blocked   in a thread that has blocked all signals, and in a handler that blocks all
 *   split N   N divisions by zero: of each thousand, in turns of a hundred, 700 in one function and 300 in another
 *   threads N N inexact divisions and as many inexact sums in each of two threads
 *   pause N   N divisions by zero, a pause of a second, and N more
 *   kinds N   N inexact divisions and sums, and then 500 divisions by zero
 *   x87 N     N inexact divisions of the legacy unit, and then 500 divisions by zero of the vector unit
 *   again N   N divisions by zero from cpprof_start to cpprof_stop, and then 5,000 between another two
 */
#include <fenv.h>
#include <immintrin.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"
#include "cpprof/runtime.h"

enum { TIMES = 1000, AVX_TIMES = 300, LEAF_TIMES = 77 };

static volatile double zero = 0, one = 1, three = 3;
static volatile double sink;

NOINLINE static void divide(int times)
{
	for (int i = 0; i < times; i++)
		sink = one / zero;
	NOT_A_TAIL_CALL();
}

/* --- windows --- */

static pthread_barrier_t barrier;

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

NOINLINE static void before(void)
{
	divide(TIMES);
	NOT_A_TAIL_CALL();
}

NOINLINE static void between(void)
{
	divide(TIMES);
	NOT_A_TAIL_CALL();
}

NOINLINE static void after(void)
{
	divide(TIMES);
	NOT_A_TAIL_CALL();
}

NOINLINE static void *other(void *none)
{
	for (int round = 0; round < 3; round++) {
		before();
		meet(); /* all are ready */
		meet(); /* cpprof_start */
		between();
		meet();
		meet(); /* cpprof_stop */
		after();
	}
	return none;
}

NOINLINE static void *late(void *none)
{
	between();
	return none;
}

static void windows(void)
{
	pthread_t thread, second;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, other, NULL);
	for (int round = 0; round < 3; round++) {
		before();
		meet();
		cpprof_start();
		meet();
		between();
		pthread_create(&second, NULL, late, NULL);
		pthread_join(second, NULL);
		meet();
		cpprof_stop();
		meet();
		after();
	}
	pthread_join(thread, NULL);
	amount("fp-divzero", "between", 3 * 3 * TIMES);
	amount("fp-divzero", "other;between", 3 * TIMES);
	amount("fp-divzero", "late;between", 3 * TIMES);
	amount("fp-divzero", "before", 0);
	amount("fp-divzero", "after", 0);
}

/* --- forks --- */

NOINLINE static void in_parent(void)
{
	divide(TIMES);
	NOT_A_TAIL_CALL();
}

NOINLINE static void in_child(void)
{
	divide(TIMES + 1);
	NOT_A_TAIL_CALL();
}

NOINLINE static void in_leaf(void)
{
	divide(LEAF_TIMES);
	NOT_A_TAIL_CALL();
}

static void forks(const char *self)
{
	in_parent();
	pid_t child = fork();
	if (child == 0) {
		in_child();
		pid_t leaf = fork();
		if (leaf == 0) {
			execl(self, self, "leaf", (char *)NULL);
			_exit(1);
		}
		waitpid(leaf, NULL, 0);
		in_child();
		_exit(fetestexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO ? 0 : 1);
	}
	in_parent();
	int status = 1;
	waitpid(child, &status, 0);
	printf("status %d\n", status);
	amount("fp-divzero", "in_parent", 2 * TIMES);
	amount("fp-divzero", "in_child", 2 * (TIMES + 1));
	amount("fp-divzero", "in_leaf", LEAF_TIMES);
}

/* --- avx --- */

static volatile float above[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, below[8] = { 0, 3, 0, 7, 1, 1, 3, 2 };

NOINLINE __attribute__((target("avx"))) static void packed(void)
{
	__m256 first = _mm256_loadu_ps((const float *)above), second = _mm256_loadu_ps((const float *)below);
	for (int i = 0; i < AVX_TIMES; i++) {
		__asm__ volatile("vdivps %1, %0, %%ymm5" : : "x"(first), "x"(second) : "xmm5");
		__asm__ volatile("vdivps %0, %1, %%ymm15"
				 :
				 : "m"(*(const __m256 *)(const void *)below), "x"(first)
				 : "xmm15");
	}
	_mm256_zeroupper();
	NOT_A_TAIL_CALL();
}

NOINLINE static void *avx_thread(void *none)
{
	packed();
	return none;
}

static int avx(void)
{
	pthread_t threads[2];
	if (!__builtin_cpu_supports("avx"))
		return 77;
	packed();
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, avx_thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	amount("fp-divzero", "packed", 6 * AVX_TIMES);
	amount("fp-divzero", "avx_thread;packed", 4 * AVX_TIMES);
	amount("fp-inexact", "packed", 6 * AVX_TIMES);
	amount("fp-inexact", "avx_thread;packed", 4 * AVX_TIMES);
	return 0;
}

/* --- blocked --- */

static volatile sig_atomic_t handled, passed;

static void on_usr1(int number)
{
	(void)number;
	fesetenv(FE_DFL_ENV);
	for (int i = 0; i < TIMES; i++)
		sink = one / three;
	handled = 1;
}

static void on_fpe(int number)
{
	(void)number;
	passed = passed + 1;
}

NOINLINE static void *all_blocked(void *none)
{
	sigset_t all, was;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	divide(TIMES);
	pthread_sigmask(SIG_SETMASK, NULL, &was);
	printf("blocked %d %d %d\n", sigismember(&was, SIGFPE), sigismember(&was, SIGTRAP), sigismember(&was, SIGUSR1));
	raise(SIGFPE);
	printf("kept %d\n", passed);
	pthread_sigmask(SIG_UNBLOCK, &all, NULL);
	printf("given %d\n", passed);
	return none;
}

static void blocked(void)
{
	pthread_t thread;
	sigset_t none;
	struct sigaction action = { .sa_handler = on_usr1 };
	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	signal(SIGFPE, on_fpe);
	pthread_create(&thread, NULL, all_blocked, NULL);
	pthread_join(thread, NULL);
	raise(SIGUSR1);
	sigset_t usr1;
	sigemptyset(&usr1), sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	raise(SIGUSR1);
	sigfillset(&none), sigdelset(&none, SIGUSR1);
	sigsuspend(&none);
	divide(TIMES);
	printf("handled %d\n", handled);
	amount("fp-divzero", "all_blocked", TIMES);
	amount("fp-divzero", "divide", 2 * TIMES);
}

/* --- many --- */

static long many;

NOINLINE static double dense(void)
{
	double sum = 0;
	for (long i = 1; i <= many; i++)
		sum += one / (double)(2 * i + 1);
	return sum;
}

NOINLINE static void *dense_thread(void *none)
{
	sink = dense();
	return none;
}

static void threads(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, dense_thread, NULL);
	sink = dense();
	pthread_join(thread, NULL);
}

enum { TURN = 100, TURNS = 10, OF_TEN = 7, FEW = 500, SECOND_TIME = 5000 };

NOINLINE static void seven_tenths(void)
{
	divide(TURN);
	NOT_A_TAIL_CALL();
}

NOINLINE static void three_tenths(void)
{
	divide(TURN);
	NOT_A_TAIL_CALL();
}

NOINLINE static void split(void)
{
	for (long i = 0; i < many / TURN; i++) {
		if (i % TURNS < OF_TEN)
			seven_tenths();
		else
			three_tenths();
	}
}

static void pause_between(void)
{
	divide((int)many);
	sleep(1);
	divide((int)many);
}

NOINLINE static void few(void)
{
	divide(FEW);
	NOT_A_TAIL_CALL();
}

static void kinds(void)
{
	sink = dense();
	few();
}

NOINLINE static void divide_x87(void)
{
	static volatile long double first = 1, second = 3, result;
	for (long i = 0; i < many; i++)
		result = first / second;
}

static void x87(void)
{
	divide_x87();
	few();
}

NOINLINE static void second_time(void)
{
	divide(SECOND_TIME);
	NOT_A_TAIL_CALL();
}

static void again(void)
{
	cpprof_start();
	divide((int)many);
	cpprof_stop();
	cpprof_start();
	second_time();
	cpprof_stop();
}

static int turn_to(const char *what, const char *self)
{
	if (!strcmp(what, "windows"))
		windows();
	else if (!strcmp(what, "forks"))
		forks(self);
	else if (!strcmp(what, "leaf"))
		in_leaf();
	else if (!strcmp(what, "avx"))
		return avx();
	else if (!strcmp(what, "blocked"))
		blocked();
	else if (!strcmp(what, "split"))
		split();
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "pause"))
		pause_between();
	else if (!strcmp(what, "kinds"))
		kinds();
	else if (!strcmp(what, "x87"))
		x87();
	else if (!strcmp(what, "again"))
		again();
	else
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	many = argc > 2 ? atol(argv[2]) : 1000000;
	setvbuf(stdout, NULL, _IONBF, 0);
	return turn_to(argc > 1 ? argv[1] : "", argv[0]);
}
