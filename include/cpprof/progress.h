/*
 * A progress point for `cpprof causal --progress NAME`: the program passes it once for each piece of work that its user waits for.
 *
 *     cpprof_progress("order");
 *
 * The program need not be linked with libcpprof: at its first point it looks whether a recorder has loaded the library, and without one
 * a point tests a pointer. Any thread may pass points. A statically linked program has no recorder. For GNU C and C++; with C
 * libraries older than glibc 2.34, link with -ldl.
 */
#ifndef CPPROF_PROGRESS_H
#define CPPROF_PROGRESS_H

#include <dlfcn.h>

/* A static program does not get the dynamic linker by this reference. */
#pragma weak dlsym

typedef void cpprof_progress_function(void **point, const char *name);

static inline __attribute__((unused)) void cpprof_progress_pass(void **point, const char *name)
{
	static void *visit; /* NULL: not looked up yet; its own address: there is none */
	void *known = __atomic_load_n(&visit, __ATOMIC_ACQUIRE);
	if (!known) {
		known = dlsym ? dlsym((void *)0, "cpprof_progress_visit") : (void *)0;
		if (!known)
			known = &visit;
		__atomic_store_n(&visit, known, __ATOMIC_RELEASE);
	}
	if (known != &visit)
		__extension__((cpprof_progress_function *)known)(point, name);
}

#define cpprof_progress(name)                                         \
	do {                                                          \
		static void *cpprof_progress_point;                   \
		cpprof_progress_pass(&cpprof_progress_point, (name)); \
	} while (0)

#endif
