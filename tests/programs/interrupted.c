/*
 * Prints "ready", computes until an interrupt arrives, computes for another 0.3 s of CPU time so that a second
 * interrupt would be counted, and prints how many there were.
 */
#include <signal.h>
#include <unistd.h>

#include "burn.h"

static volatile sig_atomic_t interrupts;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	interrupts++;
}

NOINLINE static void wait_for_it(void)
{
	while (!interrupts)
		burn(100);
	NOT_A_TAIL_CALL();
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_interrupt };

	sigaction(SIGINT, &action, NULL);
	dprintf(STDOUT_FILENO, "ready\n");
	wait_for_it();
	for (int i = 0; i < 300; i++)
		burn(1000);
	dprintf(STDOUT_FILENO, "interrupts %d\n", (int)interrupts);
	return 42;
}
