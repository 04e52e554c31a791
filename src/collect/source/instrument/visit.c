/* The walk over the cursors of a file, which finds its functions and the probe points in them. */
#include <string.h>

#include "collect/source/instrument/exits.h"
#include "collect/source/instrument/lexing.h"
#include "collect/source/instrument/parts.h"
#include "collect/source/instrument/source_points.h"

static const size_t NOWHERE = SIZE_MAX;
static const size_t AGAIN = SIZE_MAX - 1; /* the function was visited before */

/* Returns the file of a declaration if it may be edited: the main file or, if headers are selected, a header of the
 * user. */
static struct source_points_file *file_of(struct source_points *points, CXSourceLocation location, uint32_t *offset)
{
	CXFile file = source_points_offset(points, location, offset);
	struct source_points_file *known = source_points_file(points, file);
	if (known || !file || !points->source->headers || points->clang->Location_isInSystemHeader(location))
		return known;
	return source_points_add_file(points, file, false);
}

struct walk {
	struct source_points *points;
	size_t function; /* in points->items: the function around the cursor; NOWHERE: none */
	CXCursor cursor; /* ... its canonical cursor */
};

static bool is_function(enum CXCursorKind kind)
{
	switch ((int)kind) {
	case CXCursor_FunctionDecl:
	case CXCursor_CXXMethod:
	case CXCursor_Constructor:
	case CXCursor_Destructor:
	case CXCursor_ConversionFunction:
	case CXCursor_FunctionTemplate:
	case CXCursor_LambdaExpr:
		return true;
	default:
		return false;
	}
}

/* Returns "ns::C<T>::f", or "outer::lambda". For a lambda `function` is the function that contains it. */
static const char *qualified_name(struct source_points *points, CXCursor cursor, size_t function)
{
	const struct clang *clang = points->clang;
	if (clang->getCursorKind(cursor) == CXCursor_LambdaExpr)
		return function == NOWHERE ? "lambda"
					   : instrument_arena_format(points->arena, "%s::lambda",
								     points->items[function].point.name);
	const char *name = clang_text(points->clang, points->arena, clang->getCursorSpelling(cursor));
	for (CXCursor parent = clang->getCursorSemanticParent(cursor);
	     points->words->is_cxx && !clang->isInvalid(clang->getCursorKind(parent)) &&
	     !clang->equalCursors(parent, clang->getTranslationUnitCursor(points->unit));
	     parent = clang->getCursorSemanticParent(parent)) {
		const char *outer = clang_text(points->clang, points->arena, clang->getCursorDisplayName(parent));
		if (is_function(clang->getCursorKind(parent)))
			outer = clang_text(points->clang, points->arena, clang->getCursorSpelling(parent));
		if (*outer)
			name = instrument_arena_format(points->arena, "%s::%s", outer, name ? name : "");
	}
	return name ? name : "";
}

/* Returns whether a function is a template or in one. Its instances have linker names, it has none. */
static bool is_template(const struct source_points *points, CXCursor cursor)
{
	const struct clang *clang = points->clang;
	for (; !clang->isInvalid(clang->getCursorKind(cursor)) &&
	       !clang->equalCursors(cursor, clang->getTranslationUnitCursor(points->unit));
	     cursor = clang->getCursorSemanticParent(cursor)) {
		int kind = clang->getCursorKind(cursor);
		if (kind == CXCursor_FunctionTemplate || kind == CXCursor_ClassTemplate ||
		    kind == CXCursor_ClassTemplatePartialSpecialization || kind == CXCursor_LambdaExpr)
			return true;
	}
	return false;
}

