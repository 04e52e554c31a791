#include "collect/source/instrument/exits.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "collect/source/instrument/lexing.h"

static const uint32_t ELSEWHERE = UINT32_MAX;

/* --- the returned value --- */

struct assigning {
	const struct source_points *points;
	bool is_refused; /* a part of the type is const */
};

static enum CXVisitorResult check_field(CXCursor cursor, CXClientData data)
{
	struct assigning *assigning = data;
	const struct clang *clang = assigning->points->clang;
	CXType type = clang->getCanonicalType(clang->getCursorType(cursor));
	CXString spelling = clang->getTypeSpelling(type);
	bool is_array_of_const =
		type.kind != CXType_Pointer &&
		lexing_find(clang->getCString(spelling), strchr(clang->getCString(spelling), 0), "const");
	clang->disposeString(spelling);
	assigning->is_refused |= clang->isConstQualifiedType(type) || is_array_of_const;
	if (type.kind == CXType_Record)
		clang->Type_visitFields(type, check_field, assigning);
	return assigning->is_refused ? CXVisit_Break : CXVisit_Continue;
}

static bool can_be_assigned(const struct source_points *points, CXType type)
{
	struct assigning assigning = { points, false };
	if (type.kind == CXType_Record)
		points->clang->Type_visitFields(type, check_field, &assigning);
	return !assigning.is_refused;
}

/* Returns whether a parameter hides a word of the returned type. */
static bool is_hidden(const struct source_points_function *function, const char *type)
{
	struct source_points *points = function->points;
	int count = points->clang->Cursor_getNumArguments(function->cursor);
	bool is_found = false;
	for (int i = 0; i < count && !is_found; i++) {
		CXCursor parameter = points->clang->Cursor_getArgument(function->cursor, (unsigned)i);
		CXString name = points->clang->getCursorSpelling(parameter);
		const char *text = points->clang->getCString(name);
		is_found = text && *text && lexing_find(type, type + strlen(type), text);
		points->clang->disposeString(name);
	}
	return is_found;
}

/* Returns the position of a variable's name in a declaration with this type: at its end, or in the innermost part
 * of "int (*(*)(char))(int)". */
static const char *name_position(const char *type)
{
	const char *pointer = strstr(type, "(*");
	return pointer ? pointer + strcspn(pointer, ")") : type + strlen(type);
}

/* "int *" from "int *const", "int" from "const int": removes what forbids
 * assignment. If the declarator continues behind the name, only the part before
 * it is changed. */
static const char *without_qualifiers(struct source_points *points, const char *type, size_t length, bool is_whole)
{
	static const char *const qualifiers[] = { "const", "volatile", "restrict", "__restrict" };
	const char *end = type + length;
	const char *star = memrchr(type, '*', length);
	const char *from = star ? star + 1 : is_whole ? type : end;
	char *kept = instrument_arena_take(points->arena, length + 1);
	if (!kept)
		return "";
	size_t size = (size_t)(from - type);
	memcpy(kept, type, size);
	for (const char *at = from; at < end;) {
		struct lexing_token token = lexing_next(at, end);
		bool is_qualifier = false;
		for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++)
			is_qualifier |= lexing_is(&token, qualifiers[i]);
		const char *behind = token.start + token.size;
		if (!is_qualifier) {
			memcpy(kept + size, at, (size_t)(behind - at));
			size += (size_t)(behind - at);
		}
		at = behind;
	}
	kept[size] = 0;
	return kept;
}

void exits_describe(const struct source_points_function *function)
{
	struct source_points *points = function->points;
	struct source_points_item *item = function->item;
	const struct clang *clang = points->clang;
	CXType result = clang->getCursorResultType(function->cursor);
	CXType type = clang->getCanonicalType(result);
	if (type.kind == CXType_Void)
		return;
	const char *spelled = clang_text(points->clang, points->arena, clang->getTypeSpelling(result));
	const char *position = name_position(spelled);
	item->value_behind = position;
	item->value_before = without_qualifiers(points, spelled, (size_t)(position - spelled), *position == 0);
	if (strstr(spelled, "(unnamed") || strstr(spelled, "(anonymous"))
		item->doubt = "its return type has no name, so the value cannot be kept";
	else if (is_hidden(function, spelled))
		item->doubt = "a parameter hides the type of its return value, so the value cannot be kept";
	else if (!can_be_assigned(points, type))
		item->doubt = "its return type contains const, so the value cannot be kept";
}

/* --- returns that clang has found --- */

