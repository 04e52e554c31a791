#include "frames/native/debug_search.h"

#include <elfutils/libdwelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/path.h"
#include "elf/sparse.h"
#include "frames/native/debuginfod.h"

#define DEBUG_ROOT "/usr/lib/debug"
enum { BUILD_ID_MAX = 64 };

/* The debug file of one module. */
struct wanted {
	const uint8_t *id; /* NULL: the module has no build-id */
	size_t id_bytes;
	const char *link; /* the name in .gnu_debuglink; NULL: none */
	GElf_Word link_crc;
	struct elf_image *found;
	char **found_path;
	bool lacks_memory; /* memory ran out for a file that may be the wanted one */
};

/* --- does it fit? --- */

/* Returns whether a file has the CRC of .gnu_debuglink: polynomial 0xedb88320, reflected (as in zlib). */
static bool has_crc(int fd, uint32_t wanted)
{
	uint32_t table[256];
	uint8_t bytes[16 * 1024];
	size_t got;
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t value = i;
		for (int bit = 0; bit < 8; bit++)
			value = value & 1 ? value >> 1 ^ UINT32_C(0xedb88320) : value >> 1;
		table[i] = value;
	}
	uint32_t crc = UINT32_MAX;
	for (uint64_t offset = 0; (got = elf_image_read(fd, bytes, sizeof(bytes), offset)) > 0; offset += got)
		for (size_t i = 0; i < got; i++)
			crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
	return ~crc == wanted;
}

static bool has_id(Elf *elf, const uint8_t *wanted, size_t wanted_bytes)
{
	const void *id;
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);
	return bytes > 0 && (size_t)bytes == wanted_bytes && memcmp(id, wanted, wanted_bytes) == 0;
}

/* Returns whether an open file is the wanted one: by build-id, or by CRC if either has no build-id. */
static bool fits(const struct wanted *wanted, int fd, Elf *elf)
{
	const void *id;
	bool comparable = wanted->id && dwelf_elf_gnu_build_id(elf, &id) > 0;
	return comparable ? has_id(elf, wanted->id, wanted->id_bytes) : wanted->link && has_crc(fd, wanted->link_crc);
}

/* --- places --- */

/* Reads the file of a descriptor, which it closes. Takes ownership of `path`. */
static bool accept_file(struct wanted *wanted, int fd, char *path)
{
	int status = fd >= 0 && !sparse_file(fd) ? elf_image_open(wanted->found, fd, "", NULL) : ERROR_NOT_FOUND;
	bool accepted = status == 0;
	wanted->lacks_memory |= status == ERROR_MEMORY;
	if (accepted && !fits(wanted, fd, wanted->found->elf)) {
		elf_end(wanted->found->elf);
		elf_image_release(wanted->found);
		accepted = false;
	}
	if (fd >= 0)
		close(fd);
	if (accepted)
		*wanted->found_path = path;
	else
		free(path);
	return accepted;
}

/* Tries the debug file `root`/`directory`/`middle`/`name`. */
static bool try_file(struct wanted *wanted, const char *file, const char *root, size_t directory_bytes,
		     const char *middle)
{
	char *path;
	int bytes = asprintf(&path, "%s%.*s%s%s%s", root, (int)directory_bytes, file, middle,
			     wanted->link ? wanted->link : path_basename(file), wanted->link ? "" : ".debug");
	if (bytes < 0) {
		wanted->lacks_memory = true;
		return false;
	}
	/* A debug link may be the file's own name in its own directory. */
	return accept_file(wanted, strcmp(path, file) == 0 ? -1 : path_open_regular(path), path);
}

static bool search_by_name(struct wanted *wanted, const char *file)
{
	const char *slash = strrchr(file, '/');
	if (!slash)
		return false; /* a bare name such as "[vdso]" has no folder */
	size_t directory_bytes = (size_t)(slash + 1 - file);
	return try_file(wanted, file, "", directory_bytes, "") ||
	       try_file(wanted, file, "", directory_bytes, ".debug/") ||
	       (file[0] == '/' && try_file(wanted, file, DEBUG_ROOT, directory_bytes, ""));
}

char *debug_search_path(const uint8_t *id, size_t id_bytes)
{
	if (!id || id_bytes < 2 || id_bytes > BUILD_ID_MAX)
		return NULL;
	struct buffer path;
	buffer_init(&path);
	buffer_printf(&path, DEBUG_ROOT "/.build-id/%02x/", id[0]);
	for (size_t i = 1; i < id_bytes; i++)
		buffer_printf(&path, "%02x", id[i]);
	buffer_printf(&path, ".debug");
	buffer_append_byte(&path, 0);
	char *text = buffer_error(&path) ? NULL : strdup((const char *)path.bytes);
	buffer_release(&path);
	return text;
}

static bool search_by_id(struct wanted *wanted)
{
	char *text = debug_search_path(wanted->id, wanted->id_bytes);
	wanted->lacks_memory |= !text && wanted->id && wanted->id_bytes >= 2 && wanted->id_bytes <= BUILD_ID_MAX;
	return text && accept_file(wanted, path_open_regular(text), text);
}

static bool search_servers(struct wanted *wanted)
{
	return wanted->id && accept_file(wanted, debuginfod_open(wanted->id, wanted->id_bytes), NULL);
}

bool debug_search(Elf *module, const char *path, struct elf_image *found, char **found_path, bool *lacks_memory)
{
	const void *id = NULL;
	ssize_t id_bytes = dwelf_elf_gnu_build_id(module, &id);
	struct wanted wanted = { .found = found, .found_path = found_path };
	*found_path = NULL;
	if (id_bytes > 0) {
		wanted.id = id;
		wanted.id_bytes = (size_t)id_bytes;
	}
	wanted.link = dwelf_elf_gnu_debuglink(module, &wanted.link_crc);
	if (search_by_id(&wanted) || search_by_name(&wanted, path))
		return true;
	/* The path may be a symbolic link; the debug file is then beside its target. */
	char *real = realpath(path, NULL);
	bool succeeded = real && strcmp(real, path) != 0 && search_by_name(&wanted, real);
	free(real);
	succeeded = succeeded || search_servers(&wanted);
	*lacks_memory |= !succeeded && wanted.lacks_memory;
	return succeeded;
}

/* Tries the name in .gnu_debugaltlink, below the folder of `file` if it is relative. */
static bool try_shared(struct wanted *wanted, const char *name, const char *file)
{
	const char *slash = name[0] == '/' || !file ? NULL : strrchr(file, '/');
	char *path;
	if (asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - file) : 0, slash ? file : "", name) < 0)
		return false;
	return accept_file(wanted, path_open_regular(path), path);
}

bool debug_search_shared(Dwarf *dwarf, const char *path, struct elf_image *found)
{
	const char *name;
	const void *id;
	char *found_path = NULL;
	ssize_t id_bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	if (id_bytes <= 0)
		return false;
	struct wanted wanted = { .id = id, .id_bytes = (size_t)id_bytes, .found = found, .found_path = &found_path };
	char *real = path ? realpath(path, NULL) : NULL;
	bool succeeded = search_by_id(&wanted) || try_shared(&wanted, name, path) ||
			 (real && strcmp(real, path) != 0 && try_shared(&wanted, name, real)) ||
			 search_servers(&wanted);
	free(real);
	free(found_path);
	return succeeded;
}
