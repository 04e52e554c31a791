/*
 * The jitdump that this process writes (abi/jitdump.h), in TMPDIR or /tmp. The process maps its first page executable: the kernel reports that
 * mapping, by which a profiler finds the file. Several threads may call: each record is written at once.
 */
#ifndef COLLECT_AGENT_JVM_DUMP_H
#define COLLECT_AGENT_JVM_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/jitdump.h"
#include "base/buffer.h"

/* Creates the file. Returns false, with errno set, if that fails. */
bool dump_open(void);

/* Writes the description of code: its inlined functions, as the entries of a record JITDUMP_INLINED (NULL: none), its name and instructions. After
 * a failed write, nothing more is written, because a record may be incomplete. */
void dump_code(const char *name, const void *code, size_t bytes, const struct buffer *entries, uint64_t entry_count);

#endif
