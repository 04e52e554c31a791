#include "collect/source/instrument/source_points.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/source/instrument/annotations.h"
#include "collect/source/instrument/bodies.h"
#include "collect/source/instrument/branches.h"
#include "collect/source/instrument/exits.h"
#include "collect/source/instrument/lexing.h"
#include "collect/source/instrument/statements.h"

static const size_t NOWHERE = SIZE_MAX;
static const size_t AGAIN = SIZE_MAX - 1; /* it has been seen */

/* --- files --- */

CXFile places_offset(const struct places *places, CXSourceLocation location, uint32_t *offset)
{
	CXFile file = NULL;
	unsigned at = 0;
	places->clang->getFileLocation(location, &file, NULL, NULL, &at);
	*offset = at;
	return file;
}

static struct places_file *add_file(struct places *places, CXFile file, bool is_main)
{
	size_t size = 0;
	const char *text = places->clang->getFileContents(places->unit, file, &size);
	CXString name = places->clang->getFileName(file);
	const char *path = places->clang->getCString(name);
	const char *kept = text && path ? instrument_arena_text(places->arena, path, strlen(path)) : NULL;
	places->clang->disposeString(name);
	if (!text)
		return NULL;
	if (!kept || ARRAY_RESERVE(places->files, places->file_capacity, places->file_count + 1)) {
		places->error = ERROR_MEMORY;
		return NULL;
	}
	struct places_file *added = &places->files[places->file_count++];
	*added = (struct places_file){ .file = file, .path = kept, .text = text, .size = size, .is_main = is_main };
	added->has_annotations =
		memmem(text, size, "cpprof:", strlen("cpprof:")) || memmem(text, size, "CPPROF_", strlen("CPPROF_"));
	added->has_resolvers = memmem(text, size, "ifunc", strlen("ifunc")) != NULL;
	edits_init(&added->edits);
	return added;
}

struct places_file *places_file(struct places *places, CXFile file)
{
	if (!file)
		return NULL;
	for (size_t i = places->file_count; i-- > 0;)
		if (places->files[i].file == file)
			return &places->files[i];
	return NULL;
}

/* The file of a declaration: the main file, or where those are wanted a header of the user's. */
static struct places_file *file_of(struct places *places, CXSourceLocation location, uint32_t *offset)
{
	CXFile file = places_offset(places, location, offset);
	struct places_file *known = places_file(places, file);
	if (known || !file || !places->source->headers || places->clang->Location_isInSystemHeader(location))
		return known;
	return add_file(places, file, false);
}

void places_release(struct places *places)
{
	for (size_t i = 0; i < places->file_count; i++) {
		edits_release(&places->files[i].edits);
		free(places->files[i].errors);
	}
	free(places->files);
	free(places->items);
	free(places->returns);
	places->files = NULL;
	places->returns = NULL;
	places->return_count = places->return_capacity = 0;
	places->items = NULL;
	places->file_count = places->item_count = 0;
}

/* --- functions --- */

