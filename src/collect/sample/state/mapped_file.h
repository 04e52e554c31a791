/*
 * The file that a process has mapped. Another file may have taken its path since: a package was upgraded, a program
 * was built again. So a file at a path counts as the mapped one only if its device and inode, or its build-id, are
 * those that the kernel reported for the mapping.
 */
#ifndef COLLECT_SAMPLE_STATE_MAPPED_FILE_H
#define COLLECT_SAMPLE_STATE_MAPPED_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "elf/elf_file.h"

struct mapped_file {
	pid_t pid;               /* a process that maps it; 0: unknown */
	uint64_t start, end;     /* where it does; 0: unknown */
	uint64_t file_offset;    /* of `start` in the file; 0 also if it is unknown */
	const char *path;        /* as the kernel reports it, with " (deleted)" for an unlinked file */
	uint64_t device, inode;  /* as stat(2) reports them; inode 0: unknown */
	const uint8_t *build_id; /* NULL: unknown */
	size_t build_id_bytes;
};

enum { MAPPED_FILE_PATH_BYTES = 4096 };

/* Copies the path without the mark of an unlinked file. `plain` has MAPPED_FILE_PATH_BYTES. */
void mapped_file_plain_path(const char *path, char *plain);

/* Opens the mapped file, and reads the headers of its ELF file to *elf. Returns a descriptor, which the caller
 * closes after it freed *elf, or a negative error: ERROR_PERMISSION if only root can read the file, ERROR_NOT_FOUND
 * if it cannot be reached any more, or the reason why it is no ELF file that we can read. */
int mapped_file_open(const struct mapped_file *mapped, struct elf_file **elf, struct error *error);

/* Returns the offset of the core in a program that SBCL made of its runtime and a core (save-lisp-and-die :executable t), or 0 if there is
 * none. */
uint64_t mapped_file_lisp_core(int fd);

/* Opens the mapped file, whatever is in it. Its inode must be known. Returns a descriptor that
 * the caller closes, or -1. */
int mapped_file_open_any(const struct mapped_file *mapped);

#endif
