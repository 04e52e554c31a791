/* Finishes the tally when the program exits normally. If it is killed, its counts are in the file as well. The file
 * then lacks the time at which it ended (abi/tally.h) and the events that close a trace (hooks/trace.c). */
#include <stdlib.h>

#include "collect/agent/control/thread.h"
#include "collect/agent/hooks/hooks.h"

__attribute__((destructor)) static void ends(void)
{
	tally_modules_changed();
	hooks_finish();
	control_end();
}

__attribute__((constructor)) static void will_end(void)
{
	(void)at_quick_exit(hooks_finish);
}
