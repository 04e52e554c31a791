/* All probe points of libcpprof-wrap, which are off before anybody's main and the constructors of programs. */
#include "collect/agent/wrap/wrap.h"

extern struct cpprof_probe __start_cpprof_wrap_probes[] __attribute__((visibility("hidden")));
extern struct cpprof_probe __stop_cpprof_wrap_probes[] __attribute__((visibility("hidden")));

/* The real functions are known: an earlier constructor of this library looks
 * them up. */
__attribute__((constructor)) static void begin(void)
{
	for (struct cpprof_probe *descriptor = __start_cpprof_wrap_probes; descriptor < __stop_cpprof_wrap_probes;
	     descriptor++)
		__atomic_store_n(&descriptor->state, CPPROF_STATE_NEW, __ATOMIC_RELEASE);
}
