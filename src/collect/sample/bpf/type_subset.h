/*
 * Has libbpf load the eBPF programs without its own search through the kernel's types (kernel_types.h). libbpf gets
 * two things instead:
 *
 *   - for the relocation of offsets (CO-RE), a file with the few types that the programs use: its option
 *     btf_custom_path;
 *   - for programs that attach to a type of the kernel, a handler of their sections, which sets the type's number
 *     just before the program is loaded. A program for which a descriptor to attach to is set makes libbpf not read
 *     the kernel's types, so each gets one until then.
 *
 * Life cycle: type_subset_new, an object that is opened with type_subset_path, type_subset_fill once it is decided
 * which of its programs are loaded, its loading, type_subset_free.
 */
#ifndef COLLECT_SAMPLE_BPF_TYPE_SUBSET_H
#define COLLECT_SAMPLE_BPF_TYPE_SUBSET_H

#include <bpf/libbpf.h>

struct type_subset;

/* Returns NULL if the kernel's types cannot be read or there is no memory. Until type_subset_abandon, objects that are
 * opened can only be loaded between type_subset_fill and type_subset_free. */
struct type_subset *type_subset_new(void);

void type_subset_free(struct type_subset *subset); /* may be NULL */

/* Makes objects that are opened from now on load without a subset. Objects that were opened before must be closed. */
void type_subset_abandon(void);

/* Returns the path for btf_custom_path. The subset owns it. */
const char *type_subset_path(const struct type_subset *subset);

/* Writes the types that the object uses. Returns 0 or a negative enum error_code: then the object cannot be loaded. */
int type_subset_fill(struct type_subset *subset, struct bpf_object *object);

#endif
