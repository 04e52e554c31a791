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
	uint64_t base;      /* ELF virtual address to which the pc of rows is relative: the lowest of the text */
	uint32_t text_size; /* limit of the pc of all rows and functions, also in a table without rows */
	struct unwind_row *rows;
	uint32_t row_count;
	/* pages[p]: the row that applies at base + (p << page_shift). There is about one page per five rows, so that
	 * a search compares only a few rows. */
	uint32_t *pages;
	uint32_t page_count;
	uint32_t page_shift;
	/* Starts and sizes of functions (from FDEs), sorted: they replace the symbols of stripped code. */
	struct unwind_function {
		uint32_t start; /* minus base */
		uint32_t size;
	} * functions;
	uint32_t function_count;
	struct unwind_cfi *cfi; /* copies of the CIEs and FDEs for UNWIND_SLOW; may be NULL */
	uint64_t skipped;       /* number of damaged or unsupported FDEs */
	bool is_haskell;        /* GHC compiled it: code without rules may keep its frames on Haskell's stack */
	bool covers_all; /* its only row applies everywhere; text_size is 0, because others' text may be between */
	bool has_gaps;   /* of a part (table_parts.h): code without unwind information in it has no rows here */
	uint64_t key;    /* of a part: equal to that of an equal part only, and no address; 0: none */
};

/* Compiles the CFI of a file. A file without CFI results in a table without rows. Skips damaged entries and counts
 * them. Returns NULL and ERROR_MEMORY in *error if there is no memory. The caller may free the file afterwards. */
struct unwind_table *unwind_table_new(struct elf_file *file, struct error *error);
/* Returns the table of code that SBCL compiled: one row UNWIND_LISP for all addresses. NULL: there is no memory. */
struct unwind_table *unwind_table_of_lisp(void);
void unwind_table_free(struct unwind_table *table); /* NULL is allowed */

/* Returns whether GHC linked a file, or the file uses the function to which its update frames return. */
bool unwind_is_haskell(struct elf_file *file);

/* Returns the row for an ELF virtual address, or NULL if it is outside of all rows. */
const struct unwind_row *unwind_table_row(const struct unwind_table *table, uint64_t address);

/* Returns the start of the function (FDE) that contains an ELF virtual address, or 0 if there is none. *size (may be
 * NULL) is its size. */
uint64_t unwind_table_function(const struct unwind_table *table, uint64_t address, uint64_t *size);

/* Returns the end of the last function (FDE) that begins at or before an ELF virtual address, or 0 if there is none. */
uint64_t unwind_table_function_end(const struct unwind_table *table, uint64_t address);

/* The row of generated code, and a table that has only this row. */
extern const struct unwind_row unwind_row_generated;
extern const struct unwind_table unwind_table_generated;
/* The table of memory with CPython's trampolines (arch_trampoline). */
extern const struct unwind_table unwind_table_trampolines;

/* --- walks --- */

struct unwind_module {
	const struct unwind_table *table; /* NULL: none */
	uint64_t bias;                    /* run-time address = ELF virtual address + bias */
	uint32_t id;                      /* chosen by the caller */
	bool is_generated; /* a run-time compiler makes its code: all of it has the row unwind_row_generated */
};

struct unwind_frame {
	/* A run-time address. For a caller, its return address minus 1, which is inside the call. For the leaf, and
	 * for code that a signal interrupted, the exact pc. */
	uint64_t pc;
	uint64_t address; /* pc as ELF virtual address in its module */
	uint64_t sp;      /* before the step from this frame: a caller's sp is its callee's CFA */
	uint64_t fp;
	uint32_t module; /* unwind_module's id, or UINT32_MAX */
};

struct unwind_source {
	/* Finds the module at a run-time pc. Returns 0 and fills in *module, or -1 if there is none. */
	int (*module_at)(void *context, uint64_t pc, struct unwind_module *module);
	/* Reads the 8 bytes at an address. Returns 0, or -1 if they are not readable. A walk calls it about twice
	 * for each frame, so it must be cheap. Addresses lie in the stack or, where a rule is missing, in
	 * code; -1 for code does not end the walk, which then only verifies less. */
	int (*read)(void *context, uint64_t address, uint64_t *value);
	/* May be NULL: `read` is used. Reads as `read` does, in generated code. */
	int (*read_code)(void *context, uint64_t address, uint64_t *value);
	/* May be NULL. Called for every caller frame (not the leaf) before the walk steps from it. Returns true if
	 * the caller knows the rest of this stack: the walk stops, this frame is the last one written, and the
	 * result has `joined` set. */
	bool (*joins)(void *context, const struct unwind_frame *frame);
	/* May be NULL. Called where a caller has no rule. Returns the address at which the kernel began the stack of
	 * the first thread (of the number of arguments), or 0 if it is unknown. */
	uint64_t (*stack_start)(void *context);
	void *context;
};

struct unwind_result {
	enum unwind_cause cause;
	size_t count;            /* frames written, at least 1 */
	uint64_t unreadable;     /* the address, if cause is UNWIND_UNREADABLE */
	bool joined;             /* `joins` returned true; `cause` has no meaning then */
	bool used_frame_pointer; /* at least one step had no rule and used fp or a call site */
	bool used_generated;     /* at least one step left generated code */
	bool is_new_thread; /* the only frame is in the system call that made the thread: it has no caller, whatever the memory contains */
};

/* Walks from `registers` outwards and writes frames, innermost first, until the root, a failure, or `limit` frames
 * (UNWIND_DEPTH). Allocates no memory itself. */
struct unwind_result unwind_walk(const struct unwind_source *source, const struct arch_registers *registers,
				 struct unwind_frame *frames, size_t limit);

#endif
