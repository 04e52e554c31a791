/*
 * Another process as the input of the unwinder: its memory, its modules with their unwind tables, and its stack as
 * libdwfl unwinds it, as the reference. A failure of the set-up aborts the test.
 */
#ifndef TESTS_REMOTE_H
#define TESTS_REMOTE_H

#include <sys/types.h>

#include "unwind/unwind.h"

struct remote;

struct remote *remote_new(pid_t pid);
void remote_free(struct remote *remote);

/* Drops the cached memory pages. Call it after the process has run. */
void remote_forget(struct remote *remote);

/* Returns a source for unwind_walk. Its `joins` is NULL. */
struct unwind_source remote_source(struct remote *remote);

/* The registers of a stopped thread. */
struct arch_registers remote_registers(pid_t tid);

/* Writes libdwfl's frames of a stopped thread to `pcs`, with the pc as in struct unwind_frame. Returns their
 * number, or 0 if libdwfl did not walk to the end. */
size_t remote_reference_walk(struct remote *remote, pid_t tid, uint64_t *pcs, size_t limit);

/* Returns the pc as text, "libc.so.6+0x1234", valid until the next call. */
const char *remote_location(struct remote *remote, uint64_t pc);

#endif
