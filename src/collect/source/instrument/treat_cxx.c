/*
 * The restrictions of C++.
 *
 *     constexpr             since C++14: an object without effect in the compiler (CPPROF_TOOL_CONSTEXPR_...)
 *     lambdas since C++17   the same: each of them is constexpr if possible
 *     consteval             never executed
 *     coroutines            not instrumented: a call in another thread, or at a later time, might destroy the object
 */
#include <string.h>

#include "collect/source/instrument/lexing.h"
#include "collect/source/instrument/source_points.h"

/* --- kinds of functions --- */

static bool is_lambda(const struct source_points_function *function)
{
	return function->points->clang->getCursorKind(function->cursor) == CXCursor_LambdaExpr;
}

/* Returns whether a function's declaration contains a word. libclang prints no declaration of a lambda; the text
 * between its `[` and `{` is searched instead. */
static bool is_declared(const struct source_points_function *function, const char *word)
{
	const char *text = function->declaration;
	if (is_lambda(function))
		return source_points_has_word(function->file, function->start, function->open, word);
	return lexing_find(text, text + strlen(text), word) != NULL;
}

static bool has_option(const struct instrument_source *source, const char *option)
{
	for (size_t i = 0; i < source->word_count; i++)
		if (strcmp(source->words[i], option) == 0)
			return true;
	return false;
}

/* Returns whether the compiler may evaluate it. */
static bool may_be_constant(const struct source_points_function *function)
{
	if (is_lambda(function))
		return function->points->words->standard >= 17;
	return is_declared(function, "constexpr") ||
	       (function->item->point.is_inline && has_option(function->points->source, "-fimplicit-constexpr"));
}

/* --- coroutines --- */

struct nested_search {
	const struct source_points *points;
	CXFile file;
	uint32_t offset;
	bool is_nested;
};

static bool has_body_of_its_own(enum CXCursorKind kind)
{
	return kind == CXCursor_LambdaExpr || kind == CXCursor_CXXMethod || kind == CXCursor_Constructor ||
	       kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction || kind == CXCursor_FunctionTemplate;
}

static enum CXChildVisitResult find_nested(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	struct nested_search *search = data;
	const struct clang *clang = search->points->clang;
	if (!has_body_of_its_own(clang->getCursorKind(cursor)))
		return CXChildVisit_Recurse;
	CXSourceRange extent = clang->getCursorExtent(cursor);
	uint32_t start, end;
	CXFile file = source_points_offset(search->points, clang->getRangeStart(extent), &start);
	source_points_offset(search->points, clang->getRangeEnd(extent), &end);
	search->is_nested = file == search->file && start <= search->offset && search->offset < end;
	return search->is_nested ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* Returns whether a probe point in a function's body is in another function
 * that is defined there. */
static bool is_nested(const struct source_points_function *function, uint32_t offset)
{
	struct nested_search search = { function->points, function->file->file, offset, false };
	function->points->clang->visitChildren(function->body, find_nested, &search);
	return search.is_nested;
}

static bool is_coroutine(const struct source_points_function *function)
{
	static const char *const words[] = { "co_await", "co_yield", "co_return" };
	const char *text = function->file->text;
	const char *end = text + function->item->point.end;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *found = lexing_find(text + function->open, end, words[i]);
		for (; found; found = lexing_find(found + strlen(words[i]), end, words[i]))
			if (!is_nested(function, (uint32_t)(found - text)))
				return true;
	}
	return false;
}

/* --- lambdas in unevaluated operands --- */

