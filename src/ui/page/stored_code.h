/*
 * The machine code in a page: of the hottest functions, decoded where the page is made, so that the page can show
 * the instructions of a function (reports/asm.c) without the files that were recorded.
 *
 * Life cycle: stored_code_write where the page is made; in the page stored_code_read, any number of reports, stored_code_free.
 *
 * The bytes: varint functions | varint modules | each: varint module, ascending | reason NUL | varint size | ranges (profile/code.h)
 *
 * The reason states why the module has no code; "": it has.
 */
#ifndef UI_PAGE_STORED_CODE_H
#define UI_PAGE_STORED_CODE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "profile/code.h"

/* Deflated, an instruction takes about 8 bytes. */
enum { STORED_FUNCTIONS_MOST = 400, STORED_INSTRUCTIONS_MOST = 1 << 17 };

struct stored_code_written {
	size_t functions;
	size_t left_out; /* functions with hits whose code is not there */
};

/* Appends the code of a profile's hottest functions: by their own shares of all resources, and then by what they call. Files that only other users
 * executed are left out unless `has_all`. A module whose code is not there gets its reason. Sets *written. Returns 0 or ERROR_MEMORY, with
 * `error` set. */
int stored_code_write(const struct profile *profile, const struct code_source *source, bool has_all,
		      struct buffer *bytes, struct stored_code_written *written, struct error *error);

struct stored_code;

/* Reads the code of a profile, which it does not keep. Returns NULL with `error` set: ERROR_CORRUPT, ERROR_MEMORY. */
struct stored_code *stored_code_read(const struct profile *profile, const void *bytes, size_t size,
				     struct error *error);
void stored_code_free(struct stored_code *stored); /* accepts NULL */

/* The function of a struct code_source whose context is a struct stored_code, or NULL: the page has no code. The texts of the appended
 * instructions belong to the stored code, which has to live longer than `list`. */
int stored_code_decode(void *context, const struct profile *profile, uint32_t module, const uint64_t *addresses,
		       size_t count, struct code_list *list, struct error *error);

#endif
