#include "collect/sample/inside.h"

#include <assert.h>

#include "abi/channel.h"

/* The rows say kinds of floating point exceptions in the runtime's bits. */
static_assert((int)RESOURCE_FP_INVALID == (int)CHANNEL_FP_INVALID &&
		      (int)RESOURCE_FP_DENORMAL == (int)CHANNEL_FP_DENORMAL &&
		      (int)RESOURCE_FP_DIVZERO == (int)CHANNEL_FP_DIVZERO &&
		      (int)RESOURCE_FP_OVERFLOW == (int)CHANNEL_FP_OVERFLOW &&
		      (int)RESOURCE_FP_UNDERFLOW == (int)CHANNEL_FP_UNDERFLOW &&
		      (int)RESOURCE_FP_INEXACT == (int)CHANNEL_FP_INEXACT,
	      "kinds of floating point exceptions");
static_assert((int)RESOURCE_OWN_BYTES < (int)CHANNEL_NAME_BYTES, "room for the name of a program's own resource");

int inside_refuse_resource(const struct resource_request *request, struct error *error)
{
	if (request->row->hook != HOOK_INSIDE)
		return 0;
	return error_set(error, ERROR_UNSUPPORTED,
			 "only libcpprof inside the program sees %s: --backend preload, with a command to be started",
			 request->name);
}

int inside_refuse_pause(struct error *error)
{
	return error_set(error, ERROR_UNSUPPORTED,
			 "only libcpprof inside the program hears it call cpprof_start(): --paused goes with --backend "
			 "preload");
}
