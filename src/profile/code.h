/*
 * Machine code as instructions in text, and the interface through which a report gets it: reports read no files, so their caller
 * passes a struct code_source.
 *
 * Life cycle of a list: code_list_init, code_source.decode for one module after the other, code_list_release.
 */
#ifndef PROFILE_CODE_H
#define PROFILE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/strings.h"
#include "profile/profile.h"

/* Texts belong to the list. */
struct code_instruction {
	uint64_t address; /* ELF virtual address in the module's file */
	uint64_t target;  /* of a direct jump or call; 0: none */
	const char *text; /* "jne 0x1a20" */
	const char *file; /* source file; NULL: not known */
	/* the function at `target`, if that is not in the range: "qsort", or "qsort@plt" for a stub that jumps to it; NULL: not known */
	const char *callee;
	uint32_t line;     /* 0: not known */
	uint32_t bytes;    /* > 0; the next instruction of the range begins behind it */
	bool is_reached;   /* a direct jump of the range leads to it */
	bool leaves_range; /* a direct jump or call to an address that is not in the range */
};

/* The code of one function, or of a part of one that the compiler has put elsewhere. */
struct code_range {
	uint32_t module; /* index in profile->modules */
	uint64_t start, end;
	size_t first, count; /* in list->instructions */
};

struct code_list {
	struct code_range *ranges; /* owned; by module, then ascending; disjoint */
	size_t range_count, range_capacity;
	struct code_instruction *instructions; /* owned; in the order of the ranges */
	size_t count, capacity;
	struct strings texts;
};

struct code_source {
	/* Appends the ranges that contain these addresses, which are distinct and ascending, of a module. Returns 0; or a negative error,
	 * with `error` set to the reason and remedy, for "cannot disassemble F: ...", and the list unchanged. */
	int (*decode)(void *context, const struct profile *profile, uint32_t module, const uint64_t *addresses,
		      size_t count, struct code_list *list, struct error *error);
	void *context;
};

/* Returns 0 or ERROR_MEMORY. */
int code_list_init(struct code_list *list);
void code_list_release(struct code_list *list);

/* Returns the index of the range that contains an address of a module, or SIZE_MAX if none does. */
size_t code_list_range(const struct code_list *list, uint32_t module, uint64_t address);
/* Returns the index of the instruction that contains it, or SIZE_MAX. */
size_t code_list_find(const struct code_list *list, uint32_t module, uint64_t address);

/* --- as bytes: the answer of a process that decodes, and the code in a page ---
 *
 * u32 ranges | each: u64 start | u64 end | u32 instructions |
 *                    each: u8 bytes | u8 flags | u64 target | u32 line | text NUL | file NUL | callee NUL
 *
 * "" is a text that is not known. Instructions follow each other without a gap. */

/* Reads the ranges of a module and appends them to `list`. The bytes are checked as a file from outside. Returns 0, ERROR_CORRUPT or
 * ERROR_MEMORY, with the ranges and instructions of `list` unchanged. */
int code_list_read(struct code_list *list, uint32_t module, struct cursor bytes);
/* Appends the beginning of a range, which `count` instructions follow. */
void code_range_write(struct buffer *bytes, uint64_t start, uint64_t end, uint32_t count);
/* Appends an instruction, which has at most 255 bytes. */
void code_instruction_write(struct buffer *bytes, const struct code_instruction *instruction);
/* Appends a range of the list, with its instructions. */
void code_list_write_range(struct buffer *bytes, const struct code_list *list, size_t range);

#endif
