#include "collect/source/instrument/parts.h"

#include <string.h>

#include "base/hash_map.h"

struct walk {
	struct source_points *points;
	const struct source_points_file *main;
	struct buffer *text;
	CXCursor callee; /* the enclosing call's function, and the offset of the call */
	uint32_t call;
	size_t last_function; /* function of the last address: each pair is reported once */
	CXCursor last;
	struct hash_map called; /* set of the pairs of a calling function and a called name */
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

/* Writes that the instrumented function around an offset calls another one by its name, once for each pair. A function
 * of a system header is not called by a pointer that the program took. */
static void write_called(struct walk *walk, CXCursor called, uint32_t offset)
{
	const struct clang *clang = walk->points->clang;
	size_t function = function_around(walk, offset);
	if (function == walk->points->item_count || clang->Location_isInSystemHeader(clang->getCursorLocation(called)))
		return;
	CXString name = clang->getCursorSpelling(called);
	const char *spelling = clang->getCString(name), *caller = walk->points->items[function].point.name;
	if (is_plain(spelling) && is_plain(caller)) {
		uint64_t key = hash_u64(hash_bytes(spelling, strlen(spelling)) + function);
		if (hash_map_get(&walk->called, key) == HASH_MAP_NONE && hash_map_put(&walk->called, key, 0) == 0)
			buffer_printf(walk->text, "CPPROF_TOOL_CALLED(\"\\\"%s\\\",\\\"%s\\\"\")\n", spelling, caller);
	}
	clang->disposeString(name);
}

/* A member function is called by its name in "object.f()". */
static void note_member(struct walk *walk, CXCursor cursor)
{
	const struct clang *clang = walk->points->clang;
	CXCursor named = clang->getCursorReferenced(cursor);
	uint32_t offset;
	if (is_function(clang->getCursorKind(named)) &&
	    source_points_offset(walk->points, clang->getRangeStart(clang->getCursorExtent(cursor)), &offset) ==
		    walk->main->file)
		write_called(walk, named, offset);
}

static void note_reference(struct walk *walk, CXCursor cursor)
{
	const struct clang *clang = walk->points->clang;
	CXCursor named = clang->getCursorReferenced(cursor);
	CXSourceLocation at = clang->getRangeStart(clang->getCursorExtent(cursor));
	uint32_t offset;
	unsigned line = 0;
	if (!is_function(clang->getCursorKind(named)) ||
	    source_points_offset(walk->points, at, &offset) != walk->main->file)
		return;
	if (offset == walk->call && clang->equalCursors(named, walk->callee)) {
		write_called(walk, named, offset);
		return;
	}
	if (clang_is_in_macro(at))
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
		note_reference(walk, cursor);
	if (kind == CXCursor_MemberRefExpr)
		note_member(walk, cursor);
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

void taken_addresses_append(struct source_points *points, struct buffer *text)
{
	struct walk walk = { .points = points, .text = text, .call = UINT32_MAX, .last_function = points->item_count };
	for (size_t i = 0; i < points->file_count; i++)
		if (points->files[i].is_main)
			walk.main = &points->files[i];
	if (!walk.main)
		return;
	walk.callee = walk.last = points->clang->getTranslationUnitCursor(points->unit);
	hash_map_init(&walk.called);
	points->clang->visitChildren(walk.callee, visit_outermost, &walk);
	hash_map_release(&walk.called);
}
