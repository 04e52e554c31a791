#include "collect/source/instrument/parts.h"

#include <ctype.h>
#include <string.h>

#include "collect/source/instrument/lexing.h"

static const size_t NONE = SIZE_MAX;

/* --- the kind of a statement, and its position --- */

/* A statement and its position in its file. */
struct statement {
	struct source_points *points;
	const struct source_points_file *file;
	size_t function;
	CXCursor cursor;
	enum CXCursorKind kind, parent_kind;
	CXCursor parent;
	uint32_t start, end; /* in bytes; end: behind its `;` or `}`; 0: unclear */
	const char *doubt;   /* why no braces can be put around it; NULL: they can */
	bool is_loose;       /* its label is a whole branch: if (x) here: f(); */
};

static bool is_loop(enum CXCursorKind kind)
{
	return kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt ||
	       kind == CXCursor_CXXForRangeStmt;
}

static bool is_label(enum CXCursorKind kind)
{
	return kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt || kind == CXCursor_LabelStmt;
}

/* Whether a child of the statement may be a branch without braces. */
static bool is_branching(enum CXCursorKind kind)
{
	return is_loop(kind) || kind == CXCursor_IfStmt || kind == CXCursor_SwitchStmt;
}

/* Whether a position is behind the keyword's parentheses or, for `do`, before them, and not inside. */
static bool is_outside_parentheses(const struct source_points_file *file, uint32_t start, uint32_t at)
{
	const char *end = file->text + at;
	int depth = 0;
	for (struct lexing_token token = lexing_next(file->text + start, end); token.size;
	     token = lexing_next(token.start + token.size, end))
		if (!token.is_word)
			depth += (*token.start == '(') - (*token.start == ')');
	return depth == 0;
}

/* Returns whether it is a statement, and not the expression in an `if`. */
static bool is_in_statement_position(const struct statement *statement)
{
	if (statement->parent_kind == CXCursor_CompoundStmt || is_label(statement->parent_kind))
		return true;
	if (!is_branching(statement->parent_kind))
		return false;
	const struct source_points *points = statement->points;
	CXSourceLocation begin = points->clang->getRangeStart(points->clang->getCursorExtent(statement->parent));
	uint32_t start;
	if (clang_is_in_macro(begin) || source_points_offset(points, begin, &start) != statement->file->file)
		return false;
	return is_outside_parentheses(statement->file, start, statement->start);
}

/* Returns whether a `#` begins a directive: it is the first character of its
 * line. */
