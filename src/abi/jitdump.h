/*
 * The records of jitdumps (Linux, tools/perf/Documentation/jitdump-specification.txt): libcpprof-jvm.so writes them, and frames/jit/ reads the records
 * of all runtimes. A file begins with struct jitdump_header; each record begins with struct jitdump_record, and is followed by the texts
 * and entries that belong to it.
 */
#ifndef ABI_JITDUMP_H
#define ABI_JITDUMP_H

#include "abi/integers.h"

enum {
	JITDUMP_MAGIC = 0x4a695444,
	JITDUMP_VERSION = 1,
	JITDUMP_ARCH_TIME = 1, /* a flag: the time stamps are of the processor, not of CLOCK_MONOTONIC */
};

enum jitdump_record_id {
	JITDUMP_LOAD = 0,       /* struct jitdump_load, the name, the instructions */
	JITDUMP_MOVE = 1,       /* struct jitdump_move */
	JITDUMP_DEBUG_INFO = 2, /* struct jitdump_entries; each: address, u32 line, u32 discriminator, file */
	/* Ours; others skip it. struct jitdump_entries; each: address, u32 depth, u32 0; for each frame, innermost first: u32 line, function,
	 * file */
	JITDUMP_INLINED = 0x63707266,
};

struct jitdump_header {
	uint32_t magic, version;
	uint32_t bytes; /* of the header */
	uint32_t machine, spare, pid;
	uint64_t time_ns, flags;
};

struct jitdump_record {
	uint32_t id, bytes; /* of all of the record */
	uint64_t time_ns;
};

struct jitdump_load {
	struct jitdump_record record;
	uint32_t pid, tid;
	uint64_t address, code_address, code_bytes, index;
};

struct jitdump_move {
	struct jitdump_record record;
	uint32_t pid, tid;
	uint64_t address, from, to, code_bytes, index;
};

/* Entries are valid from their address on. They describe the next load. */
struct jitdump_entries {
	struct jitdump_record record;
	uint64_t code_address, count;
};

_Static_assert(sizeof(struct jitdump_header) == 40 && sizeof(struct jitdump_record) == 16 &&
		       sizeof(struct jitdump_load) == 56 && sizeof(struct jitdump_move) == 64 &&
		       sizeof(struct jitdump_entries) == 32,
	       "the layout of others' files");

#endif
