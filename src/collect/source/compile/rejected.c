#include "collect/source/compile/build.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Lines of messages, from the strictest to the loosest. Notes and warnings name the lines of other functions; they are
 * read only if no error names a probe point, because errors may be in another language. */
enum strictness { ERRORS_AT, ERRORS_WITHIN, ANY_AT, ANY_WITHIN, STRICTNESS_COUNT };

/* Returns the text of the first message about a line of a file ("h.c:6:71: error: 'x' undeclared": from 'x' on), or
 * NULL if there is none. It ends at a newline. */
static const char *message_about(const char *text, const char *file, unsigned line, bool errors_only)
{
	static const char error[] = "error: ";
	char where[PATH_MAX];
	snprintf(where, sizeof(where), "%s:%u:", file, line);
	for (const char *at = text; (at = strstr(at, where)); at++) {
		const char *end = at + strcspn(at, "\n");
		const char *mark = memmem(at, (size_t)(end - at), error, sizeof(error) - 1);
		if (mark)
			return mark + sizeof(error) - 1;
		if (!errors_only)
			return at + strlen(where);
	}
	return NULL;
}

static const char *message_of(const char *text, const struct source_point *point, enum strictness strictness)
{
	bool errors_only = strictness < ANY_AT, is_within = strictness == ERRORS_WITHIN || strictness == ANY_WITHIN;
	const char *found = NULL;
	for (uint32_t line = point->line; !found && line <= (is_within ? point->end_line : point->line); line++)
		found = message_about(text, point->file, line, errors_only);
	return found;
}

static bool except(struct selection *selection, const struct source_point *point, const char *message,
		   enum strictness strictness)
{
	if (!point->hook || strictness == ERRORS_WITHIN || strictness == ANY_WITHIN)
		return selection_except(selection, point->file, point->line) == 0;
	char mistake[512];
	snprintf(mistake, sizeof(mistake), "its hook '%.*s' is not called: %.*s", (int)strcspn(point->hook, ", \t"),
		 point->hook, (int)strcspn(message, "\r\n"), message);
	return selection_except_hook(selection, point->file, point->line, mistake) == 0;
}

bool rejected_points_except(struct selection *selection, const struct instrument_result *result, const char *messages)
{
	bool has_any = false;
	for (int strictness = 0; strictness < STRICTNESS_COUNT && !has_any; strictness++) {
		for (size_t i = 0; i < result->point_count; i++) {
			const struct source_point *point = &result->points[i];
			const char *message = point->skipped ? NULL : message_of(messages, point, strictness);
			if (message && except(selection, point, message, strictness))
				has_any = true;
		}
	}
	return has_any;
}
