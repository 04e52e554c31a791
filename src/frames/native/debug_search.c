#include "frames/native/debug_search.h"
#include "base/path.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the CRC of .gnu_debuglink: polynomial 0xedb88320, reflected (as in zlib). */
static uint32_t crc32_of(const uint8_t *bytes, size_t size)
{
	uint32_t table[256];
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t value = i;
		for (int bit = 0; bit < 8; bit++)
			value = value & 1 ? value >> 1 ^ UINT32_C(0xedb88320) : value >> 1;
		table[i] = value;
	}
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < size; i++)
		crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

static bool has_crc(int fd, uint32_t crc)
{
	struct stat status;
	if (fstat(fd, &status) < 0 || status.st_size <= 0)
		return false;
	void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	bool same = crc32_of(bytes, (size_t)status.st_size) == crc;
	munmap(bytes, (size_t)status.st_size);
	return same;
}

/* Returns whether an open file is the module's debug information: by build-id, or by CRC if either has no build-id. */
static bool fits(Dwfl_Module *module, int fd, const char *link_name, uint32_t link_crc)
{
	const unsigned char *wanted;
	GElf_Addr address;
	int wanted_bytes = dwfl_module_build_id(module, &wanted, &address);
	if (wanted_bytes <= 0)
		return link_name && has_crc(fd, link_crc);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return false;
	const void *id = NULL;
	ssize_t id_bytes = dwelf_elf_gnu_build_id(elf, &id);
	bool same = id_bytes == wanted_bytes && memcmp(id, wanted, (size_t)wanted_bytes) == 0;
	elf_end(elf);
	if (id_bytes <= 0)
		return link_name && has_crc(fd, link_crc);
	return same;
}

/* Tries the debug file `root`/`directory`/`middle`/`name`. Returns its descriptor, or -1. */
static int try_file(Dwfl_Module *module, const char *file_name, const char *root, size_t directory_bytes,
		    const char *middle, const char *link_name, uint32_t link_crc, char **found_name)
{
	char *path;
	int bytes = asprintf(&path, "%s%.*s%s%s%s", root, (int)directory_bytes, file_name, middle,
			     link_name ? link_name : path_basename(file_name), link_name ? "" : ".debug");
	if (bytes < 0)
		return -1;
	/* A debug link may be the file's own name in its own directory. */
	int fd = strcmp(path, file_name) == 0 ? -1 : path_open_regular(path);
	if (fd >= 0 && fits(module, fd, link_name, link_crc)) {
		*found_name = path;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return -1;
}

static int search_by_name(Dwfl_Module *module, const char *file_name, const char *link_name, uint32_t link_crc,
			  char **found_name)
{
	const char *slash = strrchr(file_name, '/');
	if (!slash)
		return -1; /* a bare name such as "[vdso]" has no folder */
	size_t directory_bytes = (size_t)(slash + 1 - file_name);
	int fd = try_file(module, file_name, "", directory_bytes, "", link_name, link_crc, found_name);
	if (fd < 0)
		fd = try_file(module, file_name, "", directory_bytes, ".debug/", link_name, link_crc, found_name);
	if (fd < 0 && file_name[0] == '/')
		fd = try_file(module, file_name, "/usr/lib/debug", directory_bytes, "", link_name, link_crc,
			      found_name);
	return fd;
}

int debug_search(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base, const char *file_name,
		 const char *link_name, GElf_Word link_crc, char **found_name)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	/* A name with a directory comes from .gnu_debugaltlink: a file in which dwz collects what several files share. Its
	 * build-id is not the module's, so libdwfl's search is used. */
	bool is_alternative = link_name && strchr(link_name, '/');
	if ((servers && servers[0]) || is_alternative)
		return dwfl_standard_find_debuginfo(module, user_data, name, base, file_name, link_name, link_crc,
						    found_name);
	const unsigned char *id;
	GElf_Addr address;
	if (dwfl_module_build_id(module, &id, &address) > 0) {
		int fd = dwfl_build_id_find_debuginfo(module, user_data, name, base, file_name, link_name, link_crc,
						      found_name);
		if (fd >= 0)
			return fd;
	}
	int fd = file_name ? search_by_name(module, file_name, link_name, link_crc, found_name) : -1;
	if (fd < 0 && file_name) {
		/* The path may be a symbolic link; the debug file is then beside its target. */
		char *real = realpath(file_name, NULL);
		if (real && strcmp(real, file_name) != 0)
			fd = search_by_name(module, real, link_name, link_crc, found_name);
		free(real);
	}
	if (fd < 0)
		errno = 0; /* "there is none", not "the search failed" */
	return fd;
}
