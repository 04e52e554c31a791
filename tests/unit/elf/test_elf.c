/* The bounded reader of ELF files: the parts that it finds, and the files that it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf_file.h"
#include "processor/names.h"
#include "support/tiny_elf.h"

/* The same program, with a plain .debug_frame, and with one that zlib and zstd compressed. */
static const char *plain_path;
static const char *compressed_paths[2];

static struct elf_file *open_path(const char *path)
{
	struct error error = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("cannot open %s", path);
	struct elf_file *file = elf_file_open(fd, path, &error);
	close(fd);
	if (!file)
		fail_msg("%s", error.message);
	return file;
}

static void make_tiny(struct buffer *out)
{
	struct buffer section;
	buffer_init(&section);
	buffer_init(out);
	buffer_append(&section, "\x11\x22\x33\x44", 4);
	tiny_elf(out, &section, &section, true);
	buffer_release(&section);
}

static void finds_parts(void **state)
{
	(void)state;
	struct buffer bytes;
	make_tiny(&bytes);
	struct elf_file *file = elf_file_from_memory(bytes.bytes, bytes.size, "tiny", NULL);
	assert_non_null(file);
	struct elf_bytes section = elf_file_section(file, ".eh_frame");
	assert_int_equal(section.size, 4);
	assert_int_equal(section.address, TINY_EH_FRAME);
	assert_memory_equal(section.bytes, "\x11\x22\x33\x44", 4);
	assert_int_equal(elf_file_section(file, ".debug_frame").address, 0);
	assert_int_equal(elf_file_section(file, ".debug_frame").size, 4);
	assert_null(elf_file_section(file, ".debug_fram").bytes);
	assert_null(elf_file_section(file, ".text").bytes);
	assert_int_equal(elf_file_eh_frame_hdr(file).bytes[0], 1);
	assert_memory_equal(elf_file_at(file, TINY_EH_FRAME, 4), section.bytes, 4);
	assert_null(elf_file_at(file, TINY_BASE + bytes.size - 3, 4));
	assert_null(elf_file_at(file, TINY_BASE - 1, 1));
	assert_int_equal(elf_file_from(file, TINY_EH_FRAME, UINT64_MAX).size, bytes.size - (TINY_EH_FRAME - TINY_BASE));
	assert_null(elf_file_from(file, TINY_BASE + bytes.size, UINT64_MAX).bytes);
	assert_int_equal(elf_file_entry(file), TINY_BASE + 0x1000);
	uint64_t low, high, address;
	elf_file_text_range(file, &low, &high);
	assert_int_equal(low, TINY_BASE);
	assert_int_equal(high, (uint64_t)TINY_BASE + TINY_TEXT_BYTES);
	assert_true(elf_file_address_of_offset(file, 0x10, &address));
	assert_int_equal(address, TINY_BASE + 0x10);
	assert_false(elf_file_address_of_offset(file, bytes.size, &address));
	const uint8_t *id;
	assert_int_equal(elf_file_build_id(file, &id), 0);
	assert_true(elf_file_has_build_id(file, NULL, 0));
	assert_false(elf_file_has_build_id(file, (const uint8_t *)"x", 1));
	elf_file_free(file);
	buffer_release(&bytes);
}

static void offsets_are_of_pages(void **state)
{
	(void)state;
	struct buffer bytes;
	make_tiny(&bytes);
	/* The layout of lld: the text begins in the middle of a page whose start belongs to a segment that is not
	 * executable. */
	Elf64_Phdr *segments = (Elf64_Phdr *)(void *)(bytes.bytes + sizeof(Elf64_Ehdr));
	segments[0] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0x10000, .p_filesz = 0x1640, .p_memsz = 0x1640
	};
	segments[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_offset = 0x1640,
				    .p_vaddr = 0x12640,
				    .p_filesz = 0x100,
				    .p_memsz = 0x100 };
	struct elf_file *file = elf_file_from_memory(bytes.bytes, bytes.size, "tiny", NULL);
	uint64_t address;
	assert_true(elf_file_address_of_offset(file, 0x1000, &address));
	assert_int_equal(address, 0x12000);
	assert_true(elf_file_address_of_offset(file, 0x1700, &address));
	assert_int_equal(address, 0x12700);
	assert_true(elf_file_address_of_offset(file, 0xfff, &address));
	assert_int_equal(address, 0x10fff);
	assert_false(elf_file_address_of_offset(file, 0x1740, &address));
	elf_file_free(file);
	buffer_release(&bytes);
}

static void expect_error(const void *bytes, size_t size, int code)
{
	struct error error = { 0 };
	assert_null(elf_file_from_memory(bytes, size, "this", &error));
	if (error.code != code)
		fail_msg("%d (%s), not %d", error.code, error.message, code);
	assert_non_null(strstr(error.message, "this"));
}

