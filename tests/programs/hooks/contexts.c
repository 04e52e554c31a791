/* Coroutines by swapcontext: calls are resumed on three stacks in turn, and one stack is reused for another
 * coroutine. */
#include <ucontext.h>

#include "hooks.h"

enum { COROUTINES = 3, STACK_BYTES = 64 * 1024, ROUNDS = 20 };

static ucontext_t scheduler, contexts[COROUTINES];
static char stacks[COROUTINES][STACK_BYTES];
static int finished;
static long steps;

static NOINLINE void yield(int self)
{
	steps++;
	CHECK(swapcontext(&contexts[self], &scheduler) == 0);
}

static NOINLINE void walk(int self, int depth)
{
	yield(self);
	if (depth > 0)
		walk(self, depth - 1);
	yield(self);
}

static NOINLINE void run(int self)
{
	for (int i = 0; i < 2 + self; i++)
		walk(self, i);
	finished++;
}

static NOINLINE void begin(int self)
{
	getcontext(&contexts[self]);
	contexts[self].uc_stack.ss_sp = stacks[self];
	contexts[self].uc_stack.ss_size = STACK_BYTES;
	contexts[self].uc_link = &scheduler;
	makecontext(&contexts[self], (void (*)(void))run, 1, self);
}

static NOINLINE void resume(int self)
{
	CHECK(swapcontext(&scheduler, &contexts[self]) == 0);
}

static NOINLINE int is_over(int self, int was)
{
	return finished > was && self >= 0;
}

int main(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		int over[COROUTINES] = { 0 };
		finished = 0;
		for (int i = 0; i < COROUTINES; i++)
			begin(i);
		while (finished < COROUTINES) {
			for (int i = 0; i < COROUTINES; i++) {
				int was = finished;
				if (over[i])
					continue;
				resume(i);
				over[i] = is_over(i, was);
			}
		}
	}
	CHECK(steps == ROUNDS * 2 * (3 + 6 + 10));
	states("run", ROUNDS * COROUTINES);
	return 0;
}
