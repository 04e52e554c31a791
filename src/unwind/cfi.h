/*
 * Call frame information (CFI), chapter 6.4 of the DWARF standard, in the two forms .eh_frame (Linux Standard Base,
 * "Exception Frames") and .debug_frame.
 *
 * A section is a list of entries: CIEs (common information) and FDEs (one range of addresses each). The
 * instructions of an FDE, run after the instructions of its CIE, describe for every pc of the range a state: how to compute
 * the CFA, and where each register of the caller is. The table builder converts all states of an FDE to rows. The
 * slow step computes the state at one pc and evaluates it in full.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cfi_state.h"
#include "base/cursor.h"
#include "base/hash_map.h"
#include "unwind/unwind.h"

/* --- entries --- */

struct cfi_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;  /* ELF virtual address of bytes[0] */
	bool is_eh_frame;  /* false: .debug_frame */
	bool ends_at_zero; /* its size is unknown: an entry of length 0 ends it */
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint32_t instructions; /* offset in the section, and their size */
	uint32_t instructions_size;
	uint8_t return_register;
	uint8_t pointer_encoding;
	uint8_t address_size;
	uint8_t segment_size;
	bool has_augmentation_data;
	bool is_signal;
	bool usable; /* false: its FDEs are skipped */
	struct cfi_state initial;
};

struct cfi_fde {
	uint64_t start; /* ELF virtual addresses */
	uint64_t end;
	uint32_t cie;          /* index */
	uint32_t instructions; /* offset in the section, and their size */
	uint32_t instructions_size;
};

/* Reads the entries of one section in their order and keeps the CIEs in `cies`. Life cycle: cfi_reader_init,
 * cfi_reader_next until it returns 0 or an error, cfi_reader_release. */
struct cfi_reader {
	struct cfi_section section;
	size_t next;
	struct cfi_cie *cies; /* owned; a caller that takes it over sets it to NULL */
	size_t cie_count;
	size_t cie_capacity;
	struct hash_map cie_by_offset;
	uint64_t cie_bytes;     /* bytes read so far, with overlaps counted repeatedly */
	size_t last_cie_offset; /* cache: the FDEs of one object follow each other */
	uint32_t last_cie;
	uint64_t skipped; /* damaged or unknown entries */
};

void cfi_reader_init(struct cfi_reader *reader, const struct cfi_section *section);
void cfi_reader_release(struct cfi_reader *reader);
/* Returns 1 with *fde filled in, 0 at the end, or ERROR_MEMORY. */
int cfi_reader_next(struct cfi_reader *reader, struct cfi_fde *fde);

/* Reads a pointer in one of the DW_EH_PE_ encodings, at `cursor` inside `section`. Returns false if the pointer is
 * omitted, indirect (its value is known only at run time), relative to an unknown base, or cut off. */
bool cfi_pointer(struct cursor *cursor, const struct cfi_section *section, uint8_t encoding, uint64_t *value);
/* Reads the number behind a pointer, in the format (low four bits) of one of those encodings. Returns false if the
 * format is unknown. */
bool cfi_number(struct cursor *cursor, uint8_t format, uint64_t *value);
/* Skips a pointer. Returns false if its length is unknown. */
bool cfi_skip_pointer(struct cursor *cursor, const struct cfi_section *section, uint8_t encoding);

/* --- executing the instructions --- */

enum { CFI_NESTED_STATES = 16 };

/* While cfi_machine_next returns 1, `state` applies to [start, end). */
struct cfi_machine {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	struct cursor instructions;
	uint64_t start;
	uint64_t end;
	uint64_t limit; /* the FDE's end */
	struct cfi_state state;
	unsigned remembered_count;
	struct cfi_state remembered[CFI_NESTED_STATES];
};

void cfi_machine_init(struct cfi_machine *machine, const struct cfi_section *section, const struct cfi_cie *cie,
		      const struct cfi_fde *fde);
/* Returns 1 for a range, 0 at the end of the FDE, or ERROR_CORRUPT if nothing is known from `start` on. */
int cfi_machine_next(struct cfi_machine *machine);
/* Executes a CIE's own instructions and stores the state in cie->initial. Returns false if they are damaged. */
bool cfi_cie_run(const struct cfi_section *section, struct cfi_cie *cie);

/* --- evaluating a state --- */

enum cfi_status {
	CFI_OK = 0,
	CFI_ROOT,       /* the return address is undefined: the outermost frame */
	CFI_NO_RULE,    /* no FDE covers the pc */
	CFI_BAD,        /* damaged, or not computable */
	CFI_UNREADABLE, /* memory is unreadable; the address is in cfi_frame.unreadable */
	CFI_UNKNOWN,    /* the value of a needed register is unknown */
};

/* The registers at a pc. cfi_step replaces them by the caller's. */
struct cfi_frame {
	struct arch_registers registers;
	uint64_t known; /* bit n: register n's value is known */
	/* Bit n: a callee may change register n, but no rule states that: it has the value that
	 * it had in the callee, if that is assembler which keeps it for its caller. */
	uint64_t assumed;
	bool is_signal; /* set by cfi_step: it has left a signal frame, so pc is exact */
	uint64_t unreadable;
};

#define CFI_ALL_REGISTERS ((UINT64_C(1) << ARCH_REGISTERS) - 1)

/* The data that a table keeps for the slow step. */
struct unwind_cfi {
	struct cfi_part {
		struct cfi_section section; /* bytes are owned */
		struct cfi_cie *cies;       /* owned */
		size_t cie_count;
	} parts[2]; /* .eh_frame, .debug_frame */
	/* The FDE of each of the table's functions, in the same order. */
	struct cfi_position {
		uint32_t cie;
		uint32_t instructions;
		uint32_t instructions_size : 31;
		uint32_t part : 1;
	} * positions; /* owned */
};

/* Returns the index of the table's function that contains an ELF virtual address, or -1. */
int64_t unwind_table_function_index(const struct unwind_table *table, uint64_t address);

/* Steps from `frame` to its caller by the full CFI at `lookup`, a run-time address: pc, or pc - 1 in callers. The
 * frame is unchanged unless the result is CFI_OK. */
enum cfi_status cfi_step(const struct unwind_table *table, uint64_t bias, uint64_t lookup,
			 const struct unwind_source *source, struct cfi_frame *frame);

/* Evaluates a DWARF expression as CFI allows it. Pushes `initial` first (may be NULL). */
enum cfi_status cfi_expression(const uint8_t *bytes, size_t size, uint64_t bias, const struct unwind_source *source,
			       struct cfi_frame *frame, const uint64_t *initial, uint64_t *result);

#endif
