/* The files of a program, and texts and ranges in them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/source/contextualize/program.h"

const char *program_text(const struct program *program, CXString string)
{
	return clang_text(program->clang, program->arena, string);
}

const char *program_printed(const struct program *program, CXCursor cursor)
{
	const struct clang *clang = program->clang;
	CXPrintingPolicy policy = clang->getCursorPrintingPolicy(cursor);
	clang->PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);
	const char *text = program_text(program, clang->getCursorPrettyPrinted(cursor, policy));
	clang->PrintingPolicy_dispose(policy);
	return text;
}

/* --- files --- */

/* Returns the path without links, in the arena, or NULL. */
static const char *real_path(const struct program *program, size_t unit, CXFile file)
{
	char joined[PATH_MAX], found[PATH_MAX];
	const char *name = program_text(program, program->clang->getFileName(file));
	const char *directory = program->units[unit].directory;
	bool is_below = directory && name[0] != '/';
	int length = snprintf(joined, sizeof(joined), "%s%s%s", is_below ? directory : "", is_below ? "/" : "", name);
	if (length < 0 || length >= (int)sizeof(joined) || !realpath(joined, found))
		return NULL;
	return instrument_arena_text(program->arena, found, strlen(found));
}

const char *program_usr(const struct program *program, size_t unit, CXCursor cursor)
{
	const struct clang *clang = program->clang;
	const char *usr = program_text(program, clang->getCursorUSR(cursor));
	enum CXLinkageKind linkage = clang->getCursorLinkage(cursor);
	if (linkage != CXLinkage_Internal && linkage != CXLinkage_UniqueExternal)
		return usr;
	CXCursor definition = clang->getCursorDefinition(cursor);
	CXFile file = NULL;
	clang->getFileLocation(
		clang->getCursorLocation(clang->isInvalid(clang->getCursorKind(definition)) ? cursor : definition),
		&file, NULL, NULL, NULL);
	const char *path = file ? real_path(program, unit, file) : NULL;
	const char *whole = path ? instrument_arena_format(program->arena, "%s %s", usr, path) : NULL;
	return whole ? whole : usr;
}

size_t program_file(struct program *program, size_t unit, CXFile file, bool add)
{
	const char *path = file ? real_path(program, unit, file) : NULL;
	size_t size = 0;
	if (!path)
		return PROGRAM_NONE;
	for (size_t i = 0; i < program->file_count; i++)
		if (strcmp(program->files[i].path, path) == 0)
			return i;
	const char *text = add ? program->clang->getFileContents(program->units[unit].unit, file, &size) : NULL;
	if (!text)
		return PROGRAM_NONE;
	if (ARRAY_RESERVE(program->files, program->file_capacity, program->file_count + 1) < 0) {
		program->error = ERROR_MEMORY;
		return PROGRAM_NONE;
	}
	program->files[program->file_count] =
		(struct program_file){ .path = path, .text = text, .size = size, .unit = unit, .handle = file };
	return program->file_count++;
}

bool program_range(const struct program *program, size_t unit, CXCursor cursor, size_t *file, uint32_t *start,
		   uint32_t *end)
{
	const struct clang *clang = program->clang;
	CXSourceRange range = clang->getCursorExtent(cursor);
	CXSourceLocation from = clang->getRangeStart(range), to = clang->getRangeEnd(range);
	CXFile first = NULL, last = NULL;
	unsigned begin = 0, stop = 0;
	clang->getFileLocation(from, &first, NULL, NULL, &begin);
	clang->getFileLocation(to, &last, NULL, NULL, &stop);
	*start = begin;
	*end = stop;
	*file = first ? program_file((struct program *)program, unit, first, false) : PROGRAM_NONE;
	return first && first == last && stop >= begin && !clang_is_in_macro(to);
}

const char *program_qualified(const struct program *program, CXCursor cursor)
{
	const struct clang *clang = program->clang;
	const char *name = program_text(program, clang->getCursorSpelling(cursor));
	for (CXCursor at = clang->getCursorSemanticParent(cursor); !clang->isInvalid(clang->getCursorKind(at));
	     at = clang->getCursorSemanticParent(at)) {
		int kind = clang->getCursorKind(at);
		if (kind != CXCursor_Namespace && kind != CXCursor_ClassDecl && kind != CXCursor_StructDecl)
			break;
		const char *outer = program_text(program, clang->getCursorSpelling(at));
		const char *joined = *outer ? instrument_arena_format(program->arena, "%s::%s", outer, name) : name;
		name = joined ? joined : name;
	}
	return name;
}