static void refuses_what_is_foreign(void **state)
{
	(void)state;
	struct buffer bytes;
	make_tiny(&bytes);
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)bytes.bytes;
	const Elf64_Ehdr good = *header;
	expect_error("", 0, ERROR_FORMAT);
	expect_error(NULL, 0, ERROR_FORMAT);
	expect_error("#!/bin/sh\n", 10, ERROR_FORMAT);
	expect_error(bytes.bytes, 40, ERROR_CORRUPT);
	header->e_machine = EM_68K;
	expect_error(bytes.bytes, bytes.size, ERROR_UNSUPPORTED);
	*header = good;
	header->e_ident[EI_CLASS] = ELFCLASS32;
	expect_error(bytes.bytes, bytes.size, ERROR_UNSUPPORTED);
	*header = good;
	header->e_type = ET_REL;
	expect_error(bytes.bytes, bytes.size, ERROR_UNSUPPORTED);
	*header = good;
	header->e_phoff = bytes.size - 8;
	expect_error(bytes.bytes, bytes.size, ERROR_CORRUPT);
	header->e_phoff = UINT64_MAX - 8;
	expect_error(bytes.bytes, bytes.size, ERROR_CORRUPT);
	*header = good;
	header->e_phentsize = 8;
	expect_error(bytes.bytes, bytes.size, ERROR_CORRUPT);
	buffer_release(&bytes);
	struct error error = { 0 };
	int fd = open("/proc/self", O_RDONLY | O_CLOEXEC);
	assert_null(elf_file_open(fd, "a folder", &error));
	assert_int_equal(error.code, ERROR_FORMAT);
	close(fd);
	assert_null(elf_file_open(-1, "nothing", &error));
	assert_int_equal(error.code, ERROR_SYSTEM);
}

/* A file of another processor is opened on request only: its sections and its build-id mean the same there. */
static void reads_what_no_processor_changes(void **state)
{
	(void)state;
	const uint8_t *id, *id_here;
	struct elf_file *here = open_path(plain_path);
	Elf64_Half machine = EM_68K;
	int from = open(plain_path, O_RDONLY | O_CLOEXEC), fd = memfd_create("other", MFD_CLOEXEC);
	char bytes[4096];
	for (ssize_t got; (got = read(from, bytes, sizeof(bytes))) > 0;)
		assert_int_equal(write(fd, bytes, (size_t)got), got);
	assert_int_equal(pwrite(fd, &machine, sizeof(machine), offsetof(Elf64_Ehdr, e_machine)), sizeof(machine));
	struct error error = { 0 };
	assert_null(elf_file_open(fd, "other", &error));
	assert_int_equal(error.code, ERROR_UNSUPPORTED);
	struct elf_file *other = elf_file_open_any(fd, "other", NULL);
	assert_non_null(other);
	assert_true(elf_file_is_foreign(other));
	assert_false(elf_file_is_foreign(here));
	assert_int_equal(elf_file_section(other, ".text").size, elf_file_section(here, ".text").size);
	size_t size = elf_file_build_id(here, &id_here);
	assert_int_equal(elf_file_build_id(other, &id), size);
	assert_memory_equal(id, id_here, size);
	elf_file_free(other);
	elf_file_free(here);
	other = elf_file_open_any(from, plain_path, NULL);
	assert_false(elf_file_is_foreign(other));
	elf_file_free(other);
	close(from);
	close(fd);
}

/* Each damage to the section headers makes the sections unavailable; the program headers still work. */
static void lives_without_sections(void **state)
{
	(void)state;
	for (unsigned damage = 0; damage < 7; damage++) {
		struct buffer bytes;
		make_tiny(&bytes);
		Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)bytes.bytes;
		Elf64_Shdr *sections = (Elf64_Shdr *)(void *)(bytes.bytes + header->e_shoff);
		switch (damage) {
		case 0:
			header->e_shoff = 0;
			break;
		case 1:
			header->e_shoff = bytes.size - 10;
			break;
		case 2:
			header->e_shentsize = 40;
			break;
		case 3:
			header->e_shstrndx = header->e_shnum;
			break;
		case 4:
			sections[header->e_shstrndx].sh_offset = UINT64_MAX;
			break;
		case 5:
			sections[1].sh_size = UINT64_MAX;
			break;
		default:
			sections[1].sh_name = UINT32_MAX;
			break;
		}
		struct elf_file *file = elf_file_from_memory(bytes.bytes, bytes.size, "tiny", NULL);
		assert_non_null(file);
		assert_null(elf_file_section(file, ".eh_frame").bytes);
		assert_non_null(elf_file_eh_frame_hdr(file).bytes);
		elf_file_free(file);
		buffer_release(&bytes);
	}
}

static void decompresses(void **state)
{
	(void)state;
	struct elf_file *plain = open_path(plain_path);
	struct elf_bytes expected = elf_file_section(plain, ".debug_frame");
	assert_true(expected.size > 0);
	for (size_t i = 0; i < 2; i++) {
		struct elf_file *packed = open_path(compressed_paths[i]);
		struct elf_bytes got = elf_file_section(packed, ".debug_frame");
		assert_int_equal(got.size, expected.size);
		assert_memory_equal(got.bytes, expected.bytes, got.size);
		/* A second call returns the same decompressed bytes. */
		assert_ptr_equal(elf_file_section(packed, ".debug_frame").bytes, got.bytes);
		elf_file_free(packed);
	}
	elf_file_free(plain);
}

