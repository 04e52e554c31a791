#include "frames/jail/interruption.h"

#include <stddef.h>

void interruption_begin(struct interruption *interruption)
{
	sigpending(&interruption->before);
}

/* The kernel keeps a blocked signal pending even if it is ignored. */
static bool is_ignored(int signal)
{
	struct sigaction action;
	return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool interruption_came(const struct interruption *interruption)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t pending;
	sigpending(&pending);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (sigismember(&pending, ending[i]) > 0 && sigismember(&interruption->before, ending[i]) <= 0 &&
		    !is_ignored(ending[i]))
			return true;
	return false;
}