void exits_take(struct source_points *points, size_t function, CXCursor cursor, CXCursor parent)
{
	const struct clang *clang = points->clang;
	const struct source_points_item *item = &points->items[function];
	const struct source_points_file *file = &points->files[item->file];
	uint32_t outer = ELSEWHERE, offset = ELSEWHERE;
	bool is_outermost = clang->getCursorKind(parent) == CXCursor_CompoundStmt &&
			    source_points_offset(points, clang->getRangeStart(clang->getCursorExtent(parent)),
						 &outer) == file->file &&
			    outer == item->open;
	for (size_t i = points->return_count; is_outermost && i > 0 && points->returns[i - 1].function == function; i--)
		points->returns[i - 1].is_last = false;
	if (clang->getCursorKind(cursor) != CXCursor_ReturnStmt)
		return;
	if (source_points_offset(points, clang->getRangeStart(clang->getCursorExtent(cursor)), &offset) != file->file)
		offset = ELSEWHERE;
	if (ARRAY_RESERVE(points->returns, points->return_capacity, points->return_count + 1)) {
		points->error = ERROR_MEMORY;
		return;
	}
	points->returns[points->return_count++] = (struct source_points_return){ function, offset, is_outermost };
}

/* --- returns in the text --- */

struct exit {
	uint32_t start, behind; /* offset of the word `return` */
	uint32_t end;           /* its `;`; 0: not found */
	bool has_value;
};

/* Returns whether a `#` begins a directive: it is the first character of its
 * line. */