static void outlives_truncation(void **state)
{
	(void)state;
	struct buffer bytes;
	char path[] = "/tmp/test_elf.XXXXXX";
	make_tiny(&bytes);
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.bytes, bytes.size), bytes.size);
	struct elf_file *file = elf_file_open(fd, path, NULL);
	assert_non_null(file);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_null(elf_file_section(file, ".eh_frame").bytes);
	elf_file_free(file);
	close(fd);
	unlink(path);
	buffer_release(&bytes);
}

/* Copies of a few bytes, which come from lines that are kept, are the bytes of the file: at every place and of every size, over the borders of
 * lines and up to the end of the segment, and again in any order. */
static void copies_few_bytes(void **state)
{
	(void)state;
	struct buffer bytes;
	make_tiny(&bytes);
	char path[] = "/tmp/cpprof-test-elf-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.bytes, bytes.size), bytes.size);
	struct elf_file *file = elf_file_open(fd, path, NULL);
	assert_non_null(file);
	size_t end = bytes.size;
	uint8_t copy[200];
	for (unsigned turn = 0; turn < 2; turn++)
		for (size_t size = 1; size <= sizeof(copy); size += 9)
			for (size_t i = 0; i < end; i++) {
				size_t at = turn == 0 ? i : end - 1 - i;
				bool fits = size <= end - at;
				assert_int_equal(elf_file_copy(file, TINY_BASE + at, copy, size), fits);
				if (fits)
					assert_memory_equal(copy, bytes.bytes + at, size);
			}
	elf_file_free(file);
	close(fd);
	unlink(path);
	buffer_release(&bytes);
}

/* Parts of a file stay valid and are read once, however many there are; a released part leaves the others. */
static void keeps_many_parts(void **state)
{
	(void)state;
	enum { PARTS = 500, PART_BYTES = 16 };
	const uint8_t *parts[PARTS];
	struct buffer bytes;
	make_tiny(&bytes);
	while (bytes.size < PARTS + PART_BYTES)
		buffer_append_byte(&bytes, (uint8_t)bytes.size);
	((Elf64_Phdr *)(void *)(bytes.bytes + sizeof(Elf64_Ehdr)))->p_filesz = bytes.size;
	char path[] = "/tmp/cpprof-test-elf-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.bytes, bytes.size), bytes.size);
	struct elf_file *file = elf_file_open(fd, path, NULL);
	assert_non_null(file);
	for (size_t i = 0; i < PARTS; i++) {
		parts[i] = elf_file_from(file, TINY_BASE + i, PART_BYTES).bytes;
		assert_non_null(parts[i]);
	}
	const size_t released = 100;
	elf_file_release_part(file, &(struct elf_bytes){ .bytes = parts[released], .size = PART_BYTES });
	for (size_t i = 0; i < PARTS; i++) {
		const uint8_t *again = elf_file_from(file, TINY_BASE + i, PART_BYTES).bytes;
		assert_true(i == released || again == parts[i]);
		assert_memory_equal(again, bytes.bytes + i, PART_BYTES);
	}
	elf_file_free(file);
	close(fd);
	unlink(path);
	buffer_release(&bytes);
}

static void reads_real_files(void **state)
{
	(void)state;
	struct elf_file *file = open_path("/proc/self/exe");
	const uint8_t *id;
	uint64_t low, high;
	assert_true(elf_file_section(file, ".eh_frame").size > 0);
	elf_file_text_range(file, &low, &high);
	assert_true(elf_file_entry(file) >= low && elf_file_entry(file) < high);
	assert_non_null(elf_file_at(file, elf_file_entry(file), 16));
	elf_file_free(file);
	file = open_path("/lib/" ARCH_MULTIARCH "/libc.so.6");
	assert_int_equal(elf_file_build_id(file, &id), 20);
	uint8_t copy[20];
	memcpy(copy, id, sizeof(copy));
	assert_true(elf_file_has_build_id(file, copy, sizeof(copy)));
	assert_false(elf_file_has_build_id(file, copy, sizeof(copy) - 1));
	assert_false(elf_file_has_build_id(file, NULL, 0));
	copy[19] ^= 1;
	assert_false(elf_file_has_build_id(file, copy, sizeof(copy)));
	elf_file_free(file);
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: test_elf PLAIN ZLIB ZSTD\n");
		return 2;
	}
	plain_path = argv[1];
	compressed_paths[0] = argv[2];
	compressed_paths[1] = argv[3];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_parts),
		cmocka_unit_test(offsets_are_of_pages),
		cmocka_unit_test(refuses_what_is_foreign),
		cmocka_unit_test(reads_what_no_processor_changes),
		cmocka_unit_test(lives_without_sections),
		cmocka_unit_test(decompresses),
		cmocka_unit_test(outlives_truncation),
		cmocka_unit_test(copies_few_bytes),
		cmocka_unit_test(keeps_many_parts),
		cmocka_unit_test(reads_real_files),
	};
	return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
