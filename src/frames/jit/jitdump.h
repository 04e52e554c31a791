/*
 * jitdumps: the binary files in which run-time compilers describe the code that they generate (Linux,
 * tools/perf/Documentation/jitdump-specification.txt). abi/jitdump.h has their
 * records; those with unwinding information are not used, because the walks are over when the file is read.
 *
 * Other records are skipped, as the specification requires. Addresses are those in the process. A file states the time of each load and
 * move, so that the code that an address had at the time of a sample is known; in a file whose time stamps come from another clock than
 * CLOCK_MONOTONIC, the last load or move counts.
 */
#ifndef FRAMES_JIT_JITDUMP_H
#define FRAMES_JIT_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* One function at an address. Texts are strings of `texts`, from these offsets on. */
struct jitdump_frame {
	size_t name, file;
	uint32_t line; /* 0: not stated, and so is the file then */
	bool is_whole; /* `name` is a function, `file` its source; else it is a name as in a perf map (frames/jit/runtime_names.h) */
};

/* The frames of an address, innermost first. */
struct jitdump_found {
	size_t first, count; /* count 0: no code contains the address */
};

struct jitdump {
	struct jitdump_found *found; /* [count of addresses] */
	struct jitdump_frame *frames;
	size_t frame_count, frame_capacity;
	struct buffer texts;
};

void jitdump_release(struct jitdump *dump);

/* Returns whether a regular file begins as a jitdump of this machine's byte order. */
bool jitdump_is(int fd);

/* Reads the descriptions of `count` addresses, which ascend, from a jitdump. `times` are the times of their samples, in ns of CLOCK_MONOTONIC;
 * NULL: unknown. Reading ends at the first record that is cut or impossible. Returns 0, ERROR_MEMORY, or ERROR_SYSTEM with errno set; release
 * in any case. */
int jitdump_read(int fd, const uint64_t *addresses, const uint64_t *times, size_t count, struct jitdump *dump);

#endif
