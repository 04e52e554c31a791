#include "collect/source/instrument/parts.h"

#include <ctype.h>
#include <string.h>

static const char mark[] = "cpprof:";

/* --- one annotation --- */

/* A part of a text: from `at` to `end`. */
struct part {
	const char *at, *end;
};

static void skip_blanks(struct part *rest)
{
	while (rest->at < rest->end && (isspace((unsigned char)*rest->at) || *rest->at == ',' || *rest->at == '*'))
		rest->at++;
}

/* "group", "hook", "off". */
static struct part take_word(struct part *rest)
{
	struct part word = { rest->at, rest->at };
	while (word.end < rest->end && (isalnum((unsigned char)*word.end) || *word.end == '_' || *word.end == '-'))
		word.end++;
	rest->at = word.end;
	return word;
}

/* Finds the text between "(" and its ")", without surrounding blanks. Returns
 * false if there is none. */
static bool take_argument(struct part *rest, struct part *argument)
{
	skip_blanks(rest);
	if (rest->at == rest->end || *rest->at != '(')
		return false;
	int depth = 0;
	bool is_quoted = false;
	argument->at = ++rest->at;
	for (; rest->at < rest->end; rest->at++) {
		if (*rest->at == '"' && (!is_quoted || rest->at[-1] != '\\'))
			is_quoted = !is_quoted;
		if (!is_quoted && *rest->at == ')' && depth-- == 0)
			break;
		depth += !is_quoted && *rest->at == '(';
	}
	if (rest->at == rest->end)
		return false;
	argument->end = rest->at++;
	while (argument->at < argument->end && isspace((unsigned char)*argument->at))
		argument->at++;
	while (argument->at < argument->end && isspace((unsigned char)argument->end[-1]))
		argument->end--;
	return argument->at < argument->end;
}

static bool is_word(struct part word, const char *name)
{
	size_t length = strlen(name);
	return (size_t)(word.end - word.at) == length && memcmp(word.at, name, length) == 0;
}

/* Removes the quotes around a name, if there are any. */
static struct part without_quotes(struct part part)
{
	if (part.end - part.at >= 2 && *part.at == '"' && part.end[-1] == '"')
		return (struct part){ part.at + 1, part.end - 1 };
	return part;
}

static const char *copy_text(struct instrument_arena *arena, struct part part)
{
	return instrument_arena_text(arena, part.at, (size_t)(part.end - part.at));
}

/* Whether a group's name has no control bytes: it becomes part of a string literal. */
static bool is_printable(struct part part)
{
	for (; part.at < part.end; part.at++)
		if ((unsigned char)*part.at < ' ' || *part.at == 127)
			return false;
	return true;
}

/* Whether a hook is valid: "f, a, b" is an identifier, qualified or not, and expressions on one line. */
static bool is_hook(struct part part)
{
	if (!isalpha((unsigned char)*part.at) && *part.at != '_' && *part.at != ':')
		return false;
	return is_printable(part) && !memchr(part.at, '#', (size_t)(part.end - part.at)) &&
	       !memmem(part.at, (size_t)(part.end - part.at), "//", 2) &&
	       !memmem(part.at, (size_t)(part.end - part.at), "/*", 2);
}

/* Reads one word of an annotation. Returns false if it is not valid. */
static bool take_one(struct annotation *annotation, struct part word, struct part *rest, struct instrument_arena *arena)
{
	if (is_word(word, "off"))
		return annotation->is_off = true;
	struct part argument;
	if (word.at == word.end || !take_argument(rest, &argument))
		return false;
	if (is_word(word, "group") && is_printable(argument)) {
		annotation->group = copy_text(arena, without_quotes(argument));
		return true;
	}
	if (is_word(word, "level") && argument.end - argument.at == 1 && *argument.at >= '1' && *argument.at <= '4') {
		annotation->level = *argument.at - '0';
		return true;
	}
	if (is_word(word, "hook") && is_hook(argument)) {
		annotation->hook = copy_text(arena, argument);
		return true;
	}
	return false;
}

/* Finds the text behind the mark, if a line begins with the mark, after blanks
 * and a comment's stars. Returns false if no line does. */
static bool find_mark(struct part *rest)
{
	while (rest->at < rest->end) {
		skip_blanks(rest);
		size_t length = strlen(mark);
		if ((size_t)(rest->end - rest->at) >= length && memcmp(rest->at, mark, length) == 0) {
			rest->at += length;
			return true;
		}
		const char *line = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));
		rest->at = line ? line : rest->end;
	}
	return false;
}

