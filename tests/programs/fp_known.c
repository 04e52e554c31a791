/*
 * Raises known numbers of floating point exceptions, and states them (burn.h). The first argument selects the
 * behaviour:
 *
 *   windows   divides by zero before cpprof_start, between it and cpprof_stop, and afterwards, in two threads and in a
 *             third that starts between the two
 *   forks     in a process, its child, and the child's child, which executes this program again ("leaf")
 *   avx       packed: an instruction is one event for each kind, independent of its elements
 *   blocked   in a thread that has blocked all signals, and in a handler that blocks all
 *   dense N   divisions only: each is inexact, and so is each sum
 *   sparse N  one division among a thousand other instructions
 *   threads N dense, in two threads
 *   split N   N divisions by zero, 70 % of them in one function and 30 % in another, which take turns at random
 *   pauses N  the same, with pauses without any exception between the turns
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

NOINLINE static double dense(long times)
{
	double sum = 0;
	for (long i = 1; i <= times; i++)
		sum += one / (double)(2 * i + 1);
	return sum;
}

NOINLINE static unsigned long others(unsigned long seed)
{
	for (int i = 0; i < 250; i++)
		seed = (seed ^ seed >> 7) * 3;
	return seed;
}

NOINLINE static unsigned long sparse(long times)
{
	unsigned long seed = 1;
	for (long i = 0; i < times; i++) {
		seed = others(seed);
		sink = one / three;
	}
	return seed;
}

static long many;

NOINLINE static void *dense_thread(void *none)
{
	sink = dense(many);
	return none;
}

static void threads(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, dense_thread, NULL);
	sink = dense(many);
	pthread_join(thread, NULL);
}

enum { TURN = 100, OF_TEN = 7, PAUSE = 20000 };

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

/* The first function gets seven of each ten turns, in an order that is drawn at random. */
NOINLINE static void split(long times, long pause)
{
	unsigned long seed = (unsigned long)getpid();
	long left = 0, left_first = 0, first = 0;
	for (long i = 0; i < times; i += TURN) {
		if (left == 0)
			left = 10, left_first = OF_TEN;
		seed = seed * 6364136223846793005UL + 1442695040888963407UL;
		bool is_first = (long)((seed >> 33) % (unsigned long)left) < left_first;
		if (is_first)
			seven_tenths();
		else
			three_tenths();
		left--, left_first -= is_first, first += is_first;
		for (long turn = 0; turn < pause / 250; turn++)
			burn_sink += others(burn_sink);
	}
	amount("fp-divzero", "seven_tenths", (unsigned long)(first * TURN));
	amount("fp-divzero", "three_tenths", (unsigned long)(times - first * TURN));
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
	else if (!strcmp(what, "dense"))
		sink = dense(many);
	else if (!strcmp(what, "sparse"))
		burn_sink = sparse(many);
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "split"))
		split(many, 0);
	else if (!strcmp(what, "pauses"))
		split(many, PAUSE);
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
