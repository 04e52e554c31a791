/*
 * The functions that a program would call if we were not there: those of the C
 * library, or of whoever else has interposed them.
 *
 *	return REAL(read)(fd, bytes, count);
 *
 * All that are named anywhere are looked up together, at the first use or in a
 * constructor, whichever comes first. After that a use is a load and a test, for any
 * thread and any signal handler.
 */
#ifndef COLLECT_AGENT_CORE_REAL_H
#define COLLECT_AGENT_CORE_REAL_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One for each place that names a function; the linker puts them in a row. */
struct real_slot {
	void *function; /* NULL: not looked up yet, or nobody has it */
	const char *name;
	const char *version; /* NULL: the newest */
};

/* Looks all up. NULL: nobody has it; or it is asked for while the look-up itself is at work in
 * this thread: the C library's dlsym may allocate, and does without where that fails. */
void *real_look_up(struct real_slot *slot);

#define REAL_SLOT(function_name, version_name)                                                                      \
	static struct real_slot real_slot                                                                           \
		__attribute__((section("cpprof_real"), used, aligned(8))) = { NULL, #function_name, version_name }; \
	void *real_function = __atomic_load_n(&real_slot.function, __ATOMIC_RELAXED)

#define REAL_VERSION(function_name, version_name)                                                                    \
	({                                                                                                           \
		REAL_SLOT(function_name, version_name);                                                              \
		(__typeof__(&function_name))(__builtin_expect(real_function != NULL, 1) ? real_function              \
											: real_look_up(&real_slot)); \
	})

/* The same without looking up: NULL, it is not known yet. */
#define REAL_IF_KNOWN(function_name)                       \
	({                                                 \
		REAL_SLOT(function_name, NULL);            \
		(__typeof__(&function_name))real_function; \
	})

/* The real function of that name, which must be declared. */
#define REAL(function_name) REAL_VERSION(function_name, NULL)

/* Its run-time address: as runtime_sample_here wants it. */
#define REAL_ADDRESS(function_name) ((uint64_t)(uintptr_t)REAL(function_name))

/* False before they are, and while they are looked up, which may allocate. */
bool real_functions_are_known(void);

/* The real dlsym, which finds all others, and may be interposed itself. */
void *real_dlsym(void);

/* The loaded object that code belongs to; false: none, or it is too early to tell. Async-signal-safe. */
bool real_find_object(uint64_t address, struct dl_find_object *found);

/* A definition of ours that stands before the C library's. */
#define INTERPOSED __attribute__((visibility("default")))

#endif
