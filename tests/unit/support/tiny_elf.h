/*
 * The smallest ELF files with call frame information, for tests: one segment
 * at TINY_BASE that is executable, and the sections that are asked for.
 */
#ifndef TESTS_TINY_ELF_H
#define TESTS_TINY_ELF_H

#include <stdbool.h>

#include "base/buffer.h"

enum { TINY_BASE = 0x400000, TINY_TEXT_BYTES = 0x100000 };

/* Where .eh_frame will be: FDEs may be relative to it. */
enum { TINY_EH_FRAME = TINY_BASE + 0x200 };

/* Writes a file to *out (initialised). Either section may be NULL. Without
 * section headers, .eh_frame is to be found through PT_GNU_EH_FRAME. */
void tiny_elf(struct buffer *out, const struct buffer *eh_frame, const struct buffer *debug_frame, bool has_sections);

/* Entries with absolute 8-byte pointers. Returns the offset of the CIE. */
size_t tiny_cie(struct buffer *section, bool is_eh_frame, const char *augmentation, const void *instructions,
		size_t size);
void tiny_fde(struct buffer *section, bool is_eh_frame, size_t cie, uint64_t start, uint64_t size,
	      const void *instructions, size_t instructions_size);

/* An entry of any content; its length is put in front. */
void tiny_entry(struct buffer *section, const struct buffer *content);

#endif
