/*
 * Every record of the profile file, in C. docs/format.md is the specification.
 *
 *   file    = file header, block, block, ...        all integers little-endian
 *
 *   file header, 16 bytes
 *    0                               8       10      12              16
 *   +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
 *   |89  C   P   P   \r  \n  1a  \n | major | minor |     check     |
 *   +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
 *
 *   block = block header, 40 bytes, then `stored_bytes` bytes of payload
 *    0       2       4               8               12              16
 *   +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
 *   | type  | codec |      rows     |  stored_bytes |   raw_bytes   |
 *   +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
 *   |             first             |         payload_check         |
 *   +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
 *   |         header_check          |
 *   +---+---+---+---+---+---+---+---+
 *
 * The header has its own check, so that a reader does not mistake a flipped bit in a length for the end of a
 * truncated file.
 *
 * A payload is a table's columns, one after the other, each over all rows:
 *
 *    0      1
 *   +------+-- -- --+-- -- --+-----------------+-----------------+-- --
 *   | form | start  |  base  | lowest bytes of | next bytes of   | ...
 *   |      | varint | varint | row 0, 1, 2 ... | row 0, 1, 2 ... |
 *   +------+-- -- --+-- -- --+-----------------+-----------------+-- --
 *             if delta           one run of `rows` bytes per byte of width
 *
 *   form    bits 0 to 3: width, 0 to 8; bit 7: delta; other bits 0
 *   value   of row i: base + the i-th number of `width` bytes; with delta, this
 *           plus the value of row i - 1, which is `start` for row 0
 *
 * All sums are modulo 2^64; varints are zigzag-coded LEB128. A constant column has width 0 and takes no room. Runs of
 * bytes of the same rank compress far better than varints and decode without a branch.
 */
#ifndef PROFILE_FILE_FORMAT_H
#define PROFILE_FILE_FORMAT_H

#include <assert.h>
#include <stdint.h>

/* Like PNG's magic: the first byte is not text, CR LF and LF reveal a transfer that changed line ends, and 0x1a
 * stops a DOS listing. */
#define FORMAT_MAGIC "\211CPP\r\n\x1a\n"

enum {
	FORMAT_MAGIC_BYTES = 8,
	FORMAT_MAJOR = 1,  /* readers refuse a higher version */
	FORMAT_MINOR = 10, /* a higher version adds block types, and columns at the end of a payload */

	FORMAT_ROWS_MAX = 65536,           /* rows of one block */
	FORMAT_RAW_MAX = 64 * 1024 * 1024, /* raw_bytes of one block */
};

struct format_file_header {
	uint8_t magic[FORMAT_MAGIC_BYTES];
	uint16_t major;
	uint16_t minor;
	uint32_t check; /* low half of the XXH64 (seed 0) of the 12 bytes before */
};

struct format_block_header {
	uint16_t type;          /* enum format_block_type */
	uint16_t codec;         /* enum format_codec */
	uint32_t rows;          /* rows of each column */
	uint32_t stored_bytes;  /* of the payload, in the file */
	uint32_t raw_bytes;     /* of the payload, once decompressed */
	uint64_t first;         /* id of the first row in its table; for hits: the number of hits before */
	uint64_t payload_check; /* XXH64 (seed 0) of the stored payload */
	uint64_t header_check;  /* XXH64 (seed 0) of the 32 bytes before */
};

static_assert(sizeof(struct format_file_header) == 16, "the file header has no padding");
static_assert(sizeof(struct format_block_header) == 40, "the block header has no padding");
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the records of the profile file are read and written in place: little-endian only"
#endif

enum format_codec {
	CODEC_RAW = 0,  /* stored_bytes == raw_bytes */
	CODEC_ZSTD = 1, /* zstd frames */
};

/*
 * Block types, and how a block's rows join its table:
 *   append   first == rows so far; ids count up from there
 *   replace  first <= rows so far; rows that exist already are replaced
 *   fields   first + rows <= rows so far; sets some fields of existing rows
 */
