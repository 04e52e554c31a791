#include "collect/source/instrument/taken.h"

#include <string.h>

struct walk {
	struct source_points *points;
	const struct source_points_file *main;
	struct buffer *text;
	CXCursor callee; /* the enclosing call's function, and the offset of the call */
	uint32_t call;
	size_t last_function; /* function of the last address: each pair is reported once */
	CXCursor last;
};

static bool is_function(enum CXCursorKind kind)
{
	return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod || kind == CXCursor_FunctionTemplate;
}

/* Returns the innermost instrumented function around an offset of the main file, or the number of items if there is
 * none. */
static size_t function_around(const struct walk *walk, uint32_t offset)
{
	const struct source_points *points = walk->points;
	size_t found = points->item_count;
	for (size_t i = 0; i < points->item_count; i++) {
		const struct source_point *point = &points->items[i].point;
		if (&points->files[points->items[i].file] != walk->main || point->kind != PROBE_FUNCTION ||
		    point->skipped || offset < point->offset || offset >= point->end)
			continue;
		if (found == points->item_count || point->offset > points->items[found].point.offset)
			found = i;
	}
	return found;
}

/* Whether a text can be a string of the assembler within one of C. */
static bool is_plain(const char *text)
{
	return text && *text && !strpbrk(text, "\"\\\n\r");
}

static void write_taken(struct walk *walk, CXCursor taken, uint32_t offset, unsigned line)
{
	const struct clang *clang = walk->points->clang;
	size_t function = function_around(walk, offset);
	if (function == walk->points->item_count ||
	    (function == walk->last_function && clang->equalCursors(walk->last, taken)))
		return;
	const struct source_point *point = &walk->points->items[function].point;
	CXString name = clang->getCursorSpelling(taken);
	const char *spelling = clang->getCString(name);
	if (is_plain(spelling) && is_plain(point->name) && is_plain(point->file))
		buffer_printf(walk->text, "CPPROF_TOOL_TAKEN(\"\\\"%s\\\",\\\"%s\\\",\\\"%s\\\",\\\"%u\\\"\")\n",
			      spelling, point->name, point->file, line);
	clang->disposeString(name);
	walk->last_function = function;
	walk->last = taken;
}

static void look(struct walk *walk, CXCursor cursor)
{
	const struct clang *clang = walk->points->clang;
	CXCursor named = clang->getCursorReferenced(cursor);
	CXSourceLocation at = clang->getRangeStart(clang->getCursorExtent(cursor));
	uint32_t offset;
	unsigned line = 0;
	if (!is_function(clang->getCursorKind(named)) || clang_is_in_macro(at) ||
	    source_points_offset(walk->points, at, &offset) != walk->main->file)
		return;
	if (offset == walk->call && clang->equalCursors(named, walk->callee))
		return;
	clang->getFileLocation(at, NULL, &line, NULL, NULL);
	write_taken(walk, named, offset, line);
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct walk *walk = data;
	const struct clang *clang = walk->points->clang;
	enum CXCursorKind kind = clang->getCursorKind(cursor);
	(void)parent;
	if (kind == CXCursor_DeclRefExpr)
		look(walk, cursor);
	if (kind != CXCursor_CallExpr)
		return CXChildVisit_Recurse;
	CXCursor callee = walk->callee;
	uint32_t call = walk->call;
	walk->callee = clang->getCursorReferenced(cursor);
	source_points_offset(walk->points, clang->getRangeStart(clang->getCursorExtent(cursor)), &walk->call);
	clang->visitChildren(cursor, visit, walk);
	walk->callee = callee;
	walk->call = call;
	return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_outermost(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct walk *walk = data;
	uint32_t offset;
	CXSourceLocation at = walk->points->clang->getCursorLocation(cursor);
	(void)parent;
	if (source_points_offset(walk->points, at, &offset) != walk->main->file)
		return CXChildVisit_Continue;
	visit(cursor, parent, data);
	walk->points->clang->visitChildren(cursor, visit, walk);
	return CXChildVisit_Continue;
}

void taken_append(struct source_points *points, struct buffer *text)
{
	struct walk walk = { .points = points, .text = text, .call = UINT32_MAX, .last_function = points->item_count };
	for (size_t i = 0; i < points->file_count; i++)
		if (points->files[i].is_main)
			walk.main = &points->files[i];
	if (!walk.main)
		return;
	walk.callee = walk.last = points->clang->getTranslationUnitCursor(points->unit);
	points->clang->visitChildren(walk.callee, visit_outermost, &walk);
}
