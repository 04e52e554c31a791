#include "collect/source/instrument/parts.h"

#include <ctype.h>
#include <string.h>

struct body_search {
	const struct clang *clang;
	CXCursor found;
	bool is_found, is_in_try;
};

static enum CXChildVisitResult find_body(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct body_search *search = data;
	enum CXCursorKind kind = search->clang->getCursorKind(cursor);
	if (kind == CXCursor_CXXTryStmt && !search->is_in_try) {
		search->is_in_try = true;
		search->clang->visitChildren(cursor, find_body, search);
		search->is_in_try = false;
	} else if (kind == CXCursor_UnexposedStmt && !search->is_found) {
		/* A coroutine's body: the first of its parts is the written
		 * one. */
		search->clang->visitChildren(cursor, find_body, search);
	} else if (kind == CXCursor_CompoundStmt) {
		search->found = cursor;
		search->is_found = true;
		if (search->is_in_try || search->clang->getCursorKind(parent) == CXCursor_UnexposedStmt)
			return CXChildVisit_Break; /* the other children are its handlers */
	}
	return CXChildVisit_Continue;
}

/* Returns the length of line splices at an offset: clang counts them as part of the following text. */
static uint32_t spliced_length(const struct source_points_file *file, uint32_t offset)
{
	uint32_t length = 0;
	while (offset + length + 1 < file->size && file->text[offset + length] == '\\' &&
	       isspace((unsigned char)file->text[offset + length + 1]))
		length += file->text[offset + length + 1] == '\r' ? 3 : 2;
	return length;
}

uint32_t source_points_brace(const struct source_points_file *file, uint32_t offset)
{
	static const char *const braces[] = { "{", "<%", "\?\?<" };
	uint32_t spliced = spliced_length(file, offset);
	offset += spliced;
	for (size_t i = 0; i < sizeof(braces) / sizeof(braces[0]); i++) {
		uint32_t length = (uint32_t)strlen(braces[i]);
		if (offset < file->size && file->size - offset >= length &&
		    memcmp(file->text + offset, braces[i], length) == 0)
			return spliced + length;
	}
	return 0;
}

bool bodies_find(const struct clang *clang, CXCursor function, CXCursor *body)
{
	struct body_search search = { .clang = clang };
	clang->visitChildren(function, find_body, &search);
	*body = search.found;
	return search.is_found;
}

/* Returns whether a function with the item's text is another function, with another name: a macro expands to both,
 * or one file is included twice. */
static bool is_another(const struct source_points_function *function, const struct source_points_item *item)
{
	const struct clang *clang = function->points->clang;
	enum CXCursorKind kind = clang->getCursorKind(function->cursor);
	if (kind != CXCursor_FunctionDecl && kind != CXCursor_CXXMethod)
		return false;
	CXString spelling = clang->getCursorSpelling(function->cursor);
	const char *name = clang->getCString(spelling), *known = item->point.name;
	size_t size = name ? strlen(name) : 0, known_size = strlen(known);
	bool is_same = known_size >= size && memcmp(known + known_size - size, name, size) == 0 &&
		       (known_size == size || known[known_size - size - 1] == ':');
	clang->disposeString(spelling);
	return size && !is_same;
}

bool bodies_has_item(const struct source_points_function *function, size_t *shared)
{
	struct source_points *points = function->points;
	size_t file = (size_t)(function->file - points->files);
	struct source_points_file *in = &points->files[file];
	if (function->open > in->furthest || !in->furthest) {
		in->furthest = function->open;
		return false;
	}
	for (size_t i = points->item_count; i-- > 0;) {
		const struct source_points_item *item = &points->items[i];
		if (item->file != file || item->function != i || item->open != function->open)
			continue;
		if (!is_another(function, item))
			return true;
		*shared = item->is_shared ? item->shared : i;
	}
	return false;
}
