/*
 * Bounded, read-only view of one ELF file (64-bit, little-endian, for this processor), for
 * the unwinder: section and segment bytes, build-id, entry point. Every offset
 * is checked against the file's size; a hostile file gives an error (section
 * headers, which a program runs without, are then only missing). Names and
 * debug information are read by frames/native, through elfutils.
 */
#ifndef ELF_ELF_FILE_H
#define ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct elf_file;

/* A part of the file in memory, and where it is at run time. */
struct elf_bytes {
	const uint8_t *bytes; /* valid until elf_file_free; NULL: there is none */
	size_t size;
	uint64_t address; /* ELF virtual address of bytes[0]; 0 if not loaded */
};

/* From a descriptor (duplicated; may be closed afterwards) or from memory (not
 * copied, must outlive it: the vDSO, the fuzzer). NULL: ERROR_FORMAT (not ELF),
 * ERROR_UNSUPPORTED (another class or machine), ERROR_CORRUPT, ERROR_SYSTEM. */
struct elf_file *elf_file_open(int fd, const char *name, struct error *error);
struct elf_file *elf_file_from_memory(const void *bytes, size_t size, const char *name, struct error *error);
void elf_file_free(struct elf_file *file); /* NULL is fine */

/* The section of that name, decompressed if need be (SHF_COMPRESSED). */
struct elf_bytes elf_file_section(struct elf_file *file, const char *name);
/* PT_GNU_EH_FRAME's bytes, for files whose section headers were stripped. */
struct elf_bytes elf_file_eh_frame_hdr(struct elf_file *file);
/* `size` bytes at an ELF virtual address of a PT_LOAD segment, or NULL. */
const uint8_t *elf_file_at(struct elf_file *file, uint64_t address, size_t size);
/* Copies them, and keeps nothing: for a few bytes of code now and then. */
bool elf_file_copy(struct elf_file *file, uint64_t address, void *to, size_t size);
/* As many bytes as the segment that holds `address` has from there on. */
struct elf_bytes elf_file_from(struct elf_file *file, uint64_t address);

/* Size in bytes, 0 if the file has none; *id points into the file. */
size_t elf_file_build_id(struct elf_file *file, const uint8_t **id);
uint64_t elf_file_entry(const struct elf_file *file);

/* ELF virtual address of a file offset, by the PT_LOAD segments: how a mapping
 * (start, file offset) turns into a module's load bias. False: not loaded. */
bool elf_file_address_of_offset(const struct elf_file *file, uint64_t offset, uint64_t *address);

/* Lowest and one past the highest executable ELF virtual address. */
void elf_file_text_range(const struct elf_file *file, uint64_t *low, uint64_t *high);

#endif
