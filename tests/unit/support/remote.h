/*
 * Another process as the unwinder's tests see it: its memory, its modules with
 * their tables, and its stack as libdwfl unwinds it. For tests only: failures
 * of the set-up end the test.
 */
#ifndef TESTS_REMOTE_H
#define TESTS_REMOTE_H

#include <sys/types.h>

#include "unwind/unwind.h"

struct remote;

struct remote *remote_new(pid_t pid);
void remote_free(struct remote *remote);

/* The process has run: what is known of its memory is stale. */
void remote_forget(struct remote *remote);

/* For unwind_walk; joins is NULL. */
struct unwind_source remote_source(struct remote *remote);

/* The registers of a stopped thread. */
struct arch_registers remote_registers(pid_t tid);

/* Writes libdwfl's frames (their pc as unwind_frame's) of a stopped thread;
 * returns how many, 0 if it gave up. */
size_t remote_reference_walk(struct remote *remote, pid_t tid, uint64_t *pcs, size_t limit);

/* "libc.so.6+0x1234", valid until the next call. */
const char *remote_location(struct remote *remote, uint64_t pc);

#endif
