/*
 * Holes of files: ranges without storage, which read as zeros. A file of a few kilobytes may have a section of
 * gigabytes that consists of them. Linkers do not write such files, so they are refused before they take memory.
 */
#ifndef ELF_SPARSE_H
#define ELF_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

/* A copy of a genuine file may have this many bytes of holes, where its data is zero. */
enum { SPARSE_HOLES_MAX = 64 << 20 };

/* Returns whether more than `most` of the `size` bytes at `offset` of a file are holes. Returns false where the file
 * system does not report them. Moves the descriptor's position. */
bool sparse_range(int fd, uint64_t offset, uint64_t size, uint64_t most);

/* Returns whether the file has more than SPARSE_HOLES_MAX bytes of holes. */
bool sparse_file(int fd);

#endif
