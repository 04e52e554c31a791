/* A small .gopclntab (elf/go_table.h), made by hand:
 *
 *   main.work       TINY_CODE         0x40 bytes; CFA - sp: 8 for 4 bytes, 32 for 0x38 bytes, 8; lines 10 for 0x10 bytes, 12; /src/main.go
 *   main.main       TINY_CODE + 0x40  0x20 bytes; CFA - sp: 16; line 20; /src/other.go
 *   runtime.goexit  TINY_CODE + 0x60  0x10 bytes; CFA - sp: 8; the outermost; no lines
 */
#ifndef TESTS_TINY_GO_H
#define TESTS_TINY_GO_H

#include "base/buffer.h"

enum { TINY_GO_FUNCTIONS = 3 };

/* Appends the table for a magic of Go, whose header has this address of the first code. Sets *offsets, if that is not NULL. */
struct tiny_go_offsets {
	size_t names, units, files, values, functions;
	size_t records[TINY_GO_FUNCTIONS];
};
void tiny_go(struct buffer *table, uint32_t magic, uint64_t first_code, struct tiny_go_offsets *offsets);

#endif
