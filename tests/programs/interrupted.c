/*
 * Makes some events and prints "ready", prints "taken" at each interrupt until there is a line of input, and then how
 * many interrupts there were.
 */
#include <signal.h>
#include <unistd.h>

#include "burn.h"

static volatile sig_atomic_t interrupts;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	interrupts++;
	if (write(STDOUT_FILENO, "taken\n", 6) != 6)
		_exit(1);
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
