/*
 * The functions of libcapstone, which is loaded on demand: its tables take 77,000 relocations, a tenth of the CPU time in which a short
 * command starts, and only a disassembly needs them.
 */
#ifndef FRAMES_CODE_CAPSTONE_CALLS_H
#define FRAMES_CODE_CAPSTONE_CALLS_H

#include <capstone/capstone.h>

#define CAPSTONE_TEXT_OF(token) #token
#define CAPSTONE_TEXT(macro) CAPSTONE_TEXT_OF(macro)
/* The library's version, which is part of its file's name. */
#define CAPSTONE_MAJOR CAPSTONE_TEXT(CS_API_MAJOR)

struct capstone_calls {
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disasm_iter;
	__typeof__(cs_insn_group) *insn_group;
};

/* Loads the library at the first call. Returns NULL if it is not installed, or lacks one of the functions. A jail opens no files: its
 * parent calls this before. For one thread at a time. */
const struct capstone_calls *capstone_calls(void);

#endif