enum format_block_type {
	BLOCK_END = 0,              /* no rows, no payload: the recorder ended normally */
	BLOCK_STRINGS = 1,          /* append; one column, the lengths, then the texts. String 0, "", is not stored */
	BLOCK_TOTALS = 2,           /* fields, of the profile itself, which is the only row */
	BLOCK_NOTES = 3,            /* replace */
	BLOCK_RESOURCES = 4,        /* replace */
	BLOCK_PROCESSES = 5,        /* replace */
	BLOCK_THREADS = 6,          /* replace */
	BLOCK_MODULES = 7,          /* replace */
	BLOCK_CAUSES = 8,           /* replace */
	BLOCK_LOCATIONS = 9,        /* append */
	BLOCK_NODES = 10,           /* append; node 0, the root, is not stored */
	BLOCK_FUNCTIONS = 11,       /* append */
	BLOCK_FRAMES = 12,          /* append */
	BLOCK_LOCATION_FRAMES = 13, /* fields, of locations */
	BLOCK_HITS = 14,            /* append */
	BLOCK_TOUCHES = 15,         /* append; since 1.1 */
	BLOCK_LABELS = 16,          /* append; since 1.2, like the next two */
	BLOCK_LABEL_SETS = 17,      /* append; set 0, the empty one, is not stored */
	BLOCK_HIT_LABELS = 18,      /* fields, of hits; a hit without a row has no labels */
	BLOCK_FINDINGS = 19,        /* replace; since 1.4 */
	BLOCK_TAIL_CALLS = 20,      /* append; since 1.9 */
	BLOCK_TYPE_COUNT
};

/*
 * The columns of each table, in their order on disk: X(field of the profile's struct, kind).
 *   VALUE  as it is        FLAG  0 or 1
 *   TIME   CLOCK_MONOTONIC in microseconds on disk, ns in memory; 0: not known
 *   ID     id + 1 modulo 2^32 on disk, so that "none" is 0
 *   BYTES  8 bytes of an array, as one number
 * Columns that a minor version added come last; tables.c has their number.
 */
/* clang-format off */
#define FORMAT_TOTALS(X) \
	X(start_ns, VALUE) X(end_ns, VALUE) X(start_unix_ns, VALUE) X(lost, VALUE) X(symbolized, FLAG)
#define FORMAT_NOTES(X) X(key, VALUE) X(value, VALUE)
#define FORMAT_RESOURCES(X) \
	X(name, VALUE) X(title, VALUE) X(unit, VALUE) X(backend, VALUE) X(note, VALUE) X(kind, VALUE) \
	X(interval, VALUE) X(total, VALUE) X(lost, VALUE)
#define FORMAT_PROCESSES(X) X(pid, VALUE) X(parent_pid, VALUE) X(name, VALUE) X(start_ns, TIME) X(end_ns, TIME) \
	X(cgroup, VALUE) X(user, VALUE)
#define FORMAT_THREADS(X) X(tid, VALUE) X(process, VALUE) X(name, VALUE) X(start_ns, TIME) X(end_ns, TIME)
#define FORMAT_MODULES(X) \
	X(path, VALUE) X(kind, VALUE) X(build_id_bytes, VALUE) X(build_id[0], BYTES) \
	X(build_id[8], BYTES) X(build_id[16], BYTES) X(build_id[24], BYTES)
#define FORMAT_CAUSES(X) X(text, VALUE) X(count, VALUE) X(whole, FLAG) X(completed, FLAG) X(guessed, FLAG)
#define FORMAT_LOCATIONS(X) X(module, VALUE) X(address, VALUE) X(by_frames, FLAG) X(is_tail, FLAG)
#define FORMAT_NODES(X) X(parent, VALUE) X(location, VALUE)
#define FORMAT_FUNCTIONS(X) \
	X(name, VALUE) X(linkage, VALUE) X(module, ID) X(file, VALUE) X(line, VALUE) X(role, VALUE) X(group, VALUE)
#define FORMAT_FRAMES(X) X(function, VALUE) X(file, VALUE) X(line, VALUE) X(inlined, FLAG) X(kind, VALUE) \
	X(discriminator, VALUE)
#define FORMAT_LOCATION_FRAMES(X) X(first_frame, ID) X(frame_count, VALUE)
#define FORMAT_HITS(X) X(time_ns, TIME) X(thread, ID) X(node, VALUE) X(resource, VALUE) X(count, VALUE) \
	X(more_samples, VALUE)
#define FORMAT_TOUCHES(X) \
	X(time_ns, TIME) X(thread, ID) X(node, VALUE) X(resource, VALUE) X(count, VALUE) X(address, VALUE) X(mapping, VALUE)
#define FORMAT_LABELS(X) X(key, VALUE) X(value, VALUE)
#define FORMAT_LABEL_SETS(X) X(first_label, VALUE) X(label_count, VALUE)
#define FORMAT_TAIL_CALLS(X) X(caller, VALUE) X(callee, VALUE) X(location, ID)
#define FORMAT_FINDINGS(X) X(severity, VALUE) X(code, VALUE) X(count, VALUE) X(text, VALUE)
/* clang-format on */

#endif
