/*
 * Bounded, read-only view of one ELF file (64-bit, little-endian, for this processor) for the
 * unwinder: bytes of sections and segments, build-id, entry point. Every offset is checked against
 * the file's size, so that a hostile file causes an error. A part is missing if it is larger than
 * 256 MB or has holes of more than 1 MB. Bad section headers only make the file one without
 * sections, because programs run without them. frames/native reads names and debug information,
 * through elfutils.
 */
#ifndef ELF_ELF_FILE_H
#define ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct elf_file;

/* A part of the file in memory, and its address at run time. */
struct elf_bytes {
	const uint8_t *bytes; /* valid until elf_file_free; NULL: there is no such part */
	size_t size;
	uint64_t address; /* ELF virtual address of bytes[0]; 0: not loaded */
};

/* Opens a file from a descriptor, which is duplicated and may be closed afterwards, or from memory (the vDSO, the
 * fuzzer), which is not copied and must outlive it. Returns the file, or NULL with `error` set: ERROR_FORMAT (not
 * ELF), ERROR_UNSUPPORTED (another class, machine or type of file), ERROR_CORRUPT, ERROR_MEMORY or the error of a
 * system call. */
struct elf_file *elf_file_open(int fd, const char *name, struct error *error);
/* The same for a file of any processor. Its headers, sections and build-id can be read; its code must not be decoded if it is foreign. */
struct elf_file *elf_file_open_any(int fd, const char *name, struct error *error);
/* Returns whether the file is for another processor. */
bool elf_file_is_foreign(const struct elf_file *file);
struct elf_file *elf_file_from_memory(const void *bytes, size_t size, const char *name, struct error *error);
void elf_file_free(struct elf_file *file); /* NULL is fine */

/* Returns the section of that name, decompressed if it is compressed (SHF_COMPRESSED). */
struct elf_bytes elf_file_section(struct elf_file *file, const char *name);
/* Releases the memory of a part that elf_file_section returned, before elf_file_free does; its
 * bytes are not valid any more. */
void elf_file_release_part(struct elf_file *file, const struct elf_bytes *part);
/* Releases all parts that were returned so far; the headers stay, and parts are read again where they are needed. */
void elf_file_release_parts(struct elf_file *file);
/* Returns the bytes of PT_GNU_EH_FRAME, which files without section headers have, too. */
struct elf_bytes elf_file_eh_frame_hdr(struct elf_file *file);
/* The same without reading it: `bytes` is NULL. Size 0: there is none. */
struct elf_bytes elf_file_eh_frame_hdr_place(const struct elf_file *file);
/* Returns `size` bytes at an ELF virtual address of a PT_LOAD segment, valid until elf_file_free, or NULL if the
 * file does not have them. */
const uint8_t *elf_file_at(struct elf_file *file, uint64_t address, size_t size);
/* Copies them instead, and keeps only the last few parts of 256 bytes in memory: for a few bytes
 * of code at a time. Returns false if the file does not have them. */
bool elf_file_copy(struct elf_file *file, uint64_t address, void *to, size_t size);
/* Returns the bytes from `address` to the end of its segment in the file, at most `most`. */
struct elf_bytes elf_file_from(struct elf_file *file, uint64_t address, uint64_t most);

/* Returns the size of the build-id in bytes, or 0 if the file has none; *id is valid until elf_file_free. */
size_t elf_file_build_id(struct elf_file *file, const uint8_t **id);
/* Returns whether the file has this build-id; without bytes, whether it has none. */
bool elf_file_has_build_id(struct elf_file *file, const uint8_t *id, size_t bytes);
uint64_t elf_file_entry(const struct elf_file *file);

/* Converts a file offset to an ELF virtual address, by the PT_LOAD segments. A mapping (start, file offset) thus
 * gives a module's load bias. Returns false if no segment contains the offset. */
bool elf_file_address_of_offset(const struct elf_file *file, uint64_t offset, uint64_t *address);

/* Sets the lowest executable ELF virtual address and one past the highest; both are 0 if there is none. */
void elf_file_text_range(const struct elf_file *file, uint64_t *low, uint64_t *high);

#endif
