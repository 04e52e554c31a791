#include "collect/sample/inside.h"

#include <assert.h>

#include "abi/channel.h"

static_assert((int)RESOURCE_OWN_BYTES < (int)CHANNEL_NAME_BYTES, "room for the name of a program's own resource");

int inside_refuse_resource(const struct resource_request *request, struct error *error)
{
	if (!counter_is_inside(request->counter))
		return 0;
	return error_set(error, ERROR_UNSUPPORTED,
			 "cannot measure %s from outside the program (--backend preload measures it in a command that "
			 "cpprof starts)",
			 request->name);
}

int inside_refuse_pause(struct error *error)
{
	return error_set(error, ERROR_UNSUPPORTED,
			 "--paused needs --backend preload, which observes cpprof_start() inside the program");
}
