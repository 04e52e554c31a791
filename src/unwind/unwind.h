/*
 * Walks a stack from registers and memory to return addresses, by unwind tables. It needs no frame pointers and no
 * ptrace, and reads only bytes of the target.
 *
 * A table is built once for each module, from .eh_frame and .debug_frame; it is immutable and may be shared. A walk
 * calls two functions of the caller: one finds the module at a pc, the other reads 8 bytes at an address.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/unwind_row.h"
#include "arch/arch.h"
#include "base/error.h"
#include "elf/elf_file.h"
#include "unwind/cause.h"

/* --- tables --- */

struct unwind_table {
	uint64_t base;      /* ELF virtual address that rows' pc count from: the text's lowest */
	uint32_t text_size; /* all rows' and functions' pc are below it, also of a table without rows */
	struct unwind_row *rows;
	uint32_t row_count;
	/* pages[p]: the row in force at base + (p << page_shift); about one page per
	 * five rows, so that a search looks at a few rows only. */
	uint32_t *pages;
	uint32_t page_count;
	uint32_t page_shift;
	/* Starts and ends of functions (of FDEs), sorted: names for stripped code. */
	struct unwind_function {
		uint32_t start; /* minus base */
		uint32_t size;
	} * functions;
	uint32_t function_count;
	struct unwind_cfi *cfi; /* what UNWIND_SLOW needs: copies of the CIEs and FDEs; may be NULL */
	uint64_t skipped;       /* FDEs that could not be understood */
};

/* Compiles the CFI of a file. A file without any gives a table with no rows.
 * Damaged entries are skipped and counted. NULL: ERROR_MEMORY. The file may be
 * freed afterwards. */
struct unwind_table *unwind_table_new(struct elf_file *file, struct error *error);
void unwind_table_free(struct unwind_table *table); /* NULL is fine */

/* The row for an ELF virtual address, or NULL (outside of all rows). */
const struct unwind_row *unwind_table_row(const struct unwind_table *table, uint64_t address);

/* The function (FDE) that covers an ELF virtual address: its start, or 0 if
 * none; *size may be NULL. */
uint64_t unwind_table_function(const struct unwind_table *table, uint64_t address, uint64_t *size);

/* --- walks --- */

struct unwind_module {
	const struct unwind_table *table; /* NULL: none */
	uint64_t bias;                    /* run-time address = ELF virtual address + bias */
	uint32_t id;                      /* the caller's own */
};

struct unwind_frame {
	/* A run-time address. For a caller, its return address minus 1, which is inside the call. For the leaf, and
	 * for code that a signal interrupted, the exact pc. */
	uint64_t pc;
	uint64_t address; /* pc as ELF virtual address in its module */
	uint64_t sp;      /* on entry to this step: a caller's sp is its callee's CFA */
	uint64_t fp;
	uint32_t module; /* unwind_module's id, or UINT32_MAX */
};

struct unwind_source {
	/* The module at a run-time pc: 0 and *module filled in, or -1: none is known there. */
	int (*module_at)(void *context, uint64_t pc, struct unwind_module *module);
	/* Reads the 8 bytes at an address. Returns 0, or -1 if they are not readable. A walk calls it about twice
	 * for each frame, so it must be cheap. Addresses are those of the stack or, where a rule is missing, of
	 * code; -1 for code does not end the walk, which then only verifies less. */
	int (*read)(void *context, uint64_t address, uint64_t *value);
	/* May be NULL. Called for every caller frame (not the leaf) before the walk steps from it. Returns true if
	 * the caller knows the rest of this stack: the walk stops, this frame is the last one written, and the
	 * result has `joined` set. */
	bool (*joins)(void *context, const struct unwind_frame *frame);
	void *context;
};

struct unwind_result {
	enum unwind_cause cause;
	size_t count;            /* frames written, at least 1 */
	uint64_t unreadable;     /* the address, if cause is UNWIND_UNREADABLE */
	bool joined;             /* `joins` said stop; `cause` is then meaningless */
	bool used_frame_pointer; /* at least one step had no rule and trusted fp */
};

/* Walks from `registers` outwards and writes innermost-first frames, until the
 * root, a failure, or `limit` frames (UNWIND_DEPTH). Allocates nothing except
 * in the slow path (bounded). */
struct unwind_result unwind_walk(const struct unwind_source *source, const struct arch_registers *registers,
				 struct unwind_frame *frames, size_t limit);

#endif