/* Returns the names of a function of C++ for the linker. A constructor or destructor has several. NULL: none. */
static const char *const *linker_names(struct source_points *points, CXCursor cursor)
{
	const struct clang *clang = points->clang;
	if (is_template(points, cursor))
		return NULL;
	CXStringSet *several = clang->Cursor_getCXXManglings(cursor);
	size_t count = several ? several->Count : 1;
	const char **names = instrument_arena_take(points->arena, (count + 1) * sizeof(*names));
	for (size_t i = 0; names && i < count; i++) {
		CXString name = several ? several->Strings[i] : clang->Cursor_getMangling(cursor);
		const char *text = clang->getCString(name);
		names[i] = instrument_arena_text(points->arena, text ? text : "", text ? strlen(text) : 0);
		if (!several)
			clang->disposeString(name);
		if (!names[i])
			names = NULL;
	}
	if (several)
		clang->disposeStringSet(several);
	return names;
}

/* Sets the names and places of a function that a selection may use. */
static void describe_names(const struct source_points_function *function, size_t outer)
{
	struct source_points *points = function->points;
	const struct clang *clang = points->clang;
	struct source_point *point = &function->item->point;
	int kind = clang->getCursorKind(function->cursor);
	point->name = qualified_name(points, function->cursor, outer);
	point->signature = clang_text(points->clang, points->arena, clang->getCursorDisplayName(function->cursor));
	if (points->needs_linker_names && points->words->is_cxx)
		point->linker_names = linker_names(points, function->cursor);
	if (kind == CXCursor_Constructor || kind == CXCursor_Destructor || kind == CXCursor_LambdaExpr)
		return;
	CXType result = clang->getCursorResultType(function->cursor);
	point->results[0] = clang_text(points->clang, points->arena, clang->getTypeSpelling(result));
	point->results[1] =
		clang_text(points->clang, points->arena, clang->getTypeSpelling(clang->getCanonicalType(result)));
}

/* Moves the insertion behind declarations that must come first in a block. */
static void move_behind_first(const struct source_points_function *function)
{
	struct source_point *point = &function->item->point;
	const char *text = function->file->text, *start = text + point->offset;
	const char *first = lexing_behind_first(start, text + point->end);
	for (const char *at = start; at < first; at++)
		point->line += *at == '\n';
	point->offset = (uint32_t)(first - text);
}

/* Sets the properties of a function itself; `skipped` is the reason if its body cannot be edited. */
static void describe(struct source_points_function *function, size_t outer)
{
	struct source_points *points = function->points;
	const struct clang *clang = points->clang;
	struct source_point *point = &function->item->point;
	point->kind = PROBE_FUNCTION;
	point->level = PROBE_LEVEL_FUNCTION;
	describe_names(function, outer);
	point->file = function->file->path;
	point->is_header = !function->file->is_main;
	point->is_cxx = points->words->is_cxx;
	point->is_inline = clang->Cursor_isFunctionInlined(function->cursor) != 0;
	point->is_always_inline = source_points_has_attribute(function, "always_inline");
	CXSourceLocation start = clang->getRangeStart(clang->getCursorExtent(function->body));
	CXSourceLocation end = clang->getRangeEnd(clang->getCursorExtent(function->body));
	unsigned line = 0, column = 0;
	clang->getFileLocation(start, NULL, &line, &column, NULL);
	point->line = line;
	point->column = column;
	clang->getFileLocation(end, NULL, &line, NULL, NULL);
	point->end_line = line;
	uint32_t end_offset = 0;
	bool same_file = source_points_offset(points, end, &end_offset) == function->file->file;
	uint32_t length = clang_is_in_macro(start) ? 0 : source_points_brace(function->file, function->open);
	point->offset = function->open + length;
	point->end = end_offset;
	clang->getFileLocation(clang->getCursorLocation(function->cursor), NULL, &line, NULL, NULL);
	function->item->name_line = line;
	if (!length)
		point->skipped = "its body comes from a macro";
	else if (!same_file || end_offset < point->offset || end_offset > function->file->size)
		point->skipped = "its body ends in another file";
	else
		move_behind_first(function);
}

/* Returns the declaration without its body. Only clang can expand the macros in it. */
static CXString print_declaration(const struct clang *clang, CXCursor cursor)
{
	CXPrintingPolicy policy = clang->getCursorPrintingPolicy(cursor);
	clang->PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);
	CXString printed = clang->getCursorPrettyPrinted(cursor, policy);
	clang->PrintingPolicy_dispose(policy);
	return printed;
}

