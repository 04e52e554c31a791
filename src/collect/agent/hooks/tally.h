/* What hooks.c, hooks/begin.c and tally*.c share, most of all where the file comes from; what measurements want of it
 * is in hooks.h. It runs where nothing of the C library may be called, and keeps errno. */
#ifndef COLLECT_AGENT_HOOKS_TALLY_H
#define COLLECT_AGENT_HOOKS_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/tally.h"
#include "processor/agent/machine.h"

/* The file that the recorder has made; its header, mapped for good. NULL: it cannot be opened, is none of ours, or is
 * over. `path` is absolute, and copied. */
struct tally_header *tally_open(const char *path);

/* A new one, of a program that runs alone: of this measurement, at this path; an older file becomes PATH.old, and
 * if a process still counts in that one, this is PATH.PID. NULL: it cannot be made. */
struct tally_header *tally_make(const char *path, enum tally_measurement measurement);

/* Whether hooks.header is what it will be (hooks/begin.c). */
bool hooks_have_begun(void);

/* A variable's value, from when the program started; NULL: there is none, or it is too early to tell. Programs may have a
 * getenv of their own (hooks/begin.c). */
const char *hooks_environment_value(const char *name);

/* Threads that begin from now on have a destructor by which their end is known (hooks.c). */
void hooks_will_end(void);

/* As tally_chunk_new, with disk space for the first `reserved` bytes: what lies behind must be reserved before
 * anything is written there. `at` is where it lies in the file. */
struct tally_chunk *tally_chunk_new_sparse(uint64_t bytes, uint64_t reserved, uint32_t thread, uint64_t *at);
/* False: there is no disk space. */
bool tally_reserve(uint64_t at, uint64_t bytes);

/* This process's chunk, with the modules that it has now, or of a forked process those of its parent: `before` is
 * that one's chunk, else NULL. hooks.process_number is its number. NULL: there is no room. */
struct tally_process *tally_process_new(const struct tally_process *before);

/* Its clocks now: end_ticks and seen_ns. Async-signal-safe. */
void tally_see_time(struct tally_process *process);

#endif
