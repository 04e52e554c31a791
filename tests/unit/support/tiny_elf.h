/*
 * Minimal ELF files with call frame information, for tests: one executable segment at TINY_BASE, and the sections
 * that the caller requests.
 */
#ifndef TESTS_TINY_ELF_H
#define TESTS_TINY_ELF_H

#include <stdbool.h>

#include "base/buffer.h"

enum { TINY_BASE = 0x400000, TINY_TEXT_BYTES = 0x100000 };

/* The address of .eh_frame, to which FDEs may be relative. */
enum { TINY_EH_FRAME = TINY_BASE + 0x200 };

/* The address of the code that tiny_elf_with_code writes. */
enum { TINY_CODE = TINY_BASE + 0x1000 };

/* Writes a file to *out (initialised). Either section may be NULL. Without section headers, readers must find
 * .eh_frame through PT_GNU_EH_FRAME. */
void tiny_elf(struct buffer *out, const struct buffer *eh_frame, const struct buffer *debug_frame, bool has_sections);

/* A section that is not loaded. */
struct tiny_section {
	const char *name;
	uint32_t type;
	const void *bytes;
	size_t size;
};

/* Writes a file with section headers, with these bytes of code at TINY_CODE, and one more section. */
void tiny_elf_with_code(struct buffer *out, const struct buffer *eh_frame, const void *code, size_t code_bytes,
			const struct tiny_section *other); /* NULL: none */

/* Writes a file with section headers and these sections, at most 4. */
void tiny_elf_with_sections(struct buffer *out, const struct tiny_section *sections, size_t count);

/* Append an entry with absolute 8-byte pointers. tiny_cie returns the offset of the CIE. */
size_t tiny_cie(struct buffer *section, bool is_eh_frame, const char *augmentation, const void *instructions,
		size_t size);
void tiny_fde(struct buffer *section, bool is_eh_frame, size_t cie, uint64_t start, uint64_t size,
	      const void *instructions, size_t instructions_size);

/* Appends an entry with any content, preceded by its length. */
void tiny_entry(struct buffer *section, const struct buffer *content);

#endif
