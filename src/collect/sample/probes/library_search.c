/* Finds the libraries that a program needs, by the lists in the files, as a dynamic linker would:
 * LD_PRELOAD first, then level by level the listed libraries, each in DT_RPATH or DT_RUNPATH,
 * LD_LIBRARY_PATH, and the folders of the system. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/path.h"
#include "collect/sample/probes/elf_needs.h"
#include "collect/sample/probes/libraries.h"
#include "processor/names.h"

static const char SYSTEM_FOLDERS[] =
	"/lib/" ARCH_MULTIARCH ":/usr/lib/" ARCH_MULTIARCH ":/lib64:/usr/lib64:/lib:/usr/lib:"
	"/usr/local/lib/" ARCH_MULTIARCH ":/usr/local/lib";

enum { LIBRARIES_MAX = 4096 };

/* Returns whether a file is a library for this machine. */
static bool fits(const char *path)
{
	unsigned char start[sizeof(Elf64_Ehdr)];
	int fd = path_open_regular(path);
	bool is_whole = fd >= 0 && read(fd, start, sizeof(start)) == (ssize_t)sizeof(start);
	if (fd >= 0)
		close(fd);
	Elf64_Ehdr header;
	memcpy(&header, start, sizeof(header));
	return is_whole && memcmp(start, ELFMAG, SELFMAG) == 0 && start[EI_CLASS] == ELFCLASS64 &&
	       header.e_machine == ARCH_ELF_MACHINE;
}

/* Appends a folder. $ORIGIN becomes the folder that contains `origin`. */
static void append_folder(struct buffer *path, const char *folder, size_t length, const char *origin)
{
	const char *slash = strrchr(origin, '/');
	int origin_bytes = slash ? (int)(slash - origin) : 0;
	for (size_t i = 0; i < length;) {
		static const char *const words[] = { "$ORIGIN", "${ORIGIN}" };
		size_t word = 0;
		while (word < 2 && strncmp(folder + i, words[word], strlen(words[word])) != 0)
			word++;
		if (word == 2) {
			buffer_append_byte(path, (uint8_t)folder[i++]);
			continue;
		}
		buffer_printf(path, "%.*s", slash ? origin_bytes : 1, slash ? origin : ".");
		i += strlen(words[word]);
	}
}

/* Returns the path of the library in the first of the folders (separated by ':') that has it, or NULL. The
 * caller frees it. */
static char *search_folders(const char *folders, const char *name, const char *origin)
{
	char *found = NULL;
	while (folders && *folders && !found) {
		size_t length = strcspn(folders, ":");
		struct buffer path;
		buffer_init(&path);
		append_folder(&path, length ? folders : ".", length ? length : 1, origin);
		buffer_printf(&path, "/%s", name);
		buffer_append_byte(&path, 0);
		if (!buffer_error(&path) && fits((const char *)path.bytes))
			found = strdup((const char *)path.bytes);
		buffer_release(&path);
		folders += length + (folders[length] == ':');
	}
	return found;
}

char *libraries_search(const char *name)
{
	char *found = search_folders(getenv("LD_LIBRARY_PATH"), name, "");
	return found ? found : search_folders(SYSTEM_FOLDERS, name, "");
}

/* Returns the path of a library that `needs` lists, or NULL. The program's DT_RPATH applies to all files.
 * The caller frees it. */
static char *find_needed(const char *name, const char *path, const struct elf_needs *needs, const char *program,
			 const struct elf_needs *program_needs)
{
	if (strchr(name, '/'))
		return strdup(name);
	char *found = needs->is_runpath ? NULL : search_folders(needs->rpath, name, path);
	if (!found && !needs->is_runpath && !program_needs->is_runpath)
		found = search_folders(program_needs->rpath, name, program);
	if (!found)
		found = search_folders(getenv("LD_LIBRARY_PATH"), name, "");
	if (!found && needs->is_runpath)
		found = search_folders(needs->rpath, name, path);
	return found ? found : search_folders(SYSTEM_FOLDERS, name, "");
}

static int add_preloaded(struct libraries *libraries)
{
	const char *word = getenv("LD_PRELOAD");
	int result = 0;
	while (word && *word && result == 0) {
		size_t length = strcspn(word, ": ");
		char *name = strndup(word, length);
		char *path = name && strchr(name, '/') ? strdup(name) : name && length ? libraries_search(name) : NULL;
		if (path && fits(path))
			result = libraries_add(libraries, path, path);
		free(path);
		free(name);
		word += length + (word[length] != 0);
	}
	return result;
}

/* Adds the libraries that file `index` lists. */
static int add_needs(struct libraries *libraries, size_t index, const struct elf_needs *program_needs)
{
	struct elf_needs needs;
	char *path = strdup(libraries->items[index].path);
	int result = path ? elf_needs_read(&needs, path, NULL) : ERROR_MEMORY;
	if (result == 0) {
		const char *program = libraries->items[0].path;
		for (size_t i = 0; i < needs.needed_count && result == 0; i++) {
			char *found = find_needed(needs.needed[i], path, &needs, program, program_needs);
			/* A library that is missing stops the program; it is no error here. */
			if (found)
				result = libraries_add(libraries, found, found);
			free(found);
		}
		elf_needs_release(&needs);
	}
	free(path);
	return result == ERROR_MEMORY ? result : 0;
}

int libraries_by_needs(struct libraries *libraries, const char *program, struct error *error)
{
	struct elf_needs needs;
	int result = elf_needs_read(&needs, program, error);
	if (result < 0)
		return result;
	result = libraries_add(libraries, program, program);
	if (result == 0 && needs.interpreter)
		result = add_preloaded(libraries);
	for (size_t i = 0; i < libraries->count && i < LIBRARIES_MAX && result == 0; i++)
		result = add_needs(libraries, i, &needs);
	if (result == 0 && needs.interpreter)
		result = libraries_add(libraries, needs.interpreter, needs.interpreter);
	elf_needs_release(&needs);
	return result < 0 ? error_set(error, result, "out of memory") : 0;
}