struct walk {
	struct places *places;
	size_t function; /* in places->items: the one that the cursor is in; NOWHERE */
	CXCursor cursor; /* ... itself, canonical */
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

static const char *keep(struct places *places, CXString string)
{
	const char *text = places->clang->getCString(string);
	const char *kept = instrument_arena_text(places->arena, text ? text : "", text ? strlen(text) : 0);
	places->clang->disposeString(string);
	return kept ? kept : "";
}

/* "ns::C<T>::f", "outer::lambda". Of a lambda `function` is what it stands in. */
static const char *qualified_name(struct places *places, CXCursor cursor, size_t function)
{
	const struct clang *clang = places->clang;
	if (clang->getCursorKind(cursor) == CXCursor_LambdaExpr)
		return function == NOWHERE ? "lambda"
					   : instrument_arena_format(places->arena, "%s::lambda",
								     places->items[function].place.name);
	const char *name = keep(places, clang->getCursorSpelling(cursor));
	for (CXCursor parent = clang->getCursorSemanticParent(cursor);
	     places->words->is_cxx && !clang->isInvalid(clang->getCursorKind(parent)) &&
	     !clang->equalCursors(parent, clang->getTranslationUnitCursor(places->unit));
	     parent = clang->getCursorSemanticParent(parent)) {
		const char *outer = keep(places, clang->getCursorDisplayName(parent));
		if (is_function(clang->getCursorKind(parent)))
			outer = keep(places, clang->getCursorSpelling(parent));
		if (*outer)
			name = instrument_arena_format(places->arena, "%s::%s", outer, name ? name : "");
	}
	return name ? name : "";
}

struct places_item *places_add(struct places *places)
{
	if (ARRAY_RESERVE(places->items, places->item_capacity, places->item_count + 1)) {
		places->error = ERROR_MEMORY;
		return NULL;
	}
	struct places_item *item = &places->items[places->item_count++];
	memset(item, 0, sizeof(*item));
	return item;
}

/* Some things have to stand before any declaration. */
static void go_behind_first(const struct places_function *function)
{
	struct instrument_place *place = &function->item->place;
	const char *text = function->file->text, *start = text + place->offset;
	const char *first = lexing_behind_first(start, text + place->end);
	for (const char *at = start; at < first; at++)
		place->line += *at == '\n';
	place->offset = (uint32_t)(first - text);
}

/* What is known of a function by itself; its `skipped` says where its body cannot be edited at all. */
static void describe(struct places_function *function, size_t outer)
{
	struct places *places = function->places;
	const struct clang *clang = places->clang;
	struct instrument_place *place = &function->item->place;
	place->kind = INSTRUMENT_FUNCTION;
	place->level = INSTRUMENT_LEVEL_FUNCTION;
	place->name = qualified_name(places, function->cursor, outer);
	place->signature = keep(places, clang->getCursorDisplayName(function->cursor));
	place->file = function->file->path;
	place->is_header = !function->file->is_main;
	place->is_cxx = places->words->is_cxx;
	place->is_inline = clang->Cursor_isFunctionInlined(function->cursor) != 0;
	place->is_always_inline = places_has_attribute(function, "always_inline");
	CXSourceLocation start = clang->getRangeStart(clang->getCursorExtent(function->body));
	CXSourceLocation end = clang->getRangeEnd(clang->getCursorExtent(function->body));
	unsigned line = 0, column = 0;
	clang->getFileLocation(start, NULL, &line, &column, NULL);
	place->line = line;
	place->column = column;
	clang->getFileLocation(end, NULL, &line, NULL, NULL);
	place->end_line = line;
	uint32_t end_offset = 0;
	bool same_file = places_offset(places, end, &end_offset) == function->file->file;
	uint32_t length = clang_is_in_macro(start) ? 0 : places_brace(function->file, function->open);
	place->offset = function->open + length;
	place->end = end_offset;
	clang->getFileLocation(clang->getCursorLocation(function->cursor), NULL, &line, NULL, NULL);
	function->item->name_line = line;
	if (!length)
		place->skipped = "its body comes from a macro";
	else if (!same_file || end_offset < place->offset || end_offset > function->file->size)
		place->skipped = "its body ends in another file";
	else
		go_behind_first(function);
}

/* As it is declared, without its body. What a macro stands for, clang alone knows. */
static CXString print_declaration(const struct clang *clang, CXCursor cursor)
{
	CXPrintingPolicy policy = clang->getCursorPrintingPolicy(cursor);
	clang->PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);
	CXString printed = clang->getCursorPrettyPrinted(cursor, policy);
	clang->PrintingPolicy_dispose(policy);
	return printed;
}

