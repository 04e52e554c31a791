/* The requirements that a program or library states: its dynamic linker and its
 * libraries, as written in the file. */
#ifndef COLLECT_SAMPLE_PROBES_ELF_NEEDS_H
#define COLLECT_SAMPLE_PROBES_ELF_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct elf_needs {
	char *interpreter; /* its dynamic linker; NULL: none. Owned, like all members */
	char *soname;      /* NULL: none */
	char *rpath;       /* folders to search, with $ORIGIN as written; NULL: none */
	bool is_runpath;   /* ... that do not apply to what its libraries need */
	char **needed;     /* libraries' names */
	size_t needed_count;
};

/* Returns 0, or ERROR_FORMAT (not an ELF file), ERROR_SYSTEM, ERROR_PERMISSION,
 * ERROR_NOT_FOUND, ERROR_MEMORY. Ignores damaged parts. */
int elf_needs_read(struct elf_needs *needs, const char *path, struct error *error);
void elf_needs_release(struct elf_needs *needs); /* {0} is fine */

#endif
