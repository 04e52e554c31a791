/* Coroutines that pass control around on stacks of 16 KB, each between inaccessible pages. */
#include <sys/mman.h>
#include <ucontext.h>

#include "moment.h"

enum { PAGE = 4096, STACK = 16 * 1024, COROUTINES = 8 };

static ucontext_t scheduler, coroutines[COROUTINES];
static int current, turns[COROUTINES];

NOINLINE static void step(int depth)
{
	volatile char bytes[200];

	bytes[0] = (char)depth;
	if (depth > 0)
		step(depth - 1);
	else
		burn(10);
	CHECK(bytes[0] == (char)depth);
}

static void coroutine(int number, int again)
{
	double kept = number * 1.25;

	for (;;) {
		step(number);
		CHECK(number == current && again == 1993 + number && kept == number * 1.25);
		turns[number]++;
		CHECK(swapcontext(&coroutines[number], &scheduler) == 0);
	}
}

static char *make_stack(void)
{
	char *all = mmap(NULL, STACK + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(all != MAP_FAILED && mprotect(all + PAGE, STACK, PROT_READ | PROT_WRITE) == 0);
	return all + PAGE;
}

int main(void)
{
	int rounds = 0;

	for (int i = 0; i < COROUTINES; i++) {
		CHECK(getcontext(&coroutines[i]) == 0);
		coroutines[i].uc_stack.ss_sp = make_stack();
		coroutines[i].uc_stack.ss_size = STACK;
		coroutines[i].uc_link = &scheduler;
		makecontext(&coroutines[i], (void (*)(void))coroutine, 2, i, 1993 + i);
	}
	for (; moment_goes_on(10); rounds++)
		for (current = 0; current < COROUTINES; current++)
			CHECK(swapcontext(&scheduler, &coroutines[current]) == 0);
	for (int i = 0; i < COROUTINES; i++)
		CHECK(turns[i] == rounds);
	return moment_ends("each had its turns\n");
}
