/* Shared by hooks.c, hooks/begin.c and tally*.c, mainly to open or make the file; hooks.h has the functions for
 * measurements. They run where most functions of the C library must not be called, and keep errno. */
#ifndef COLLECT_AGENT_HOOKS_TALLY_H
#define COLLECT_AGENT_HOOKS_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/tally.h"
#include "processor/agent/machine.h"

/* Opens the recorder's file. `path` is absolute, and copied. Returns the file's header, which stays mapped until the
 * process exits, or NULL if the file cannot be opened, is not a tally of this version, or its recording is over. */
struct tally_header *tally_open(const char *path);

/* Makes the file of a program that runs without a recorder, for this measurement. `path` is absolute, and copied. An
 * older file is renamed to PATH.old; if it is still in use, the new file is PATH.PID instead. Returns the header, or
 * NULL if the file cannot be made; *number is then the error number, or 0 if `path` is a device (/dev/null, for
 * example), which the user gives to count nothing. */
struct tally_header *tally_make(const char *path, enum tally_measurement measurement, int *number);

/* Returns true if hooks.header has its final value (hooks/begin.c). */
bool hooks_have_begun(void);

/* Returns the value of an environment variable, or NULL if it is not set or there is no environment yet. Does not
 * call getenv, because a program may define its own (hooks/begin.c). */
const char *hooks_environment_value(const char *name);

/* Makes the destructor that reports the end of threads; it covers the threads that begin from now on (hooks.c). */
void hooks_will_end(void);

/* As tally_chunk_new, but reserves disk space for the first `reserved` bytes only: the rest must be reserved before
 * it is written. Sets *at to the chunk's offset in the file. */
struct tally_chunk *tally_chunk_new_sparse(uint64_t bytes, uint64_t reserved, uint32_t thread, uint64_t *at);
/* Returns false if there is no disk space. */
bool tally_reserve(uint64_t at, uint64_t bytes);

/* Makes this process's chunk; its number is hooks.process_number. In a forked process, `before` is the parent's
 * chunk, from which the modules are copied; else NULL. Returns NULL if there is no room. */
struct tally_process *tally_process_new(const struct tally_process *before);

/* Records the present time: seen_ns and end_ticks. Async-signal-safe. */
void tally_note_time(struct tally_process *process);

#endif
