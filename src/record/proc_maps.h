/*
 * What a living process has mapped at one address now: for memory that nobody told
 * of, as the kernel tells no one of mremap.
 */
#ifndef RECORD_PROC_MAPS_H
#define RECORD_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* False: nothing, or the process is gone. `path` gets the name, cut to `size`; ""
 * for memory without one. */
bool proc_maps_find(pid_t pid, uint64_t address, uint64_t *start, uint64_t *end, char *path, size_t size);

#endif
