/*
 * The functions that the program would call without this library: the functions of the C library, or of another library that
 * interposes them.
 *
 *	return REAL(read)(fd, bytes, count);
 *
 * All functions that are named anywhere are looked up together, at the first use or in a constructor. After that a
 * use is a load and a test, for any thread and any signal handler.
 */
#ifndef COLLECT_AGENT_CORE_REAL_H
#define COLLECT_AGENT_CORE_REAL_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One for each use of a function's name. The linker puts them into one array. */
struct real_slot {
	void *function; /* NULL: not looked up yet, or not found */
	const char *name;
	const char *version; /* NULL: the newest */
};

/* Looks all functions up. Returns the slot's function, or NULL if no object defines it or if this thread is already
 * in the look-up: the C library's dlsym may allocate, and continues without the memory if that fails. */
void *real_resolve(struct real_slot *slot);

#define REAL_SLOT(function_name, version_name)                                                                      \
	static struct real_slot real_slot                                                                           \
		__attribute__((section("cpprof_real"), used, aligned(8))) = { NULL, #function_name, version_name }; \
	void *real_function = __atomic_load_n(&real_slot.function, __ATOMIC_RELAXED)

#define REAL_VERSION(function_name, version_name)                                                                    \
	({                                                                                                           \
		REAL_SLOT(function_name, version_name);                                                              \
		(__typeof__(&function_name))(__builtin_expect(real_function != NULL, 1) ? real_function              \
											: real_resolve(&real_slot)); \
	})

/* The same without a look-up: NULL if the function is not looked up yet. */
#define REAL_IF_KNOWN(function_name)                       \
	({                                                 \
		REAL_SLOT(function_name, NULL);            \
		(__typeof__(&function_name))real_function; \
	})

/* The real function of that name, which must be declared. */
#define REAL(function_name) REAL_VERSION(function_name, NULL)

/* Its run-time address, for runtime_sample_here. */
#define REAL_ADDRESS(function_name) ((uint64_t)(uintptr_t)REAL(function_name))

/* Returns whether the look-up is complete. The look-up itself may allocate. */
bool real_functions_are_known(void);

/* Returns the real dlsym, which finds all other functions and may be interposed itself, or NULL. */
void *real_dlsym(void);

/* Finds the loaded object that contains a code address. Returns false if there is none, or if it is too early in the
 * program's start. Async-signal-safe. */
bool real_find_object(uint64_t address, struct dl_find_object *found);

/* A definition of ours that comes before the C library's. The library's own code does not call
 * it by this name: where the program defines the function too and calls ours from there, as
 * Erlang's sigaction does, the call would lead back to the program. */
#define INTERPOSED __attribute__((visibility("default")))
/* Another name of a function that is defined in the same file. */
#if __has_attribute(copy)
#define ALIAS(function) __attribute__((alias(#function), copy(function)))
#else
#define ALIAS(function) __attribute__((alias(#function)))
#endif

#endif
