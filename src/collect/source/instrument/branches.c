#include "collect/source/instrument/parts.h"

#include <string.h>

#include "collect/source/instrument/lexing.h"

enum { DEPTH = 64 };

/* The directives of a file, read from its beginning. */
struct directives {
	const char *at, *end;
	bool asks[DEPTH]; /* by open #if: whether it or one of its #elif tests the compiler */
	size_t depth;     /* open #ifs; if more than DEPTH, the innermost #ifs are not tracked */
};

/* Returns whether a condition, which ends at `end`, tests the compiler: "__GNUC__ >= 7". */
static bool is_of_compiler(const char *condition, const char *end)
{
	static const char *const words[] = { "__clang__",          "__clang_major__", "__GNUC__",
					     "__GNUC_MINOR__",     "__GNUG__",        "__has_builtin",
					     "__has_attribute",    "__has_feature",   "__has_extension",
					     "__has_cpp_attribute" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (lexing_find(condition, end, words[i]))
			return true;
	return false;
}

/* Returns the position behind the line and its continuation lines. */
static const char *line_end(const char *at, const char *end)
{
	while (at < end && (*at != '\n' || at[-1] == '\\'))
		at++;
	return at;
}

static void take_directive(struct directives *directives, const char *hash)
{
	const char *end = line_end(hash, directives->end);
	struct lexing_token word = lexing_next(hash + 1, end);
	bool is_if = word.size >= 2 && memcmp(word.start, "if", 2) == 0;
	if (is_if && directives->depth++ < DEPTH)
		directives->asks[directives->depth - 1] = false;
	if ((is_if || (word.size >= 4 && memcmp(word.start, "elif", 4) == 0)) && directives->depth &&
	    directives->depth <= DEPTH)
		directives->asks[directives->depth - 1] |= is_of_compiler(word.start, end);
	if (lexing_is(&word, "endif") && directives->depth)
		directives->depth--;
	directives->at = end;
}

/* Returns whether the #if that is open at `stop`, or one of its #elif, tests the compiler. `stop` is the position of
 * a directive; the search continues from its previous position. */
static bool tests_compiler(struct directives *directives, const char *stop)
{
	while (directives->at <= stop && directives->at < directives->end) {
		const char *at = directives->at + strspn(directives->at, " \t");
		if (at < directives->end && *at == '#')
			take_directive(directives, at);
		else
			directives->at = line_end(at, directives->end);
		if (directives->at < directives->end)
			directives->at++;
	}
	return directives->depth && directives->depth <= DEPTH && directives->asks[directives->depth - 1];
}

static void add(struct source_points *points, CXSourceRange range, uint32_t start, uint32_t end)
{
	struct source_points_item *item = source_points_add(points);
	if (!item)
		return;
	unsigned first = 0, last = 0, column = 0;
	points->clang->getFileLocation(points->clang->getRangeStart(range), NULL, &first, &column, NULL);
	points->clang->getFileLocation(points->clang->getRangeEnd(range), NULL, &last, NULL, NULL);
	item->function = points->item_count - 1;
	const char *name = instrument_arena_format(points->arena, "lines %u to %u", first, last);
	item->point = (struct source_point){ .kind = PROBE_REGION,
					     .level = PROBE_LEVEL_FUNCTION,
					     .name = name ? name : "",
					     .signature = "",
					     .file = points->files[0].path,
					     .line = first,
					     .column = column,
					     .offset = start,
					     .end = end,
					     .is_cxx = points->words->is_cxx,
					     .skipped = "a branch of #if that clang does not take; this compiler may" };
}

void branches_take(struct source_points *points)
{
	const struct source_points_file *file = &points->files[0];
	struct directives directives = { .at = file->text, .end = file->text + file->size };
	CXSourceRangeList *list = points->clang->getSkippedRanges(points->unit, file->file);
	for (unsigned i = 0; list && i < list->count; i++) {
		uint32_t start = 0, end = 0;
		source_points_offset(points, points->clang->getRangeStart(list->ranges[i]), &start);
		source_points_offset(points, points->clang->getRangeEnd(list->ranges[i]), &end);
		if (start >= end || end > file->size || !tests_compiler(&directives, file->text + start))
			continue;
		if (memchr(file->text + start, '{', end - start))
			add(points, list->ranges[i], start, end);
	}
	if (list)
		points->clang->disposeSourceRangeList(list);
}
