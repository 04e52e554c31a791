/*
 * Makes some events and prints "ready", waits for a line of input, and prints how many interrupts there were
 * meanwhile.
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

int main(void)
{
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
	char byte;

	sigaction(SIGINT, &action, NULL);
	burn(20000);
	dprintf(STDOUT_FILENO, "ready\n");
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 1;
	dprintf(STDOUT_FILENO, "interrupts %d\n", (int)interrupts);
	return 42;
}