/* Determines its kind and treatment. Returns false if the source has only `=
 * default`. */
static bool examine(struct source_points_function *function, size_t outer)
{
	const struct clang *clang = function->points->clang;
	CXString printed = print_declaration(clang, function->cursor);
	const char *text = clang->getCString(printed);
	function->declaration = text ? text : "";
	describe(function, outer);
	annotations_take(function);
	bool is_default = function->item->point.skipped && strstr(function->declaration, "= default");
	if (!function->item->point.skipped)
		treat_c(function);
	if (function->points->is_explicit)
		exits_describe(function);
	if (!function->item->point.skipped && function->points->words->is_cxx)
		treat_cxx(function);
	clang->disposeString(printed);
	return !is_default;
}

/* Adds a function that begins in one of our files but has its { ... } in an included one: it is not edited. */
static void take_elsewhere(struct source_points *points, CXCursor cursor, size_t outer)
{
	const struct clang *clang = points->clang;
	uint32_t start;
	CXSourceLocation location = clang->getCursorLocation(cursor);
	const struct source_points_file *file = file_of(points, location, &start);
	struct source_points_item *item = file ? source_points_add(points) : NULL;
	if (!item)
		return;
	item->file = (size_t)(file - points->files);
	item->function = points->item_count - 1;
	item->start = start;
	struct source_point *point = &item->point;
	point->kind = PROBE_FUNCTION;
	point->level = PROBE_LEVEL_FUNCTION;
	point->name = qualified_name(points, cursor, outer);
	point->signature = clang_text(points->clang, points->arena, clang->getCursorDisplayName(cursor));
	point->file = file->path;
	point->is_header = !file->is_main;
	point->is_cxx = points->words->is_cxx;
	unsigned line = 0, column = 0;
	clang->getFileLocation(location, NULL, &line, &column, NULL);
	point->line = point->end_line = item->name_line = line;
	point->column = column;
	point->offset = point->end = start;
	point->skipped = "its body is in another file";
}

/* Returns the item's number, AGAIN, or NOWHERE if the function has no body or its body is not in one of our files. */
static size_t take_function(struct source_points *points, CXCursor cursor, size_t outer)
{
	const struct clang *clang = points->clang;
	bool is_lambda = clang->getCursorKind(cursor) == CXCursor_LambdaExpr;
	if (!is_lambda && !clang->isCursorDefinition(cursor))
		return NOWHERE;
	struct source_points_function function = { .points = points, .cursor = cursor };
	if (!bodies_find(clang, cursor, &function.body))
		return NOWHERE;
	function.file = file_of(points, clang->getRangeStart(clang->getCursorExtent(function.body)), &function.open);
	if (!function.file) {
		take_elsewhere(points, cursor, outer);
		return NOWHERE;
	}
	CXFile file =
		source_points_offset(points, clang->getRangeStart(clang->getCursorExtent(cursor)), &function.start);
	if (file != function.file->file || function.start > function.open)
		function.start = function.open;
	size_t shared = NOWHERE;
	if (bodies_has_item(&function, &shared))
		return AGAIN;
	size_t index = points->item_count;
	function.item = source_points_add(points);
	if (!function.item)
		return NOWHERE;
	function.item->file = (size_t)(function.file - points->files);
	function.item->function = index;
	function.item->start = function.start;
	function.item->open = function.open;
	if (!examine(&function, outer)) {
		points->item_count--;
		return NOWHERE;
	}
	if (shared == NOWHERE)
		return index;
	points->items[index].is_shared = true;
	points->items[index].shared = shared;
	return AGAIN;
}

/* Whether each child of a cursor is a statement. */
static bool holds_statements(enum CXCursorKind kind)
{
	return kind == CXCursor_CompoundStmt || kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt ||
	       kind == CXCursor_LabelStmt;
}