static bool is_directive(const char *text, const char *at)
{
	while (at > text && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at == text || at[-1] == '\n';
}

/* Returns the position behind the line and its continuation lines. */
static const char *behind_line(const char *at, const char *end)
{
	while (at < end && (*at != '\n' || at[-1] == '\\' || (at[-1] == '\r' && at[-2] == '\\')))
		at++;
	return at;
}

/* Skips blanks and comments, but not literals, which lexing_next would skip as well. */
static const char *behind_comments(const char *at, const char *stop)
{
	while (at < stop) {
		const char *behind =
			*at == '/' ? lexing_skip(at, stop) : at + (isspace((unsigned char)*at) || *at == '\\');
		if (behind == at)
			break;
		at = behind;
	}
	return at;
}

/* Finds the statement's `;`: at the depth of its beginning, with no directive
 * before it. Returns NULL if there is none. */
static const char *find_end(const char *text, const char *at, const char *stop)
{
	int depth = 0;
	for (struct lexing_token token = lexing_next(at, stop); token.size;
	     token = lexing_next(token.start + token.size, stop)) {
		char byte = token.is_word ? 0 : *token.start;
		depth += (byte == '(' || byte == '[' || byte == '{') - (byte == ')' || byte == ']' || byte == '}');
		if (depth < 0 || (byte == '#' && is_directive(text, token.start)))
			return NULL;
		if (byte == ';' && depth == 0)
			return token.start;
	}
	return NULL;
}

/* Finds the next `return` from *at on, outside of directives. Returns false if there is none. */
static bool next_exit(const struct source_points_file *file, const char **at, const char *stop, struct exit *exit)
{
	for (struct lexing_token token = lexing_next(*at, stop); token.size; token = lexing_next(*at, stop)) {
		*at = token.start + token.size;
		if (*token.start == '#' && is_directive(file->text, token.start))
			*at = behind_line(token.start, stop);
		if (!lexing_is(&token, "return"))
			continue;
		const char *end = find_end(file->text, *at, stop);
		*exit = (struct exit){ .start = (uint32_t)(token.start - file->text),
				       .behind = (uint32_t)(*at - file->text),
				       .end = end ? (uint32_t)(end - file->text) : 0,
				       .has_value = behind_comments(*at, stop) != end };
		return true;
	}
	return false;
}

/* Returns the offset of a function's `}`, or 0 if a macro contains it. */
static uint32_t closing_brace(const struct source_points_file *file, const struct source_points_item *item)
{
	static const char *const braces[] = { "}", "%>", "\?\?>" };
	uint32_t end = item->point.end;
	for (size_t i = 0; i < sizeof(braces) / sizeof(braces[0]); i++) {
		uint32_t length = (uint32_t)strlen(braces[i]);
		if (end >= item->point.offset + length && end <= file->size &&
		    memcmp(file->text + end - length, braces[i], length) == 0)
			return end - length;
	}
	return 0;
}

/* Returns whether a return that clang has found is in the text itself. */
static bool is_written(const struct source_points_file *file, const struct source_points_item *item, uint32_t offset)
{
	static const char word[] = "return";
	return offset >= item->point.offset && offset + strlen(word) < item->point.end &&
	       memcmp(file->text + offset, word, strlen(word)) == 0;
}

/* Returns the reason why a function's exits are not clear, or NULL if they are. Sets the item's last_return and
 * has_value. `seen`: the returns that clang has found. */
static const char *reason_unclear(const struct source_points *points, struct source_points_item *item,
				  const struct source_points_return *seen, size_t seen_count)
{
	const struct source_points_file *file = &points->files[item->file];
	uint32_t close = closing_brace(file, item);
	if (!close)
		return "its body ends in a macro";
	if (item->has_nested)
		return "nested functions: their returns cannot be distinguished from its own";
	for (size_t i = 0; i < seen_count; i++) {
		if (!is_written(file, item, seen[i].offset))
			return "a macro returns from it";
		if (seen[i].is_last)
			item->last_return = seen[i].offset;
	}
	const char *at = file->text + item->point.offset;
	struct exit exit;
	while (next_exit(file, &at, file->text + close, &exit)) {
		if (!exit.end)
			return "it is not clear where a return of it ends";
		item->has_value |= exit.has_value && item->value_before;
	}
	return item->has_value ? item->doubt : NULL;
}

/* Returns the reason why control may leave braces around this text before their end, or NULL if it cannot. */
static const char *reason_control_leaves(const struct source_points *points, const struct source_points_item *item)
{
	const struct source_points_file *file = &points->files[item->file];
	const struct source_point *point = &item->point;
	if (source_points_has_word(file, point->offset, point->end, "goto"))
		return "a goto may lead out of it";
	bool may_break =
		point->kind == PROBE_CALL && (source_points_has_word(file, point->offset, point->end, "break") ||
					      source_points_has_word(file, point->offset, point->end, "continue"));
	return may_break ? "it may leave itself by a break" : NULL;
}

void exits_check(struct source_points *points)
{
	size_t seen = 0;
	for (size_t i = 0; i < points->item_count; i++) {
		struct source_points_item *item = &points->items[i];
		bool is_function = item->point.kind == PROBE_FUNCTION;
		while (seen < points->return_count && points->returns[seen].function < i)
			seen++;
		size_t first = seen;
		while (is_function && seen < points->return_count && points->returns[seen].function == i)
			seen++;
		if (item->point.skipped)
			continue;
		if (is_function)
			item->point.skipped = reason_unclear(points, item, points->returns + first, seen - first);
		else if (item->point.kind != PROBE_BLOCK)
			item->point.skipped = reason_control_leaves(points, item);
	}
}

/* --- inserted text --- */

const char *exits_leave(const struct source_points *points, const struct source_points_item *item)
{
	const char *text = item->point.kind == PROBE_FUNCTION && item->hook_size
				   ? instrument_arena_format(points->arena, "CPPROF_TOOL_LEAVE_HOOK(%zu,%.*s)",
							     item->number, (int)item->hook_size, item->hook)
				   : instrument_arena_format(points->arena, "CPPROF_TOOL_LEAVE(%zu)", item->number);
	return text ? text : "";
}

const char *exits_declaration(const struct source_points *points, const struct source_points_item *item)
{
	if (!item->has_value)
		return "";
	const char *text = instrument_arena_format(points->arena, "%s cpprof_value_%zu%s; ", item->value_before,
						   item->number, item->value_behind);
	return text ? text : "";
}

static void insert_exit(struct source_points *points, const struct source_points_item *item, const struct exit *exit,
			const char *leave)
{
	struct edits *edits = &points->files[item->file].edits;
	struct instrument_arena *arena = points->arena;
	if (!exit->has_value) {
		edits_wrap(edits, exit->start, instrument_arena_format(arena, "{%s; ", leave), exit->end + 1, "}");
	} else if (item->value_before) {
		edits_insert(edits, exit->behind, instrument_arena_format(arena, " (cpprof_value_%zu=(", item->number));
		edits_insert(edits, exit->end,
			     instrument_arena_format(arena, "),%s,cpprof_value_%zu)", leave, item->number));
	} else {
		edits_insert(edits, exit->behind, " ((");
		edits_insert(edits, exit->end, instrument_arena_format(arena, "),%s)", leave));
	}
}

void exits_insert(struct source_points *points, const struct source_points_item *item)
{
	const struct source_points_file *file = &points->files[item->file];
	const char *leave = exits_leave(points, item), *at = file->text + item->point.offset;
	uint32_t close = closing_brace(file, item);
	const char *stop = file->text + close;
	struct exit exit;
	bool ends_with_return = false;
	while (next_exit(file, &at, stop, &exit)) {
		struct lexing_token behind = lexing_next(file->text + exit.end + 1, stop);
		ends_with_return = exit.start == item->last_return && !behind.size;
		insert_exit(points, item, &exit, leave);
	}
	if (!ends_with_return)
		edits_insert(&points->files[item->file].edits, close,
			     instrument_arena_format(points->arena, "%s;", leave));
}
