/* Finds functions of one file by a user's name: the symbol's, or in C++ and
 * Rust the source's, with or without parameters ("ns::parse", "ns::parse(char
 * const*)"); without parameters it means all functions of that name. It runs in a jail
 * (file_search.h). */
#ifndef COLLECT_SAMPLE_PROBES_FUNCTION_SEARCH_H
#define COLLECT_SAMPLE_PROBES_FUNCTION_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/near_names.h"
#include "frames/native/module_file.h"

struct function_match {
	uint64_t address; /* ELF virtual */
	uint64_t offset;  /* in the file: of its first instruction on which a probe can be set */
	uint64_t size;    /* in bytes; 0: unknown */
};

struct function_matches {
	struct function_match *items; /* owned; each address once */
	size_t count;
	size_t capacity;
	bool is_exported; /* at least one of them is exported */
	bool is_indirect; /* one of the names is of a function that is chosen at start (IFUNC): `items` has those to choose from */
};

/* Finds all functions of that name. Compilers make clones of a function
 * (f.constprop.0), which may have other arguments: they are found only if
 * `for_arguments` is not set. Returns 0, also if there are none, or
 * ERROR_MEMORY. */
int function_search(struct module_file *file, const char *name, bool for_arguments, struct function_matches *matches);

/* Offers the names of the file's functions, as they read in the source. */
void function_search_near(struct module_file *file, struct near_names *near);

void function_matches_release(struct function_matches *matches); /* {0} is fine */

#endif