bool annotation_parse(struct annotation *annotation, const char *text, size_t size, struct instrument_arena *arena)
{
	struct part rest = { text, text + size };
	if (!find_mark(&rest))
		return false;
	for (skip_blanks(&rest); rest.at < rest.end; skip_blanks(&rest)) {
		struct part from = rest;
		if (take_one(annotation, take_word(&rest), &rest, arena))
			continue;
		struct part line = { from.at, from.at };
		while (line.end < from.end && line.end - line.at < 40 && (unsigned char)*line.end >= ' ')
			line.end++;
		while (line.end > line.at && line.end[-1] == ' ')
			line.end--;
		if (!annotation->wrong)
			annotation->wrong = instrument_arena_format(arena,
								    "its annotation is not understood from '%.*s' on: "
								    "it may have group(NAME), level(1 to 4), "
								    "hook(FUNCTION, ARGUMENTS) and off",
								    (int)(line.end - line.at), line.at);
		break;
	}
	return true;
}

/* --- positions of comments --- */

/* Returns the position behind the last character before `at` that is not a blank. */
static size_t back_over_blanks(const char *text, size_t at)
{
	while (at > 0 && isspace((unsigned char)text[at - 1]))
		at--;
	return at;
}

/* Returns the start of the comment that ends at `at`, or SIZE_MAX if none does. Sets *said to the comment's text. */
static size_t comment_before(const char *text, size_t at, struct part *said)
{
	if (at >= 4 && text[at - 1] == '/' && text[at - 2] == '*') {
		for (size_t i = at - 3; i-- > 0;) {
			if (text[i] == '/' && text[i + 1] == '*') {
				*said = (struct part){ text + i + 2, text + at - 2 };
				return i;
			}
		}
		return SIZE_MAX;
	}
	size_t line = at;
	while (line > 0 && text[line - 1] != '\n')
		line--;
	while (line < at && isspace((unsigned char)text[line]))
		line++;
	if (at - line < 2 || text[line] != '/' || text[line + 1] != '/')
		return SIZE_MAX;
	*said = (struct part){ text + line + 2, text + at };
	return line;
}

/* Reads the comments between two positions. */
static void find_within(struct annotation *annotation, const char *at, const char *end, struct instrument_arena *arena)
{
	for (; at + 1 < end; at++) {
		if (at[0] != '/' || (at[1] != '*' && at[1] != '/'))
			continue;
		const char *close = at[1] == '*' ? memmem(at + 2, (size_t)(end - at - 2), "*/", 2)
						 : memchr(at, '\n', (size_t)(end - at));
		if (!close)
			return;
		annotation_parse(annotation, at + 2, (size_t)(close - at - 2), arena);
		at = close;
	}
}

void annotation_find(struct annotation *annotation, const char *text, size_t start, size_t open,
		     struct instrument_arena *arena)
{
	struct part said;
	for (size_t at = start; (at = comment_before(text, back_over_blanks(text, at), &said)) != SIZE_MAX;)
		annotation_parse(annotation, said.at, (size_t)(said.end - said.at), arena);
	find_within(annotation, text + start, text + open, arena);
}

struct attribute_search {
	const struct source_points *points;
	struct annotation *annotation;
};

static enum CXChildVisitResult take_attribute(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	struct attribute_search *search = data;
	const struct clang *clang = search->points->clang;
	if (clang->getCursorKind(cursor) != CXCursor_AnnotateAttr)
		return CXChildVisit_Continue;
	CXString spelling = clang->getCursorSpelling(cursor);
	const char *text = clang->getCString(spelling);
	if (text)
		annotation_parse(search->annotation, text, strlen(text), search->points->arena);
	clang->disposeString(spelling);
	return CXChildVisit_Continue;
}

void annotations_take(const struct source_points_function *function)
{
	struct source_point *point = &function->item->point;
	struct annotation annotation = { 0 };
	if (!function->file->has_annotations)
		return;
	annotation_find(&annotation, function->file->text, function->start, function->open, function->points->arena);
	struct attribute_search search = { function->points, &annotation };
	function->points->clang->visitChildren(function->cursor, take_attribute, &search);
	point->group = annotation.group;
	point->hook = annotation.hook;
	point->mistake = annotation.wrong;
	if (annotation.level)
		point->level = annotation.level;
	if (annotation.is_off && !point->skipped)
		point->skipped = "switched off in the source";
}
