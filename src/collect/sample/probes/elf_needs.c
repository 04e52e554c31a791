#include "collect/sample/probes/elf_needs.h"

#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "elf/elf_image.h"
#include "elf/sparse.h"

enum { DYNAMIC_MAX = 4096, STRING_MAX = 4096 };

void elf_needs_release(struct elf_needs *needs)
{
	for (size_t i = 0; i < needs->needed_count; i++)
		free(needs->needed[i]);
	free(needs->needed);
	free(needs->interpreter);
	free(needs->soname);
	free(needs->rpath);
	*needs = (struct elf_needs){ 0 };
}

/* Returns a copy of the text at a file offset, or NULL if it is outside of the file, has no end, or memory
 * ran out. */
static char *text_at(int fd, uint64_t offset)
{
	char text[STRING_MAX];
	size_t bytes = offset <= INT64_MAX ? elf_image_read(fd, text, sizeof(text), offset) : 0;
	return memchr(text, 0, bytes) ? strdup(text) : NULL;
}

/* Finds the file offset of an ELF virtual address. Returns false if the address is not in the file. */
static bool offset_of(Elf *elf, uint64_t address, uint64_t *offset)
{
	size_t count = 0;
	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*offset = segment.p_offset + (address - segment.p_vaddr);
		return true;
	}
	return false;
}

static int add_needed(struct elf_needs *needs, size_t *capacity, char *name)
{
	if (!name)
		return 0;
	if (ARRAY_RESERVE(needs->needed, *capacity, needs->needed_count + 1) < 0) {
		free(name);
		return ERROR_MEMORY;
	}
	needs->needed[needs->needed_count++] = name;
	return 0;
}

static void replace(char **text, char *by)
{
	free(*text);
	*text = by;
}

static int read_dynamic(struct elf_needs *needs, Elf *elf, int fd, const GElf_Phdr *segment)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_DYN);
	size_t entry_bytes = gelf_fsize(elf, ELF_T_DYN, 1, EV_CURRENT);
	size_t size = data && entry_bytes ? data->d_size / entry_bytes : 0;
	int count = size < DYNAMIC_MAX ? (int)size : DYNAMIC_MAX;
	uint64_t strings = 0;
	GElf_Dyn entry;
	for (int i = 0; i < count && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
		if (entry.d_tag == DT_STRTAB && !offset_of(elf, entry.d_un.d_ptr, &strings))
			return 0;
	size_t capacity = 0;
	int result = strings == 0 ? 1 : 0;
	for (int i = 0; i < count && result == 0 && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		uint64_t at = strings + entry.d_un.d_val;
		if (entry.d_tag == DT_NEEDED)
			result = add_needed(needs, &capacity, text_at(fd, at));
		else if (entry.d_tag == DT_SONAME)
			replace(&needs->soname, text_at(fd, at));
		else if (entry.d_tag == DT_RUNPATH || (entry.d_tag == DT_RPATH && !needs->is_runpath))
			replace(&needs->rpath, text_at(fd, at));
		needs->is_runpath = needs->is_runpath || entry.d_tag == DT_RUNPATH;
	}
	return result < 0 ? result : 0;
}

static int read_segments(struct elf_needs *needs, Elf *elf, int fd)
{
	size_t count = 0;
	if (elf_getphdrnum(elf, &count) != 0)
		return 0;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf, (int)i, &segment))
			continue;
		if (segment.p_type == PT_INTERP)
			replace(&needs->interpreter, text_at(fd, segment.p_offset));
		if (segment.p_type == PT_DYNAMIC)
			result = read_dynamic(needs, elf, fd, &segment);
	}
	return result;
}

int elf_needs_read(struct elf_needs *needs, const char *path, struct error *error)
{
	*needs = (struct elf_needs){ 0 };
	int fd = path_open_regular(path);
	if (fd < 0)
		return error_set_errno(error, "cannot read '%s'", path);
	elf_version(EV_CURRENT);
	/* Read, not mapped: the file's owner may truncate it meanwhile. */
	Elf *elf = sparse_file(fd) ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	int result = elf && elf_kind(elf) == ELF_K_ELF ? read_segments(needs, elf, fd) : ERROR_FORMAT;
	elf_end(elf);
	close(fd);
	if (result < 0) {
		elf_needs_release(needs);
		return error_set(error, result,
				 result == ERROR_FORMAT ? "'%s' is not an ELF file" : "out of memory (%s)", path);
	}
	return 0;
}