/* What it is, and what can be done about it. False: `= default` is all that is written of it. */
static bool examine(struct places_function *function, size_t outer)
{
	const struct clang *clang = function->places->clang;
	CXString printed = print_declaration(clang, function->cursor);
	const char *text = clang->getCString(printed);
	function->declaration = text ? text : "";
	describe(function, outer);
	annotations_take(function);
	bool is_default = function->item->place.skipped && strstr(function->declaration, "= default");
	if (!function->item->place.skipped)
		treat_c(function);
	if (function->places->is_explicit)
		exits_describe(function);
	if (!function->item->place.skipped && function->places->words->is_cxx)
		treat_cxx(function);
	clang->disposeString(printed);
	return !is_default;
}

/* Of a function that is begun in one of our files: { ... } is in one that is included, and not edited. */
static void take_elsewhere(struct places *places, CXCursor cursor, size_t outer)
{
	const struct clang *clang = places->clang;
	uint32_t start;
	CXSourceLocation location = clang->getCursorLocation(cursor);
	const struct places_file *file = file_of(places, location, &start);
	struct places_item *item = file ? places_add(places) : NULL;
	if (!item)
		return;
	item->file = (size_t)(file - places->files);
	item->function = places->item_count - 1;
	item->start = start;
	struct instrument_place *place = &item->place;
	place->kind = INSTRUMENT_FUNCTION;
	place->level = INSTRUMENT_LEVEL_FUNCTION;
	place->name = qualified_name(places, cursor, outer);
	place->signature = keep(places, clang->getCursorDisplayName(cursor));
	place->file = file->path;
	place->is_header = !file->is_main;
	place->is_cxx = places->words->is_cxx;
	unsigned line = 0, column = 0;
	clang->getFileLocation(location, NULL, &line, &column, NULL);
	place->line = place->end_line = item->name_line = line;
	place->column = column;
	place->offset = place->end = start;
	place->skipped = "its body is in another file";
}

/* The item's number; AGAIN; NOWHERE: it has no body, or one that is none of ours. */
static size_t take_function(struct places *places, CXCursor cursor, size_t outer)
{
	const struct clang *clang = places->clang;
	bool is_lambda = clang->getCursorKind(cursor) == CXCursor_LambdaExpr;
	if (!is_lambda && !clang->isCursorDefinition(cursor))
		return NOWHERE;
	struct places_function function = { .places = places, .cursor = cursor };
	if (!bodies_find(clang, cursor, &function.body))
		return NOWHERE;
	function.file = file_of(places, clang->getRangeStart(clang->getCursorExtent(function.body)), &function.open);
	if (!function.file) {
		take_elsewhere(places, cursor, outer);
		return NOWHERE;
	}
	CXFile file = places_offset(places, clang->getRangeStart(clang->getCursorExtent(cursor)), &function.start);
	if (file != function.file->file || function.start > function.open)
		function.start = function.open;
	size_t shared = NOWHERE;
	if (bodies_is_known(&function, &shared))
		return AGAIN;
	size_t index = places->item_count;
	function.item = places_add(places);
	if (!function.item)
		return NOWHERE;
	function.item->file = (size_t)(function.file - places->files);
	function.item->function = index;
	function.item->start = function.start;
	function.item->open = function.open;
	function.item->is_template = clang->getCursorKind(cursor) == CXCursor_FunctionTemplate;
	if (!examine(&function, outer)) {
		places->item_count--;
		return NOWHERE;
	}
	if (shared == NOWHERE)
		return index;
	places->items[index].is_shared = true;
	places->items[index].shared = shared;
	return AGAIN;
}

/* A statement's parent: each of its children is one. */
static bool holds_statements(enum CXCursorKind kind)
{
	return kind == CXCursor_CompoundStmt || kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt ||
	       kind == CXCursor_LabelStmt;
}