/* Returns whether `word` is the word that ends before `end`, after blanks. */
static bool ends_with_word(const char *start, const char *end, const char *word)
{
	size_t size = strlen(word);
	while (end > start && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\n' || end[-1] == '\r'))
		end--;
	return (size_t)(end - start) >= size && memcmp(end - size, word, size) == 0;
}

static bool is_unevaluated(const char *start, const char *parenthesis)
{
	static const char *const words[] = { "decltype", "sizeof", "noexcept", "alignof", "typeof", "__typeof__" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (ends_with_word(start, parenthesis, words[i]))
			return true;
	return false;
}

/* Returns whether an offset is within decltype(...) and similar, or within template <...>: there gcc accepts no
 * class with a body. Searches back over the longest possible statement; in doubt a lambda is not instrumented. */
static bool takes_no_classes(const struct source_points_file *file, uint32_t offset)
{
	const char *start = file->text;
	int parentheses = 0, angles = 0;
	for (const char *at = start + offset; at > start; at--) {
		char byte = at[-1];
		if (byte == ';' || byte == '{' || byte == '}')
			return false;
		if (byte == ')') {
			parentheses++;
		} else if (byte == '(') {
			if (parentheses == 0 && is_unevaluated(start, at - 1))
				return true;
			parentheses -= parentheses > 0;
		} else if (byte == '>' && (at < start + 2 || at[-2] != '-')) {
			angles++;
		} else if (byte == '<') {
			if (angles == 0 && ends_with_word(start, at - 1, "template"))
				return true;
			angles -= angles > 0;
		}
	}
	return false;
}

/* --- classes with cpprof_enter and cpprof_leave --- */

struct member_search {
	const struct source_points *points;
	bool enter, leave, is_const;
	bool is_base; /* the function has no access to private members */
};

static enum CXChildVisitResult find_members(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	struct member_search *search = data;
	const struct clang *clang = search->points->clang;
	enum CXCursorKind kind = clang->getCursorKind(cursor);
	if (kind == CXCursor_CXXBaseSpecifier) {
		CXCursor base = clang->getTypeDeclaration(clang->getCursorType(cursor));
		struct member_search inner = { search->points, false, false, true, true };
		clang->visitChildren(base, find_members, &inner);
		if (inner.enter && inner.leave && !search->enter && !search->leave)
			search->enter = search->leave = true, search->is_const = inner.is_const;
	}
	if (kind != CXCursor_CXXMethod || (search->is_base && clang->getCXXAccessSpecifier(cursor) == CX_CXXPrivate))
		return CXChildVisit_Continue;
	CXString spelling = clang->getCursorSpelling(cursor);
	const char *name = clang->getCString(spelling);
	bool is_enter = name && strcmp(name, "cpprof_enter") == 0;
	bool is_leave = name && strcmp(name, "cpprof_leave") == 0;
	clang->disposeString(spelling);
	search->enter |= is_enter;
	search->leave |= is_leave;
	if (is_enter || is_leave)
		search->is_const &= clang->CXXMethod_isConst(cursor) || clang->CXXMethod_isStatic(cursor);
	return CXChildVisit_Continue;
}

static bool is_of_an_object(const struct source_points_function *function, enum CXCursorKind kind)
{
	const struct clang *clang = function->points->clang;
	if (kind == CXCursor_FunctionTemplate)
		kind = clang->getTemplateCursorKind(function->cursor);
	return kind == CXCursor_Constructor || kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction ||
	       (kind == CXCursor_CXXMethod && !clang->CXXMethod_isStatic(function->cursor));
}

/* A class has cpprof_enter and cpprof_leave: its other functions call them. */
static void call_members(const struct source_points_function *function)
{
	const struct clang *clang = function->points->clang;
	struct source_point *point = &function->item->point;
	if (!is_of_an_object(function, clang->getCursorKind(function->cursor)))
		return;
	struct member_search search = { function->points, false, false, true, false };
	clang->visitChildren(clang->getCursorSemanticParent(function->cursor), find_members, &search);
	if (!search.enter || !search.leave)
		return;
	if (function->item->variant)
		point->warning =
			"cpprof_enter is not called: its object may be a constant, or is compiled by other rules";
	else if ((clang->CXXMethod_isConst(function->cursor) && !search.is_const) || is_declared(function, "volatile"))
		point->warning = "cpprof_enter is not called: it would have to be const, as this function is";
	else
		function->item->also = "CPPROF_TOOL_MEMBER";
}

/* --- the whole --- */

static const char *why_not(const struct source_points_function *function)
{
	static const char enter[] = "cpprof_enter", leave[] = "cpprof_leave";
	int standard = function->points->words->standard;
	const char *name = function->item->point.name;
	size_t size = strlen(name);
	if (is_declared(function, "consteval"))
		return "consteval: it never runs";
	if (may_be_constant(function) && standard < 14)
		return "constexpr before C++14: it must be one return";
	if (may_be_constant(function) && function->item->variant)
		return "constexpr, and compiled by other rules";
	if (is_coroutine(function))
		return "a coroutine: an object would live while it is suspended";
	if (is_lambda(function) && standard >= 20 && takes_no_classes(function->file, function->start))
		return "a lambda of which only the type is wanted";
	if (size >= sizeof(enter) &&
	    (strcmp(name + size - strlen(enter), enter) == 0 || strcmp(name + size - strlen(leave), leave) == 0))
		return "the Profiler calls it";
	return NULL;
}

void treat_cxx(const struct source_points_function *function)
{
	struct source_point *point = &function->item->point;
	point->skipped = why_not(function);
	if (point->skipped)
		return;
	if (may_be_constant(function))
		function->item->variant = "CONSTEXPR_";
	call_members(function);
}

bool treat_cxx_is_module(const struct source_points_file *file)
{
	const char *end = file->text + file->size;
	struct lexing_token first = lexing_next(file->text, end);
	struct lexing_token second = lexing_next(first.start + first.size, end);
	return (lexing_is(&first, "module") && lexing_is(&second, ";")) ||
	       (lexing_is(&first, "export") && lexing_is(&second, "module"));
}
