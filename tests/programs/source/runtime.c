/*
 * Objects of cpprof/profiler.h by hand, in situations that are hard for them. `runtime WHAT` prints `calls NAME N` for all that it
 * has entered, by counts of its own.
 */
#include <cpprof/profiler.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOT_INLINED __attribute__((noinline))
#define INLINED __inline__ __attribute__((always_inline))
#define COUNTED(name)    \
	CPPROF_FUNCTION; \
	count(#name)

enum { NAMES = 64 };

static struct {
	const char *name;
	long calls;
} counted[NAMES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int sink;

static void count(const char *name)
{
	sigset_t all, before;
	int i = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&lock);
	while (counted[i].name && strcmp(counted[i].name, name) != 0)
		i++;
	counted[i].name = name;
	counted[i].calls++;
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void print_counts(void)
{
	for (int i = 0; counted[i].name; i++)
		printf("calls %s %ld\n", counted[i].name, counted[i].calls);
}

/* --- plain --- */

static INLINED int twice(int n)
{
	COUNTED(twice);
	return 2 * n;
}

static INLINED int four_times(int n)
{
	COUNTED(four_times);
	return twice(twice(n));
}

static NOT_INLINED int leaf(int n)
{
	COUNTED(leaf);
	return n + sink;
}

static NOT_INLINED int recurse(int n)
{
	COUNTED(recurse);
	return n ? recurse(n - 1) + leaf(n) : 0;
}

static NOT_INLINED int work(int n)
{
	COUNTED(work);
	int sum = 0;
	for (int i = 0; i < n; i++) {
		CPPROF_REGION("row");
		count("row");
		sum += four_times(i);
		if (i % 3 == 0)
			sum += leaf(i);
		else
			sum += recurse(i % 5);
	}
	return sum;
}

static void plain(void)
{
	for (int i = 0; i < 50; i++)
		sink = work(20);
}

/* --- jumps --- */

static jmp_buf target;

static NOT_INLINED void jump(int depth)
{
	COUNTED(jump);
	if (depth == 0)
		longjmp(target, 1);
	jump(depth - 1);
	sink++;
}

static NOT_INLINED void other(int depth)
{
	COUNTED(other);
	if (depth > 0)
		other(depth - 1);
	if (depth == 3)
		longjmp(target, 2);
	sink++;
}

static NOT_INLINED void in_region(int n)
{
	COUNTED(in_region);
	CPPROF_REGION("jumps away");
	count("jumps away");
	sink = four_times(n);
	if (n % 2)
		longjmp(target, 3);
	sink = leaf(n);
}

static NOT_INLINED void lands(int n, void (*called)(int))
{
	COUNTED(lands);
	if (setjmp(target) == 0)
		called(n % 7);
	sink = leaf(n);
}

/* Leaves its own nested regions by a jump, which uses the inner of two buffers first. */
static NOT_INLINED void stays(int n)
{
	sigjmp_buf outer;
	COUNTED(stays);
	if (sigsetjmp(outer, 1) == 0) {
		CPPROF_REGION("tried");
		count("tried");
		if (setjmp(target) == 0) {
			CPPROF_REGION("deeper");
			count("deeper");
			jump(n % 3);
		}
		sink = twice(n);
		siglongjmp(outer, 1);
	}
	sink = leaf(n);
}

static void jumps(void)
{
	void (*const called[])(int) = { jump, other, in_region };
	for (int i = 0; i < 300; i++) {
		lands(i, called[i % 3]);
		stays(i);
	}
}

/* Jumps by one buffer after another was used, which is another one each time: the recorder must not mix up any two. */
static NOT_INLINED void alternates(int n)
{
	static sigjmp_buf buffers[301];
	COUNTED(alternates);
	if (sigsetjmp(buffers[0], 1) == 0) {
		CPPROF_REGION("first");
		count("first");
		if (sigsetjmp(buffers[n + 1], 1) == 0) {
			CPPROF_REGION("second");
			count("second");
			siglongjmp(buffers[n + 1], 1);
		}
		sink = twice(n);
		siglongjmp(buffers[0], 1);
	}
	sink = leaf(n);
}

static void buffers(void)
{
	for (int i = 0; i < 300; i++)
		alternates(i);
}

/* --- handlers --- */

static NOT_INLINED void in_handler(int n)
{
	COUNTED(in_handler);
	sink = leaf(n);
}

static void handle(int number)
{
	COUNTED(handle);
	in_handler(number);
}

static NOT_INLINED int busy(int n)
{
	COUNTED(busy);
	return four_times(n) + leaf(n);
}

static void handlers(void)
{
	struct sigaction action = { .sa_handler = handle };
	stack_t alternate = { .ss_sp = malloc(SIGSTKSZ * 4), .ss_size = SIGSTKSZ * 4 };
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < 400; i++) {
		sink = busy(i);
		raise(i % 2 ? SIGUSR1 : SIGUSR2);
	}
}

/* A timer interrupts the runtime's counting at any instruction. */
static volatile sig_atomic_t ticks;

static NOT_INLINED void ticked(void)
{
	CPPROF_FUNCTION;
	ticks++;
}

static void tick(int number)
{
	(void)number;
	ticked();
}

static NOT_INLINED int fast(int n)
{
	CPPROF_FUNCTION;
	return n ^ sink;
}

static NOT_INLINED int fast_caller(int n)
{
	CPPROF_FUNCTION;
	return fast(n) + fast(n + 1);
}

static void storm(void)
{
	struct sigaction action = { .sa_handler = tick };
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, 20000 }, { 0, 20000 } };
	long calls = 0;
	sigaction(SIGUSR1, &action, NULL);
	timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	for (; calls < 3000000 || ticks < 20; calls++)
		sink = fast_caller((int)calls);
	timer_delete(timer);
	printf("calls fast_caller %ld\ncalls fast %ld\ncalls ticked %ld\n", calls, 2 * calls, (long)ticks);
}