bool places_is_returning_twice(const char *name)
{
	static const char *const names[] = { "setjmp",      "_setjmp", "__builtin_setjmp", "sigsetjmp",
					     "__sigsetjmp", "vfork",   "getcontext" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void take_call(struct places *places, struct places_item *function, CXCursor call)
{
	CXString spelling = places->clang->getCursorSpelling(call);
	const char *name = places->clang->getCString(spelling);
	function->returns_twice |= name && places_is_returning_twice(name);
	places->clang->disposeString(spelling);
}

struct last_call {
	const struct walk *walk;
	bool is_own;
};

/* Of what is returned, the call that is made last: through casts, parentheses and both ends of ?:. */
static enum CXChildVisitResult find_last_call(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	struct last_call *last = data;
	const struct places *places = last->walk->places;
	const struct clang *clang = places->clang;
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
	struct places *places = walk->places;
	places->clang->visitChildren(cursor, find_last_call, &last);
	if (last.is_own)
		places->items[walk->function].place.warning =
			"it calls itself last: with an object the compiler cannot make a jump of that, and each call "
			"keeps its frame";
}

/* Something in a function. */
static void take_within(const struct walk *walk, CXCursor cursor, CXCursor parent, enum CXCursorKind kind)
{
	struct places *places = walk->places;
	if (kind != CXCursor_CompoundStmt && holds_statements(places->clang->getCursorKind(parent)))
		places->items[walk->function].place.statements++;
	if (kind == CXCursor_CallExpr)
		take_call(places, &places->items[walk->function], cursor);
	else if (kind == CXCursor_ReturnStmt)
		take_return(walk, cursor);
	if (places->is_explicit)
		exits_take(places, walk->function, cursor, parent);
	if (places->level > INSTRUMENT_LEVEL_FUNCTION)
		statements_take(places, walk->function, cursor, parent);
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct walk *walk = data;
	struct places *places = walk->places;
	const struct clang *clang = places->clang;
	if (places->error)
		return CXChildVisit_Break;
	enum CXCursorKind kind = clang->getCursorKind(cursor);
	if (is_function(kind)) {
		size_t index = take_function(places, cursor, walk->function);
		if (index == AGAIN)
			return CXChildVisit_Continue;
		struct walk inner = *walk;
		if (index != NOWHERE)
			inner = (struct walk){ places, index, clang->getCanonicalCursor(cursor) };
		clang->visitChildren(cursor, visit, &inner);
		return CXChildVisit_Continue;
	}
	if (walk->function != NOWHERE)
		take_within(walk, cursor, parent, kind);
	return CXChildVisit_Recurse;
}

/* Of what stands outside of everything: most of it is in headers of the system. */
static enum CXChildVisitResult visit_outermost(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct walk *walk = data;
	struct places *places = walk->places;
	uint32_t offset;
	CXSourceLocation location = places->clang->getCursorLocation(cursor);
	if (!file_of(places, location, &offset))
		return places->error ? CXChildVisit_Break : CXChildVisit_Continue;
	if (visit(cursor, parent, data) == CXChildVisit_Recurse)
		places->clang->visitChildren(cursor, visit, data);
	return places->error ? CXChildVisit_Break : CXChildVisit_Continue;
}

int places_find(struct places *places)
{
	const char *path = places->source->path;
	CXFile file = places->clang->getFile(places->unit, path);
	if (!file || !add_file(places, file, true))
		return places->error ? places->error : ERROR_NOT_FOUND;
	struct walk walk = { .places = places, .function = NOWHERE };
	places->clang->visitChildren(places->clang->getTranslationUnitCursor(places->unit), visit_outermost, &walk);
	if (!places->words->is_clang)
		branches_take(places);
	return places->error ? places->error : instrument_arena_error(places->arena);
}

/* --- words --- */

bool places_has_word(const struct places_file *file, uint32_t start, uint32_t end, const char *word)
{
	if (end > file->size)
		end = (uint32_t)file->size;
	return start < end && lexing_find(file->text + start, file->text + end, word);
}

bool places_has_attribute(const struct places_function *function, const char *name)
{
	const char *text = function->file->text;
	return lexing_has_attribute(function->declaration, function->declaration + strlen(function->declaration),
				    name) ||
	       lexing_has_attribute(text + function->start, text + function->open, name);
}
