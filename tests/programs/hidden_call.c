/*
 * `hidden_call [ROUNDS]`: `hidden` is called, and `work` runs: it gets there by a return instead of a jump, which no reader of
 * the code finds. `main` and `shown` call `work`, too: a tail call that is found, and no tail call.
 */
#include "burn.h"

__attribute__((noipa, used)) static long work(unsigned us)
{
	burn(us);
	return (long)burn_sink;
}

__attribute__((naked, noipa)) static long hidden(__attribute__((unused)) unsigned us)
{
	__asm__("leaq work(%rip), %rax\n\tpushq %rax\n\tret");
}

NOINLINE static long shown(unsigned us)
{
	return work(us + 10);
}

int main(int argc, char **argv)
{
	int rounds = rounds_wanted(argc, argv, 1);
	long sum = 0;

	for (int i = 0; i < rounds; i++) {
		sum += hidden(40);
		sum += shown(20);
		sum += work(30);
	}
	share("main;work", 1);
	share("main;shown;work", 30 / 100.);
	return sum == 1;
}
