/*
 * The calls and tail calls in the code of one file: which function a call site calls, and which functions a function leaves by jumps.
 * Read from symbols, .eh_frame, stubs and instructions; debug information is not needed.
 */
#ifndef FRAMES_NATIVE_TAIL_CODE_H
#define FRAMES_NATIVE_TAIL_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "frames/native/module_file.h"

#define TAIL_CODE_NONE UINT32_MAX

struct tail_query {
	uint64_t caller;  /* address in a call; 0: `name` is called from another file */
	uint64_t callee;  /* address in the next inner frame; 0: that is in another file */
	const char *name; /* "" unless caller is 0 */
};

/* The function that is called at a query's call site, by name if that is in another file, and the function that contains the callee's address. Name 0:
 * a function that is chosen when the program starts. */
struct tail_found {
	uint32_t target, name, callee; /* TAIL_CODE_NONE: unknown */
};

/* Functions are by their number, which is their index in `starts`; names by their id in `names`. */
struct tail_code {
	uint64_t *starts; /* ELF virtual addresses. Parts and clones of a function are the function itself */
	struct tail_jump {
		uint32_t from, to, name; /* one of `to` and `name` is TAIL_CODE_NONE; name 0: to an unknown function */
		uint64_t address;        /* last byte of the instruction */
	} * jumps;
	struct tail_found *found; /* per query */
	struct strings names;
	size_t start_count, start_capacity, jump_count, jump_capacity, found_count;
};

/* Answers `count` queries. Jumps are those of the functions that a target which is not its callee leads to. A jump whose target is
 * unknown, and code that cannot be read or is beyond a limit of bytes, is a jump to an unknown function. Returns 0 or ERROR_MEMORY; the caller releases the result in any case. */
int tail_code_read(struct tail_code *code, struct module_file *file, const struct tail_query *queries, size_t count);
void tail_code_release(struct tail_code *code);

#endif
