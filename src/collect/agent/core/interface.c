/* Registers the thread that calls a public function. */
#include <cpprof/runtime.h>

#include <errno.h>

#include "collect/agent/core/interface.h"

struct runtime_thread *interface_thread(void)
{
	/* Set after the first attempt: a thread that was refused or has ended is not registered again. */
	static _Thread_local bool was_begun;
	struct runtime_thread *thread = runtime_thread;
	if (thread || was_begun)
		return thread;
	int error = errno;
	cpprof_runtime_begin();
	thread = runtime_thread;
	if (runtime.channel && !thread)
		thread = runtime_thread_begin(NULL);
	was_begun = runtime.channel != NULL;
	errno = error;
	return thread;
}
