#include "collect/source/instrument/taken.h"

#include <string.h>

struct walk {
	struct places *places;
	const struct places_file *main;
	struct buffer *text;
	CXCursor callee; /* of the call around, and where that begins */
	uint32_t call;
	size_t last_function; /* the last that was told, and what it has taken: once is enough */
	CXCursor last;
};

static bool is_function(enum CXCursorKind kind)
{
	return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod || kind == CXCursor_FunctionTemplate;
}

/* The innermost function around an offset of the main file that is instrumented; the count of items: none. */
static size_t function_around(const struct walk *walk, uint32_t offset)
{
	const struct places *places = walk->places;
	size_t found = places->item_count;
	for (size_t i = 0; i < places->item_count; i++) {
		const struct instrument_place *place = &places->items[i].place;
		if (&places->files[places->items[i].file] != walk->main || place->kind != INSTRUMENT_FUNCTION ||
		    place->skipped || offset < place->offset || offset >= place->end)
			continue;
		if (found == places->item_count || place->offset > places->items[found].place.offset)
			found = i;
	}
	return found;
}

/* A string of the assembler's within one of C's. */
static bool is_plain(const char *text)
{
	return text && *text && !strpbrk(text, "\"\\\n\r");
}

static void tell(struct walk *walk, CXCursor taken, uint32_t offset, unsigned line)
{
	const struct clang *clang = walk->places->clang;
	size_t function = function_around(walk, offset);
	if (function == walk->places->item_count ||
	    (function == walk->last_function && clang->equalCursors(walk->last, taken)))
		return;
	const struct instrument_place *place = &walk->places->items[function].place;
	CXString name = clang->getCursorSpelling(taken);
	const char *spelling = clang->getCString(name);
	if (is_plain(spelling) && is_plain(place->name) && is_plain(place->file))
		buffer_printf(walk->text, "CPPROF_TOOL_TAKEN(\"\\\"%s\\\",\\\"%s\\\",\\\"%s\\\",\\\"%u\\\"\")\n",
			      spelling, place->name, place->file, line);
	clang->disposeString(name);
	walk->last_function = function;
	walk->last = taken;
}

static void look(struct walk *walk, CXCursor cursor)
{
	const struct clang *clang = walk->places->clang;
	CXCursor named = clang->getCursorReferenced(cursor);
	CXSourceLocation at = clang->getRangeStart(clang->getCursorExtent(cursor));
	uint32_t offset;
	unsigned line = 0;
	if (!is_function(clang->getCursorKind(named)) || clang_is_in_macro(at) ||
	    places_offset(walk->places, at, &offset) != walk->main->file)
		return;
	if (offset == walk->call && clang->equalCursors(named, walk->callee))
		return;
	clang->getFileLocation(at, NULL, &line, NULL, NULL);
	tell(walk, named, offset, line);
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct walk *walk = data;
	const struct clang *clang = walk->places->clang;
	enum CXCursorKind kind = clang->getCursorKind(cursor);
	(void)parent;
	if (kind == CXCursor_DeclRefExpr)
		look(walk, cursor);
	if (kind != CXCursor_CallExpr)
		return CXChildVisit_Recurse;
	CXCursor callee = walk->callee;
	uint32_t call = walk->call;
	walk->callee = clang->getCursorReferenced(cursor);
	places_offset(walk->places, clang->getRangeStart(clang->getCursorExtent(cursor)), &walk->call);
	clang->visitChildren(cursor, visit, walk);
	walk->callee = callee;
	walk->call = call;
	return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_outermost(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct walk *walk = data;
	uint32_t offset;
	CXSourceLocation at = walk->places->clang->getCursorLocation(cursor);
	(void)parent;
	if (places_offset(walk->places, at, &offset) != walk->main->file)
		return CXChildVisit_Continue;
	visit(cursor, parent, data);
	walk->places->clang->visitChildren(cursor, visit, walk);
	return CXChildVisit_Continue;
}

void taken_append(struct places *places, struct buffer *text)
{
	struct walk walk = { .places = places, .text = text, .call = UINT32_MAX, .last_function = places->item_count };
	for (size_t i = 0; i < places->file_count; i++)
		if (places->files[i].is_main)
			walk.main = &places->files[i];
	if (!walk.main)
		return;
	walk.callee = walk.last = places->clang->getTranslationUnitCursor(places->unit);
	places->clang->visitChildren(walk.callee, visit_outermost, &walk);
}
