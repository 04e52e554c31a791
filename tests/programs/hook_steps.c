/*
 * `hook_steps COUNT CALLS`: calls a function COUNT times. Each time, a handler interrupts it one instruction later
 * than the time before, inside the function or its hooks. The handler makes CALLS calls: more than a trace's ring
 * has room for. With -DEVENTS, the function and the handler report events in place of calls, which their functions do
 * not count. With -DJUMPS, the handler does not return: it jumps to the caller of the function, which then calls
 * another one.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTSIDE __attribute__((no_instrument_function, noinline))

static long calls;
static volatile long called;

static __attribute__((noinline, unused)) void leaf(void)
{
	called++;
}

#ifdef EVENTS
enum { OF_STEPS = 1, OF_HANDLER = 2 };
void cpprof_event(unsigned long id, unsigned long value) __attribute__((weak));

static OUTSIDE void handler(int number)
{
	(void)number;
	for (long i = 0; i < calls; i++)
		cpprof_event(OF_HANDLER, (unsigned long)called++);
}

static OUTSIDE void step(void)
{
	static unsigned long steps;
	cpprof_event(OF_STEPS, steps++);
}
#else
static sigjmp_buf around;

static __attribute__((noinline)) void handler(int number)
{
	(void)number;
	for (long i = 0; i < calls; i++)
		leaf();
#ifdef JUMPS
	siglongjmp(around, 1);
#endif
}

static __attribute__((noinline)) void step(void)
{
	__asm__ volatile("");
}
#endif

/* From int3 on, the tracer lets this function execute some instructions; there are enough of them before the next
 * int3. By then the handler's calls no longer affect the hooks, which find the state that they expect. */
#ifdef JUMPS
static __attribute__((noinline)) void after(void)
{
	__asm__ volatile("nop"); /* gcc merges functions that are equal */
}

static __attribute__((noinline)) void stepped(long count)
{
	for (volatile long i = 0; i < count; i++) {
		if (sigsetjmp(around, 1) == 0) {
			for (volatile int j = 0; j < 3; j++) {
				if (j == 2)
					__asm__ volatile("int3");
				step();
			}
			__asm__ volatile(".rept 500; nop; .endr");
		}
		after();
	}
}
#else
static __attribute__((noinline)) void stepped(long count)
{
	for (long i = 0; i < count; i++) {
		for (volatile int j = 0; j < 3; j++) {
			if (j == 2)
				__asm__ volatile("int3");
			step();
		}
		__asm__ volatile(".rept 500; nop; .endr");
	}
}
#endif

static OUTSIDE void check(int is_so, const char *what)
{
	if (!is_so) {
		fprintf(stderr, "not so: %s\n", what);
		_exit(3);
	}
}

/* Continues the child as `request` specifies until its next trap, and drops signals that others send. Returns 0 if
 * it ended. */
static OUTSIDE int next_trap(pid_t child, int request, int signal)
{
	for (;;) {
		int status;
		check(ptrace(request, child, NULL, (void *)(long)signal) == 0, "it goes on");
		check(waitpid(child, &status, 0) == child, "it is waited for");
		check(!WIFSIGNALED(status) && (!WIFEXITED(status) || WEXITSTATUS(status) == 0), "it ends well");
		if (WIFEXITED(status) || WSTOPSIG(status) == SIGTRAP)
			return !WIFEXITED(status);
		signal = WSTOPSIG(status) == SIGUSR1 ? SIGUSR1 : 0; /* it was blocked */
	}
}

static OUTSIDE void trace(pid_t child, long count)
{
	int status;
	check(waitpid(child, &status, 0) == child && WIFSTOPPED(status), "it has stopped");
	int lives = next_trap(child, PTRACE_CONT, 0);
	for (long i = 0; i < count; i++) {
		for (long done = 0; done < i; done++)
			check(lives && next_trap(child, PTRACE_SINGLESTEP, 0), "it makes a step");
		lives = next_trap(child, PTRACE_CONT, SIGUSR1);
	}
	check(!lives, "it ends");
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = handler };
	long count = argc > 2 ? atol(argv[1]) : 0;
	calls = argc > 2 ? atol(argv[2]) : 0;
	pid_t child = fork();
	if (child == 0) {
		check(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0,
		      "it may be traced");
		raise(SIGSTOP);
		stepped(count);
		check(called == count * calls, "all handlers have run");
		_exit(0);
	}
	trace(child, count);
	printf("calls leaf %ld\ncalls handler %ld\n", count * calls, count);
#ifdef JUMPS
	printf("calls after %ld\n", count);
#else
	printf("calls step %ld\n", 3 * count);
#endif
	return 0;
}
