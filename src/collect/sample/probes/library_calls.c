/* Which functions a file exports, and which files call a function of libcpprof. */
#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/sample/probes/elf_needs.h"
#include "collect/sample/probes/libraries.h"
#include "elf/elf_file.h"

static const char LIBRARY[] = "libcpprof.so";

bool library_is_libcpprof(const char *path)
{
	return strncmp(path_basename(path), LIBRARY, sizeof(LIBRARY) - 1) == 0;
}

/* Returns whether a symbol table has the name, for a function that is defined elsewhere or (`defined`) in the file. */
static bool has_symbol(struct elf_file *file, const char *table, const char *text, const char *name, bool defined)
{
	const struct elf_bytes symbols = elf_file_section(file, table), names = elf_file_section(file, text);
	const size_t bytes = strlen(name) + 1;
	for (size_t at = 0; symbols.bytes && names.bytes && symbols.size - at >= sizeof(Elf64_Sym);
	     at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		memcpy(&symbol, symbols.bytes + at, sizeof(symbol));
		if ((symbol.st_shndx != SHN_UNDEF) == defined && symbol.st_name < names.size &&
		    names.size - symbol.st_name >= bytes && memcmp(names.bytes + symbol.st_name, name, bytes) == 0)
			return true;
	}
	return false;
}

static bool file_has_symbol(const char *path, const char *name, bool is_static)
{
	int fd = path_open_regular(path);
	struct elf_file *file = fd >= 0 ? elf_file_open(fd, path, NULL) : NULL;
	bool found = file && (is_static ? has_symbol(file, ".symtab", ".strtab", name, true)
					: has_symbol(file, ".dynsym", ".dynstr", name, false));
	elf_file_free(file);
	if (fd >= 0)
		close(fd);
	return found;
}

void library_exports(int fd, const char *path, const char *const *names, size_t count, bool *exported)
{
	struct elf_file *file = elf_file_open(fd, path, NULL);
	for (size_t i = 0; i < count; i++)
		exported[i] = file && has_symbol(file, ".dynsym", ".dynstr", names[i], true);
	elf_file_free(file);
}

/* Only files that need the library, and static programs, are searched: few do. */
static bool calls(const char *path, const char *name)
{
	struct elf_needs needs;
	if (elf_needs_read(&needs, path, NULL) < 0)
		return false;
	bool is_static = !needs.interpreter && !needs.soname;
	bool is_candidate = is_static;
	for (size_t i = 0; i < needs.needed_count; i++)
		is_candidate |= library_is_libcpprof(needs.needed[i]);
	elf_needs_release(&needs);
	return is_candidate && file_has_symbol(path, name, is_static);
}

bool libraries_call(const struct libraries *libraries, const char *name)
{
	for (size_t i = 0; i < libraries->count; i++)
		if (calls(libraries->items[i].path, name))
			return true;
	return false;
}
