/*
 * The kernel's description of its types (BTF): five megabytes, of which the eBPF programs need a hundredth. libbpf
 * indexes all of it and searches it once for each name, which takes longer than everything else at the start of a
 * recording. This finds all names in one pass, without an index, and writes the types that have them as a
 * description of their own.
 *
 *   header | types, one after the other; number n is the n-th from 1 on | strings
 *
 * Life cycle: kernel_types_open, kernel_types_request for each name, kernel_types_search, then kernel_types_find and
 * kernel_types_write; kernel_types_free. A negative result is an enum error_code.
 */
#ifndef COLLECT_SAMPLE_BPF_KERNEL_TYPES_H
#define COLLECT_SAMPLE_BPF_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

#define KERNEL_TYPES_PATH "/sys/kernel/btf/vmlinux"

struct kernel_types;

/* Maps the description, or reads it from a kernel before 6.16, which cannot map it. Returns NULL if that fails or its
 * header is not as expected. */
struct kernel_types *kernel_types_open(const char *path);

void kernel_types_free(struct kernel_types *types); /* may be NULL */

/* Adds a name that kernel_types_search looks for, of a function or of any other kind of type.
 * Half of the kernel's types are functions, whose names are read only until the wanted functions are
 * found. Returns 0 or ERROR_MEMORY. */
int kernel_types_request(struct kernel_types *types, const char *name, bool is_function);

/* Finds all types that have a wanted name. Returns 0, ERROR_MEMORY, or ERROR_FORMAT for a description that is not as
 * expected. */
int kernel_types_search(struct kernel_types *types);

/* Returns the number of a type of that kind (BTF_KIND_*) with a wanted name, or 0 if there is none. */
uint32_t kernel_types_find(const struct kernel_types *types, uint32_t kind, const char *name);

/* Writes a description with the types that have wanted names and everything that these contain. What they point to
 * becomes void: no program's relocation follows a pointer. Functions are left out. Returns 0 or an error as above. */
int kernel_types_write(const struct kernel_types *types, struct buffer *out);

#endif
