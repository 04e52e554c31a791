/* mlockall: the program's memory is to be locked, not that of the channel. */
#include <sys/mman.h>

#include "collect/agent/core/channel.h"
#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/interpose/mlock.h"

static void unlock_ring(struct runtime_thread *thread)
{
	channel_unlock_ring(thread->ring);
}

int mlock_all(int flags)
{
	int result = REAL(mlockall)(flags);
	if (result == 0 && flags & MCL_CURRENT && runtime.channel && !runtime.alone) {
		channel_unlock();
		runtime_each_thread(unlock_ring);
	}
	return result;
}

INTERPOSED int mlockall(int flags)
{
	return mlock_all(flags);
}