static void take_call(struct source_points *points, struct source_points_item *function, CXCursor call)
{
	CXString spelling = points->clang->getCursorSpelling(call);
	const char *name = points->clang->getCString(spelling);
	function->returns_twice |= name && source_points_is_returning_twice(name);
	points->clang->disposeString(spelling);
}

struct last_call {
	const struct walk *walk;
	bool is_own;
};

/* Finds whether the last call of a returned expression is one of the function itself: through casts, parentheses
 * and both ends of ?:. */
static enum CXChildVisitResult find_last_call(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	struct last_call *last = data;
	const struct source_points *points = last->walk->points;
	const struct clang *clang = points->clang;
	enum CXCursorKind kind = clang->getCursorKind(cursor);
	if (kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr || kind == CXCursor_ConditionalOperator)
		return CXChildVisit_Recurse;
	if (kind == CXCursor_CallExpr)
		last->is_own |= clang->equalCursors(clang->getCanonicalCursor(clang->getCursorReferenced(cursor)),
						    last->walk->cursor) != 0;
	return CXChildVisit_Continue;
}

static void take_return(const struct walk *walk, CXCursor cursor)
{
	struct last_call last = { walk, false };
	struct source_points *points = walk->points;
	points->clang->visitChildren(cursor, find_last_call, &last);
	if (last.is_own)
		points->items[walk->function].point.warning =
			"it calls itself last: with an object the compiler cannot make a jump of that, and each call "
			"keeps its frame";
}

/* Processes a cursor in a function. */
static void take_within(const struct walk *walk, CXCursor cursor, CXCursor parent, enum CXCursorKind kind)
{
	struct source_points *points = walk->points;
	if (kind != CXCursor_CompoundStmt && holds_statements(points->clang->getCursorKind(parent)))
		points->items[walk->function].point.statements++;
	if (kind == CXCursor_CallExpr)
		take_call(points, &points->items[walk->function], cursor);
	else if (kind == CXCursor_ReturnStmt)
		take_return(walk, cursor);
	if (points->is_explicit)
		exits_take(points, walk->function, cursor, parent);
	if (points->level > PROBE_LEVEL_FUNCTION)
		statements_take(points, walk->function, cursor, parent);
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct walk *walk = data;
	struct source_points *points = walk->points;
	const struct clang *clang = points->clang;
	if (points->error)
		return CXChildVisit_Break;
	enum CXCursorKind kind = clang->getCursorKind(cursor);
	if (is_function(kind)) {
		size_t index = take_function(points, cursor, walk->function);
		if (index == AGAIN)
			return CXChildVisit_Continue;
		struct walk inner = *walk;
		if (index != NOWHERE)
			inner = (struct walk){ points, index, clang->getCanonicalCursor(cursor) };
		clang->visitChildren(cursor, visit, &inner);
		return CXChildVisit_Continue;
	}
	if (walk->function != NOWHERE)
		take_within(walk, cursor, parent, kind);
	return CXChildVisit_Recurse;
}

/* Visits a top-level cursor: most of them are in headers of the system. */
static enum CXChildVisitResult visit_outermost(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct walk *walk = data;
	struct source_points *points = walk->points;
	uint32_t offset;
	CXSourceLocation location = points->clang->getCursorLocation(cursor);
	if (!file_of(points, location, &offset))
		return points->error ? CXChildVisit_Break : CXChildVisit_Continue;
	if (visit(cursor, parent, data) == CXChildVisit_Recurse)
		points->clang->visitChildren(cursor, visit, data);
	return points->error ? CXChildVisit_Break : CXChildVisit_Continue;
}

int source_points_find(struct source_points *points)
{
	const char *path = points->source->path;
	CXFile file = points->clang->getFile(points->unit, path);
	if (!file || !source_points_add_file(points, file, true))
		return points->error ? points->error : ERROR_NOT_FOUND;
	struct walk walk = { .points = points, .function = NOWHERE };
	points->clang->visitChildren(points->clang->getTranslationUnitCursor(points->unit), visit_outermost, &walk);
	if (!points->words->is_clang)
		branches_take(points);
	return points->error ? points->error : instrument_arena_error(points->arena);
}
