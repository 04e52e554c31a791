/*
 * Hits per instruction of a function's machine code (docs/definitions.md). The code itself comes from outside, as a struct code_list;
 * the analysis joins it with the addresses of the profile.
 */
#ifndef ANALYZE_INSTRUCTIONS_H
#define ANALYZE_INSTRUCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"
#include "profile/code.h"

struct code_address {
	uint32_t module;
	uint32_t
		function; /* index in profile->functions: that which contains the code, into which others may be inlined */
	uint64_t address;
};

/* Sets *addresses to the addresses with hits in the selection at which one of the functions is shown: distinct, by module, then
 * ascending. The caller frees them. Returns 0, or a negative error as analyze_lines. */
int analyze_code_addresses(const struct view *view, const struct label_set *functions, struct code_address **addresses,
			   size_t *count, struct error *error);

struct instruction_hits {
	uint64_t body;  /* hits while it was the innermost */
	uint64_t total; /* hits while it or a callee of it executed, once per sample */
};

struct instruction_list {
	struct code_list code;
	struct instruction_hits *hits; /* [code.count] */
	uint32_t *functions;           /* [code.range_count]: that which contains the range, in profile->functions */
	uint64_t unplaced;             /* body hits of the functions at addresses that are in no range */
	uint64_t total;                /* H: the hits of the selection */
	double independent;            /* as in the view */
	struct error obstacle;         /* code != 0: why one module's code is not there; set by the report */
};

/* Takes ownership of `code`, also on failure. Returns NULL on error, as analyze_lines. */
struct instruction_list *analyze_instructions(const struct view *view, const struct label_set *functions,
					      struct code_list *code, struct error *error);
void instruction_list_free(struct instruction_list *list); /* accepts NULL */

#endif
