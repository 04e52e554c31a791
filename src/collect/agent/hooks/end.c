/* The program ends by itself. Where it is killed, its counts are in the file anyway; what is not is said in
 * abi/tally.h: when it ended, and a trace's last events. */
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
