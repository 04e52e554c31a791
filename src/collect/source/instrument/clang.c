#include "collect/source/instrument/clang.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/source/instrument/arena.h"

enum { NEWEST = 29, OLDEST = 11, OTHER_SONAME = 13 };

/* Finds the functions of an opened library. Returns 0, or -1 if it is an older one that lacks some of them. */
static int find_calls(void *library, struct clang *clang)
{
	const struct {
		const char *name;
		size_t at;
	} calls[] = {
#define X(name) { "clang_" #name, offsetof(struct clang, name) },
		CLANG_CALLS(X)
#undef X
	};
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		void *found = dlsym(library, calls[i].name);
		if (!found)
			return -1;
		memcpy((char *)clang + calls[i].at, &found, sizeof(found));
	}
	return 0;
}

/* Opens a version. Sets *is_limited if there is one, and no memory for it. */
static void *open_version(const char *name, bool *is_limited)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	const char *text = library ? NULL : dlerror();
	*is_limited |= text && (strstr(text, "allocate") || strstr(text, "failed to map segment"));
	return library;
}

/* Opens the newest installed version. Does not print a message. The library is never closed, because it has threads
 * and handlers. */
static void *open_newest(bool *is_limited)
{
	char name[128];
	for (int version = NEWEST; version >= OLDEST; version--) {
		static const char *const patterns[] = { "libclang-%d.so.1",
							"libclang-%d.so.%d",
							"libclang-%d.so",
							"libclang.so.%d",
							"/usr/lib/llvm-%d/lib/libclang.so.1",
							"/usr/lib/llvm-%d/lib/libclang.so" };
		for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(name, sizeof(name), patterns[i], version, i == 1 ? OTHER_SONAME : version);
#pragma GCC diagnostic pop
			void *library = open_version(name, is_limited);
			if (library)
				return library;
		}
	}
	return open_version("libclang.so", is_limited);
}

/* Finds "14.0.6" in "Debian clang version 14.0.6-1 (...)". */
static void version_number(const char *text, char number[32])
{
	const char *found = strstr(text, "version ");
	found = found ? found + strlen("version ") : "";
	size_t length = strspn(found, "0123456789.");
	snprintf(number, 32, "%.*s", (int)(length < 31 ? length : 31), found);
}

static bool has_headers(const char *directory)
{
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s/include/stddef.h", directory);
	return length < (int)sizeof(path) && access(path, R_OK) == 0;
}

/* Finds lib/clang/14.0.6 or, since version 16, lib/clang/16: beside the library, or in Debian's folder. */
static char *find_resource_directory(const char *library, const char *number)
{
	char *real = realpath(library, NULL);
	if (!real)
		return NULL;
	char *slash = strrchr(real, '/');
	if (slash)
		*slash = 0;
	int major = atoi(number);
	char debian[64];
	snprintf(debian, sizeof(debian), "/usr/lib/llvm-%d/lib", major);
	const char *const roots[] = { real, debian, "/usr/lib", "/usr/lib64", "/usr/local/lib" };
	char path[4096];
	char *found = NULL;
	for (size_t i = 0; !found && i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(path, sizeof(path), "%s/clang/%s", roots[i], number);
		if (!has_headers(path))
			snprintf(path, sizeof(path), "%s/clang/%d", roots[i], major);
		if (has_headers(path))
			found = strdup(path);
	}
	free(real);
	return found;
}

const struct clang *clang_load(struct error *error)
{
	static struct clang clang;
	static bool is_loaded;
	if (is_loaded)
		return &clang;
	bool is_limited = false;
	void *library = open_newest(&is_limited);
	if (!library && is_limited) {
		error_set(error, ERROR_MEMORY, "cannot load libclang: out of memory");
		return NULL;
	}
	if (!library) {
		error_set(
			error, ERROR_UNSUPPORTED,
			"cannot instrument anything: libclang is not installed (Debian: apt-get install libclang1-14)");
		return NULL;
	}
	if (find_calls(library, &clang)) {
		error_set(error, ERROR_UNSUPPORTED, "cannot instrument anything: libclang is older than 11");
		return NULL;
	}
	CXString version = clang.getClangVersion();
	clang.version = strdup(clang.getCString(version));
	clang.disposeString(version);
	char number[32];
	version_number(clang.version ? clang.version : "", number);
	Dl_info where;
	if (dladdr((void *)(uintptr_t)clang.createIndex, &where) && where.dli_fname)
		clang.resource_directory = find_resource_directory(where.dli_fname, number);
	is_loaded = true;
	return &clang;
}

/* --- parsing --- */

CXTranslationUnit clang_parse(const struct clang *clang, CXIndex index, const char *path, const char *const *words,
			      size_t word_count, struct CXUnsavedFile *unsaved, size_t unsaved_count,
			      struct error *error)
{
	CXTranslationUnit unit = NULL;
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (here < 0) {
		error_set_errno(error, "cannot open the current folder");
		return NULL;
	}
	enum CXErrorCode code = clang->parseTranslationUnit2(
		index, path, words, (int)word_count, unsaved, (unsigned)unsaved_count,
		CXTranslationUnit_KeepGoing | CXTranslationUnit_DetailedPreprocessingRecord, &unit);
	/* Up to version 14 at least, libclang changes to the folder of -working-directory. */
	bool is_back = fchdir(here) == 0;
	if (!is_back)
		error_set_errno(error, "cannot return to the current folder");
	close(here);
	if (code == CXError_Success && unit && is_back)
		return unit;
	if (is_back)
		error_set(error, ERROR_FORMAT,
			  code == CXError_Crashed ? "libclang crashed" : "libclang cannot parse it");
	else if (unit)
		clang->disposeTranslationUnit(unit);
	return NULL;
}

int clang_report(const struct clang *clang, CXDiagnostic diagnostic, struct error *error)
{
	CXFile file = NULL;
	unsigned line = 0;
	clang->getFileLocation(clang->getDiagnosticLocation(diagnostic), &file, &line, NULL, NULL);
	CXString text = clang->getDiagnosticSpelling(diagnostic);
	if (file) {
		CXString name = clang->getFileName(file);
		error_set(error, ERROR_FORMAT, "%s:%u: %s", clang->getCString(name), line, clang->getCString(text));
		clang->disposeString(name);
	} else {
		error_set(error, ERROR_FORMAT, "%s", clang->getCString(text));
	}
	clang->disposeString(text);
	return ERROR_FORMAT;
}

const char *clang_text(const struct clang *clang, struct instrument_arena *arena, CXString string)
{
	const char *text = clang->getCString(string);
	const char *kept = instrument_arena_text(arena, text ? text : "", text ? strlen(text) : 0);
	clang->disposeString(string);
	return kept ? kept : "";
}
