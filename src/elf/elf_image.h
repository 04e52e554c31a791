/*
 * libelf's view of a file that another user may change at any time. The bytes that names and debug information need
 * are copied into memory of our own: were the file mapped, the program would end with SIGBUS if the file were
 * truncated meanwhile.
 *
 * The image of a file for this class of machines has its headers, and those sections that are not loaded at run time
 * and are needed here, symbols, strings and notes. All other sections have the type SHT_NOBITS:
 *
 *   ELF header | program headers | section headers | section | section | ...
 *
 * Other files, and those without section headers, are copied whole.
 */
#ifndef ELF_ELF_IMAGE_H
#define ELF_ELF_IMAGE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct elf_image {
	Elf *elf;       /* the caller ends it (elf_end) before elf_image_release */
	uint8_t *bytes; /* owned; NULL: the caller's memory */
	size_t size;
};

/* Copies a file from a regular file's descriptor, which may be closed afterwards. Returns 0, or ERROR_FORMAT (not ELF),
 * ERROR_LIMIT (sparse or too large), ERROR_TRUNCATED (meanwhile), ERROR_MEMORY or the error of a system call. */
int elf_image_open(struct elf_image *image, int fd, const char *name, struct error *error);
/* Views `size` bytes of memory, which are not copied and must outlive the image. */
int elf_image_from_memory(struct elf_image *image, void *bytes, size_t size, const char *name, struct error *error);
/* Frees the memory. The Elf must have been ended. */
void elf_image_release(struct elf_image *image);

/* How a section is compressed (Elf64_Chdr): elf.h of glibc 2.36 lacks it, and libelf of elfutils 0.188 cannot unpack it. */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif
/* Unpacks a section, with its Elf64_Chdr, that zstd compressed. Returns whether it has exactly `to_size` bytes, at least one. */
bool elf_image_unpack(const uint8_t *section, size_t size, uint8_t *to, size_t to_size);

/* Reads up to `size` bytes at an offset of a file. Returns how many there were. */
size_t elf_image_read(int fd, void *to, size_t size, uint64_t offset);

#endif