/* --- threads --- */

static void *run(void *unused)
{
	COUNTED(run);
	(void)unused;
	for (int i = 0; i < 500; i++)
		sink = busy(i);
	return NULL;
}

static void threads(void)
{
	pthread_t started[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&started[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(started[i], NULL);
}

static volatile pid_t last;

static void *run_and_name(void *unused)
{
	for (clock_t start = clock(); clock() - start < CLOCKS_PER_SEC / 20;)
		run(unused);
	last = gettid();
	return NULL;
}

/* Nothing that ThreadSanitizer observes orders a thread's end before the beginning of the next one. */
static void threads_in_turn(void)
{
	pthread_t started[12];
	for (int i = 0; i < 12; i++) {
		char task[64];
		last = 0;
		pthread_create(&started[i], NULL, run_and_name, NULL);
		do {
			usleep(1000);
			snprintf(task, sizeof(task), "/proc/self/task/%d", (int)last);
		} while (!last || access(task, F_OK) == 0);
	}
	for (int i = 0; i < 12; i++)
		pthread_join(started[i], NULL);
}

/* --- other stacks --- */

static ucontext_t back, there;

static void coroutine(void)
{
	COUNTED(coroutine);
	for (int i = 0;; i++) {
		CPPROF_REGION("resumed");
		count("resumed");
		sink = busy(i);
		swapcontext(&there, &back);
	}
}

static NOT_INLINED void resume(void)
{
	COUNTED(resume);
	swapcontext(&back, &there);
	sink = leaf(1);
}

static void stacks(void)
{
	static char stack[256 * 1024];
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	makecontext(&there, coroutine, 0);
	for (int i = 0; i < 200; i++)
		resume();
}

/* --- forks --- */

static void forks(void)
{
	sink = busy(1);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		for (int i = 0; i < 10; i++)
			sink = busy(i);
		exit(0);
	}
	waitpid(child, NULL, 0);
	for (int i = 0; i < 10; i++) /* the same calls as in the child, whose counts are not printed here */
		count("busy"), count("four_times"), count("twice"), count("twice"), count("leaf");
	sink = busy(2);
}

/* --- frames of odd shapes --- */

static NOT_INLINED int aligned(int n)
{
	COUNTED(aligned);
	_Alignas(64) volatile int wide[16];
	volatile char taken[n % 50 + 1];
	CPPROF_REGION("taken");
	count("taken");
	wide[n % 16] = n;
	taken[n % 50] = (char)n;
	return leaf(wide[n % 16] + taken[n % 50]) + twice(n);
}

static NOT_INLINED int many(int a, int b, int c, int d, int e, int f, int g, int h, ...)
{
	COUNTED(many);
	volatile char *taken = __builtin_alloca((size_t)h + 100);
	taken[h] = (char)a;
	return aligned(a + b + c + d + e + f + g + h) + taken[h];
}

/* As the tool instruments functions into which nothing may be inlined. */
static NOT_INLINED int aside(int n)
{
	CPPROF_TOOL_ASIDE_FUNCTION(900, CPPROF_LEVEL_FUNCTION, __LINE__, 0)
	count("aside");
	CPPROF_TOOL_ASIDE_POINT(901, CPPROF_KIND_REGION, CPPROF_LEVEL_LOOP, __LINE__, "apart", 0)
	count("apart");
	return four_times(n) + many(n, 1, 2, 3, 4, 5, 6, n % 64, 8, 9);
}

static void frames(void)
{
	for (int i = 0; i < 200; i++)
		sink = aside(i);
}

/* --- deep --- */

static NOT_INLINED int deep(int n)
{
	CPPROF_FUNCTION;
	CPPROF_REGION("down");
	return n > 1 ? deep(n - 1) + 1 : 1;
}

static void deeper(void)
{
	for (int i = 0; i < 3; i++)
		sink = deep(10000);
	printf("calls deep 30000\ncalls down 30000\n");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = { { "plain", plain },
		    { "jumps", jumps },
		    { "handlers", handlers },
		    { "storm", storm },
		    { "threads", threads },
		    { "stacks", stacks },
		    { "forks", forks },
		    { "deeper", deeper },
		    { "frames", frames },
		    { "buffers", buffers },
		    { "threads_in_turn", threads_in_turn } };
	CPPROF_FUNCTION;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (argc > 1 && strcmp(argv[1], all[i].name) == 0)
			all[i].run();
	printf("calls main 1\n");
	print_counts();
	return 0;
}
