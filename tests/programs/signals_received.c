/* `signals_received [ROUNDS]`: receives signals in a handler, three times as often below one caller as below the
 * other; other signals are ignored or blocked. */
#include <signal.h>
#include <unistd.h>

#include "burn.h"

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

NOINLINE static void send(int number)
{
	kill(getpid(), number);
	NOT_A_TAIL_CALL();
}

NOINLINE static void heavy(int rounds)
{
	for (int i = 0; i < 3 * rounds; i++)
		send(SIGUSR1);
}

NOINLINE static void light(int rounds)
{
	for (int i = 0; i < rounds; i++)
		send(SIGUSR1);
}

NOINLINE static void in_vain(int rounds)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGHUP);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	for (int i = 0; i < rounds; i++) {
		send(SIGUSR2);
		send(SIGHUP);
	}
}

int main(int argc, char **argv)
{
	int rounds = rounds_wanted(argc, argv, 100);
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &action, NULL);
	signal(SIGUSR2, SIG_IGN);
	heavy(rounds);
	light(rounds);
	in_vain(rounds);
	if (handled != 4 * rounds)
		return 1;
	amount("signals", "main;heavy;send", 3ull * (unsigned)rounds);
	amount("signals", "main;light;send", (unsigned)rounds);
	amount("signals", "main;in_vain", 0);
	share("main;heavy", 0.75);
	share("main;light", 0.25);
	return 0;
}
