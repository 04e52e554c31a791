/*
 * Alternate stacks as small as the kernel allows, between inaccessible pages: handlers work on them while the
 * profiler samples, in the first thread and in another one. sigaltstack must return what was set, and no byte
 * below the stack may change.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "moment.h"

enum { PAGE = 4096, ROUNDS = 60, PATTERN = 0x5a };
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static _Thread_local char *low, *high;
static _Thread_local volatile int handled;

/* One frame of the kernel, and the few bytes that on_signal needs. */
static size_t smallest(void)
{
	size_t frame = getauxval(AT_MINSIGSTKSZ);

	return (frame > 2048 ? frame : 2048) + 512;
}

static void on_signal(int number)
{
	char here;

	CHECK(number == SIGUSR1 && &here >= low && &here < high);
	burn(40);
	handled++;
}

/* The stack ends at the end of a page. A pattern fills the rest of its lowest page; the page below that is
 * inaccessible. */
static stack_t make_stack(char **filled)
{
	size_t size = smallest(), pages = (size + PAGE - 1) / PAGE;
	char *all = mmap(NULL, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(all != MAP_FAILED && mprotect(all + PAGE, pages * PAGE, PROT_READ | PROT_WRITE) == 0);
	*filled = all + PAGE;
	high = *filled + pages * PAGE;
	low = high - size;
	memset(*filled, PATTERN, (size_t)(low - *filled));
	return (stack_t){ .ss_sp = low, .ss_size = size };
}

static void *work(void *unused)
{
	char *filled;
	stack_t stack = make_stack(&filled), now;

	CHECK(sigaltstack(&stack, NULL) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		raise(SIGUSR1);
		burn(40);
		CHECK(sigaltstack(NULL, &now) == 0);
		CHECK(now.ss_sp == stack.ss_sp && now.ss_size == stack.ss_size && now.ss_flags == 0);
	}
	CHECK(handled == ROUNDS);
	for (const char *byte = filled; byte < low; byte++)
		CHECK(*byte == PATTERN);
	CHECK(sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, &now) == 0 && now.ss_sp == low);
	burn(500);
	CHECK(munmap(filled, PAGE) == 0);
	burn(500);
	return unused;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	pthread_t other;
	stack_t now;

	CHECK(sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_DISABLE);
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(pthread_create(&other, NULL, work, NULL) == 0);
	work(NULL);
	CHECK(pthread_join(other, NULL) == 0);
	return moment_ends("each handler had its stack\n");
}
