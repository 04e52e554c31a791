/*
 * `hook_interrupts SEED COUNT [above]`: handlers that come at chosen instructions of hooks, and of other handlers. COUNT
 * times, the program executes some calls with the processor's trap flag, so that each instruction ends with a trap. One
 * or two traps send a signal, whose handler has hooks; it is on the alternate stack or on the current one. The second
 * may come while the first one runs or returns. Calls without traps follow. With `above` this happens in a thread whose
 * alternate stack lies above its own. The program prints how often each path was taken.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define HIDDEN __attribute__((no_instrument_function, noinline))

enum { TRAP_FLAG = 0x100, STACK_BYTES = 1 << 18, STEPS = 700, STEPS_BETWEEN = 4000 };

static volatile long sink, handled;
static volatile long
	until_signal[2]; /* traps until the next signal, and from it to the signal behind; negative: there is none */
static volatile int signals[2];

HIDDEN static void check(int is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "cannot %s\n", what);
	_Exit(3);
}

/* --- traps --- */

#define SET_TRAP_FLAG() __asm__ volatile("pushfq\n\torl $0x100, (%%rsp)\n\tpopfq" : : : "cc", "memory")
#define CLEAR_TRAP_FLAG() __asm__ volatile("pushfq\n\tandl $~0x100, (%%rsp)\n\tpopfq" : : : "cc", "memory")

/* Its signal is delivered at once or, if `is_masked`, when it returns: at the instruction behind the trap, unless that
 * code blocks signals. */
HIDDEN static void count_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	ucontext_t *interrupted = context;
	if (until_signal[0] < 0) {
		interrupted->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	} else if (until_signal[0]-- == 0) {
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signals[0]);
		until_signal[0] = until_signal[1];
		signals[0] = signals[1];
		until_signal[1] = -1;
	}
}

/* --- handlers --- */

static NOINLINE void in_handler(void)
{
	sink += 5;
}

/* Steps itself, up to its return to the interrupted code, if another signal is to interrupt it. */
static NOINLINE void handler(int number)
{
	(void)number;
	handled++;
	if (until_signal[0] >= 0)
		SET_TRAP_FLAG();
	in_handler();
}

HIDDEN static void set_handlers(int is_masked)
{
	struct sigaction trap = { .sa_sigaction = count_trap, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };
	const struct sigaction there = { .sa_handler = handler, .sa_flags = SA_NODEFER | SA_ONSTACK };
	const struct sigaction here = { .sa_handler = handler, .sa_flags = SA_NODEFER };
	if (is_masked && (sigaddset(&trap.sa_mask, SIGUSR1) != 0 || sigaddset(&trap.sa_mask, SIGUSR2) != 0))
		check(0, "mask signals");
	check(sigaction(SIGTRAP, &trap, NULL) == 0 && sigaction(SIGUSR1, &there, NULL) == 0 &&
		      sigaction(SIGUSR2, &here, NULL) == 0,
	      "set handlers");
}

/* --- calls --- */

static NOINLINE void shallow(void)
{
	sink++;
}

static NOINLINE void deep(int n)
{
	volatile char room[64];
	room[0] = (char)n;
	if (n > 0)
		deep(n - 1);
	sink += room[0];
}

static NOINLINE void is_stepped(void)
{
	shallow();
	SET_TRAP_FLAG();
	shallow();
	deep(1);
	shallow();
	CLEAR_TRAP_FLAG();
	deep(1);
}

static NOINLINE void follows(void)
{
	shallow();
	deep(2);
}

static NOINLINE void is_signalled(void)
{
	deep(1);
	raise(SIGUSR1);
	deep(1);
}

HIDDEN static uint32_t draw(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)((*state >> 33) % below);
}

static NOINLINE void repeat(uint64_t seed, long count)
{
	const uint32_t most[] = { 4, STEPS, STEPS_BETWEEN };
	for (long i = 0; i < count; i++) {
		uint32_t kind = draw(&seed, 4);
		until_signal[0] = (long)draw(&seed, STEPS);
		until_signal[1] = kind < 3 ? (long)draw(&seed, most[kind]) : -1;
		for (int j = 0; j < 2; j++)
			signals[j] = draw(&seed, 4) ? SIGUSR1 : SIGUSR2;
		set_handlers(draw(&seed, 4) != 0);
		is_stepped();
		until_signal[0] = -1;
		follows();
		is_signalled();
		follows();
	}
}

/* --- stacks --- */

struct words {
	uint64_t seed;
	long count;
	char *alternate;
};

HIDDEN static void *begin(void *argument)
{
	const struct words *words = argument;
	const stack_t alternate = { .ss_sp = words->alternate, .ss_size = STACK_BYTES };
	check(sigaltstack(&alternate, NULL) == 0, "set the alternate stack");
	repeat(words->seed, words->count);
	return NULL;
}

HIDDEN static void begin_below(struct words *words)
{
	pthread_attr_t attributes;
	pthread_t thread;
	char *both = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	words->alternate = both + STACK_BYTES;
	check(both != MAP_FAILED && pthread_attr_init(&attributes) == 0 &&
		      pthread_attr_setstack(&attributes, both, STACK_BYTES) == 0 &&
		      pthread_create(&thread, &attributes, begin, words) == 0 && pthread_join(thread, NULL) == 0,
	      "run a thread");
}

int main(int count, char **words)
{
	static char stack[STACK_BYTES];
	struct words parsed = { .alternate = stack };
	check(count > 2, "read the command line");
	parsed.seed = strtoull(words[1], NULL, 10);
	parsed.count = atol(words[2]);
	if (count > 3 && strcmp(words[3], "above") == 0)
		begin_below(&parsed);
	else
		begin(&parsed);
	printf("path repeat;is_stepped;shallow %ld\n", 3 * parsed.count);
	printf("path repeat;is_stepped;deep;deep %ld\n", 2 * parsed.count);
	printf("path repeat;follows;shallow %ld\n", 2 * parsed.count);
	printf("path repeat;follows;deep;deep;deep %ld\n", 2 * parsed.count);
	printf("path repeat;is_signalled;deep;deep %ld\n", 2 * parsed.count);
	printf("handled %ld\n", handled);
	return 0;
}
