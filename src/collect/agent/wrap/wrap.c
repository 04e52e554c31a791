/* Switches on all probe points of libcpprof-wrap, before main and before the constructors of the program. */
#include "collect/agent/wrap/wrap.h"

extern struct cpprof_probe __start_cpprof_wrap_probes[] __attribute__((visibility("hidden")));
extern struct cpprof_probe __stop_cpprof_wrap_probes[] __attribute__((visibility("hidden")));

/* The real functions are looked up already, by an earlier constructor of this library. */
__attribute__((constructor)) static void begin(void)
{
	for (struct cpprof_probe *descriptor = __start_cpprof_wrap_probes; descriptor < __stop_cpprof_wrap_probes;
	     descriptor++)
		__atomic_store_n(&descriptor->state, CPPROF_STATE_NEW, __ATOMIC_RELEASE);
}