static bool is_directive(const struct source_points_file *file, const char *at)
{
	while (at > file->text && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at == file->text || at[-1] == '\n';
}

/* Returns whether the same branches of `#if` are open at its end as at its
 * beginning. */
static bool has_whole_conditionals(const struct source_points_file *file, uint32_t start, uint32_t end)
{
	const char *stop = file->text + end;
	if (!memchr(file->text + start, '#', end - start))
		return true;
	int depth = 0;
	for (struct lexing_token token = lexing_next(file->text + start, stop); token.size;
	     token = lexing_next(token.start + token.size, stop)) {
		if (*token.start != '#' || !is_directive(file, token.start))
			continue;
		token = lexing_next(token.start + 1, stop);
		if (token.size >= 2 && memcmp(token.start, "if", 2) == 0)
			depth++;
		else if (lexing_is(&token, "endif"))
			depth--;
		else if (token.size >= 2 && memcmp(token.start, "el", 2) == 0 && depth == 0)
			return false;
		if (depth < 0 || !token.size)
			return depth == 0;
	}
	return depth == 0;
}

/* Returns the position behind its `;` or `}`, or 0 if that is unclear. `end` is clang's end, which excludes most
 * `;`. */
static uint32_t find_end(const struct source_points_file *file, uint32_t end)
{
	char last = file->text[end - 1];
	if (last == ';')
		return end;
	struct lexing_token next = lexing_next(file->text + end, file->text + file->size);
	if (next.size && *next.start == ';')
		return (uint32_t)(next.start + 1 - file->text);
	return last == '}' || (last == '>' && end > 1 && file->text[end - 2] == '%') ? end : 0;
}

/* Sets `start`, `end` and `doubt`. Returns false if the statement is in another file, or its position is unknown. */
static bool find_extent(struct statement *statement)
{
	const struct source_points *points = statement->points;
	const struct source_points_file *file = statement->file;
	CXSourceRange extent = points->clang->getCursorExtent(statement->cursor);
	CXSourceLocation start = points->clang->getRangeStart(extent), end = points->clang->getRangeEnd(extent);
	uint32_t end_offset = 0;
	if (source_points_offset(points, start, &statement->start) != file->file)
		return false;
	if (clang_is_in_macro(start)) {
		statement->doubt = "it begins in a macro";
		return true;
	}
	if (clang_is_in_macro(end) || source_points_offset(points, end, &end_offset) != file->file ||
	    end_offset <= statement->start || end_offset > file->size) {
		statement->doubt = "it ends in a macro";
		return true;
	}
	statement->end = find_end(file, end_offset);
	if (!statement->end)
		statement->doubt = "it is not clear where it ends";
	if (!statement->doubt && !has_whole_conditionals(file, statement->start, statement->end))
		statement->doubt = "an #if begins or ends in it";
	return true;
}

static uint32_t begin_of(const struct source_points *points, CXCursor cursor)
{
	uint32_t start;
	source_points_offset(points, points->clang->getRangeStart(points->clang->getCursorExtent(cursor)), &start);
	return start;
}

/* Records a label that is a whole branch, or that follows such a label. Returns whether the statement follows one. */
static bool take_label(const struct statement *statement)
{
	struct source_points *points = statement->points;
	bool is_behind = is_label(statement->parent_kind) && begin_of(points, statement->parent) == points->loose_label;
	if (is_label(statement->kind))
		points->loose_label = is_behind || is_branching(statement->parent_kind)
					      ? begin_of(points, statement->cursor)
					      : UINT32_MAX;
	return is_behind;
}

/* Returns the number of blanks at the start of the line, or NONE if other text precedes `at` on it. */
static size_t indentation(const struct source_points_file *file, const char *at)
{
	size_t blanks = 0;
	while (at - blanks > file->text && (at[-1 - (ptrdiff_t)blanks] == ' ' || at[-1 - (ptrdiff_t)blanks] == '\t'))
		blanks++;
	return at - blanks == file->text || at[-1 - (ptrdiff_t)blanks] == '\n' ? blanks : NONE;
}

/* Returns whether the indentation of the following text suggests that it belongs to the branch. Compilers warn of
 * that, but not if the branch has braces. */
static bool is_misleading(const struct statement *statement)
{
	const struct source_points_file *file = statement->file;
	if (!is_branching(statement->parent_kind) || statement->parent_kind == CXCursor_DoStmt ||
	    statement->kind == CXCursor_CompoundStmt || !statement->end)
		return false;
	const char *own = file->text + statement->start, *end = file->text + statement->end;
	struct lexing_token next = lexing_next(end, file->text + file->size);
	if (!next.size || *next.start == '}' || *next.start == '#' || lexing_is(&next, "else"))
		return false;
	if (!memchr(end, '\n', (size_t)(next.start - end)))
		return true;
	size_t blanks = indentation(file, own);
	return blanks != NONE && blanks == indentation(file, next.start) &&
	       memcmp(own - blanks, next.start - blanks, blanks) == 0;
}

/* Returns whether it is the last statement of ({ ... }), which is its value. */
static bool is_value(const struct statement *statement)
{
	if (statement->parent_kind != CXCursor_CompoundStmt || !statement->end)
		return false;
	const char *text = statement->file->text, *end = text + statement->file->size;
	uint32_t open = begin_of(statement->points, statement->parent);
	while (open > 0 && open < statement->start && isspace((unsigned char)text[open - 1]))
		open--;
	if (open == 0 || text[open - 1] != '(')
		return false;
	struct lexing_token next = lexing_next(text + statement->end, end);
	return next.size && (*next.start == '}' || *next.start == '%' || *next.start == '?');
}

/* --- the content of a statement --- */

struct contents {
	const struct source_points *points;
	int switches; /* depth of switches around the cursor */
	bool has_call, has_label, returns_twice, has_compound_literal;
	char callee[128]; /* name of the first called function; "": it has none */
};

static void take_call(struct contents *contents, CXCursor cursor)
{
	const struct clang *clang = contents->points->clang;
	CXString spelling = clang->getCursorSpelling(cursor);
	const char *name = clang->getCString(spelling);
	if (!contents->has_call)
		snprintf(contents->callee, sizeof(contents->callee), "%s", name ? name : "");
	contents->has_call = true;
	contents->returns_twice |= name && source_points_is_returning_twice(name);
	clang->disposeString(spelling);
}

static enum CXChildVisitResult inspect(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	struct contents *contents = data;
	const struct clang *clang = contents->points->clang;
	enum CXCursorKind kind = clang->getCursorKind(cursor);
	if (kind == CXCursor_LambdaExpr)
		return CXChildVisit_Continue;
	if (kind == CXCursor_CallExpr)
		take_call(contents, cursor);
	contents->has_compound_literal |= kind == CXCursor_CompoundLiteralExpr;
	contents->has_label |= kind == CXCursor_LabelStmt ||
			       (contents->switches == 0 && (kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt));
	if (kind == CXCursor_SwitchStmt) {
		contents->switches++;
		clang->visitChildren(cursor, inspect, contents);
		contents->switches--;
		return CXChildVisit_Continue;
	}
	return CXChildVisit_Recurse;
}

static struct contents inspect_contents(const struct statement *statement)
{
	struct contents contents = { .points = statement->points };
	const struct clang *clang = statement->points->clang;
	if (statement->kind == CXCursor_CallExpr)
		take_call(&contents, statement->cursor);
	contents.switches = statement->kind == CXCursor_SwitchStmt;
	clang->visitChildren(statement->cursor, inspect, &contents);
	return contents;
}

static const char *reason_against(const struct statement *statement, const struct contents *contents)
{
	if (statement->doubt)
		return statement->doubt;
	if (contents->has_label)
		return "a jump may lead into it";
	if (contents->returns_twice)
		return "it calls a function that returns twice, as setjmp does";
	if (contents->has_compound_literal && !statement->points->words->is_cxx)
		return "its compound literals must outlive it";
	return NULL;
}

/* --- probe points --- */

static struct source_points_item *add(const struct statement *statement, enum probe_kind kind, const char *what)
{
	struct source_points *points = statement->points;
	struct source_points_item *item = source_points_add(points);
	if (!item)
		return NULL;
	const struct source_points_item *function = &points->items[statement->function];
	struct source_point *point = &item->point;
	unsigned line = 0, column = 0;
	points->clang->getFileLocation(points->clang->getRangeStart(points->clang->getCursorExtent(statement->cursor)),
				       NULL, &line, &column, NULL);
	*point = function->point;
	point->skipped = point->warning = point->mistake = point->hook = NULL;
	point->kind = kind;
	point->level = kind == PROBE_LOOP   ? PROBE_LEVEL_LOOP
		       : kind == PROBE_CALL ? PROBE_LEVEL_CALL
					    : PROBE_LEVEL_BLOCK;
	point->line = line;
	point->column = column;
	point->offset = statement->start;
	point->end = statement->end;
	item->own_name = instrument_arena_format(points->arena, "%s at %u", what, line);
	point->name = instrument_arena_format(points->arena, "%s: %s", function->point.name,
					      item->own_name ? item->own_name : "");
	item->name_line = line;
	item->file = function->file;
	item->function = statement->function;
	item->is_wrapped = true;
	point->skipped = statement->doubt;
	return item;
}

static void take_loop(const struct statement *statement)
{
	struct contents contents = inspect_contents(statement);
	struct source_points_item *item = add(statement, PROBE_LOOP, "loop");
	if (item)
		item->point.skipped = reason_against(statement, &contents);
}

/* Adds an expression, `return` or declaration that contains a call. */
static void take_call_statement(const struct statement *statement)
{
	struct contents contents = inspect_contents(statement);
	if (!contents.has_call)
		return;
	char what[160];
	snprintf(what, sizeof(what), contents.callee[0] ? "call of %s" : "call%s", contents.callee);
	struct source_points_item *item = add(statement, PROBE_CALL, what);
	if (!item)
		return;
	item->point.skipped = reason_against(statement, &contents);
	if (!item->point.skipped && is_value(statement))
		item->point.skipped = "it is the value of an expression";
	if (statement->kind == CXCursor_DeclStmt)
		item->point.skipped = "a declaration: the declared name must outlive it";
}

/* Adds a branch, or the statement behind a label. */
static void take_block(const struct statement *statement)
{
	if (is_label(statement->kind))
		return; /* the statement behind the last label is the block of all labels */
	struct source_points_item *item = add(statement, PROBE_BLOCK, "block");
	if (!item || item->point.skipped)
		return;
	if (statement->kind == CXCursor_CompoundStmt) {
		uint32_t length = source_points_brace(statement->file, statement->start);
		item->point.offset += length;
		item->is_wrapped = false;
		if (!length)
			item->point.skipped = "its `{` comes from a macro";
	} else if (is_label(statement->parent_kind) && !statement->is_loose) {
		item->is_wrapped = false;
	} else {
		struct contents contents = inspect_contents(statement);
		item->point.skipped = reason_against(statement, &contents);
	}
}

static bool is_call_statement(const struct source_points *points, enum CXCursorKind kind)
{
	return points->clang->isExpression(kind) || kind == CXCursor_ReturnStmt || kind == CXCursor_DeclStmt;
}

void statements_take(struct source_points *points, size_t function, CXCursor cursor, CXCursor parent)
{
	const struct clang *clang = points->clang;
	struct statement statement = { .points = points,
				       .file = &points->files[points->items[function].file],
				       .function = function,
				       .cursor = cursor,
				       .kind = clang->getCursorKind(cursor),
				       .parent = parent,
				       .parent_kind = clang->getCursorKind(parent) };
	statement.is_loose = points->level >= PROBE_LEVEL_BLOCK && take_label(&statement);
	bool is_block = points->level >= PROBE_LEVEL_BLOCK &&
			(is_branching(statement.parent_kind) || is_label(statement.parent_kind)) &&
			statement.kind != CXCursor_NullStmt;
	bool is_call = points->level >= PROBE_LEVEL_CALL && is_call_statement(points, statement.kind);
	if (!is_block && !is_call && !is_loop(statement.kind))
		return;
	if (points->items[function].point.skipped || !find_extent(&statement) || !is_in_statement_position(&statement))
		return;
	/* Skip an expression in the head of a `for`, and the constant of a `case`. */
	if (clang->isExpression(statement.kind) && (!statement.end || statement.file->text[statement.end - 1] != ';'))
		return;
	if (!statement.doubt && is_misleading(&statement))
		statement.doubt = "its indentation may mislead: a compiler is to see that";
	if (is_block)
		take_block(&statement);
	if (is_loop(statement.kind))
		take_loop(&statement);
	else if (is_call)
		take_call_statement(&statement);
}
