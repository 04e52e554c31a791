/*
 * Reads cpprof's own selection files, one rule per line (docs/instrumented.md):
 *
 *     include function parse*              # includes first ...
 *     include file src/core/<\.c$>
 *     exclude function <^get_>             # ... then excludes
 *     group io function read_*
 *     level loops file hot.c
 *     tiny on
 *
 * Sections of TAU and Score-P may be in them unchanged (selection_lists.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/source/instrument/selection.h"
#include "collect/source/instrument/selection_rules.h"

enum { FILE_BYTES_MAX = 16 << 20 };

static char *trim(char *text)
{
	text += strspn(text, " \t\r");
	size_t length = strlen(text);
	while (length && strchr(" \t\r", text[length - 1]))
		text[--length] = 0;
	return text;
}

/* Returns the first word, and moves *rest behind it. */
static char *take_word(char **rest)
{
	char *word = *rest;
	char *end = word + strcspn(word, " \t");
	*rest = end + strspn(end, " \t");
	if (*end)
		*end = 0;
	return word;
}

/* Returns the pattern of "function PATTERN" or "file PATTERN"; a PATTERN alone is a function's. A pattern may have
 * blanks and quotes. */
static char *take_pattern(char *rest, bool *of_files)
{
	size_t length = strcspn(rest, " \t");
	*of_files = length == 4 && strncmp(rest, "file", 4) == 0;
	if (*of_files || (length == 8 && strncmp(rest, "function", 8) == 0))
		take_word(&rest);
	length = strlen(rest);
	if (length >= 2 && rest[0] == '"' && rest[length - 1] == '"') {
		rest[length - 1] = 0;
		rest++;
	}
	return rest;
}

static int read_choice(const struct selection_reading *reading, const char *verb, char *rest)
{
	struct selection_rule rule = { .verb = strcmp(verb, "include") == 0 ? SELECTION_INCLUDE : SELECTION_EXCLUDE };
	char *pattern = take_pattern(rest, &rule.of_files);
	if (!*pattern)
		return selection_wrong(reading, "'%s' needs a pattern, as in '%s function parse*'", verb, verb);
	return selection_take(reading, &rule, pattern, PATTERN_OWN);
}

static int read_group(const struct selection_reading *reading, const char *verb, char *rest)
{
	struct selection_rule rule = { .verb = SELECTION_GROUP };
	const char *group = take_word(&rest);
	char *pattern = take_pattern(rest, &rule.of_files);
	if (!*group || !*pattern)
		return selection_wrong(reading, "'%s' needs a name and a pattern, as in '%s io function read_*'", verb,
				       verb);
	rule.group = strdup(group);
	if (!rule.group)
		return error_memory(reading->error);
	return selection_take(reading, &rule, pattern, PATTERN_OWN);
}

static int level_of(const char *word)
{
	static const char *const names[] = { "functions", "loops", "calls", "blocks" };
	for (int i = 0; i < 4; i++)
		if (strcmp(word, names[i]) == 0 || (word[0] == '1' + i && !word[1]))
			return PROBE_LEVEL_FUNCTION + i;
	return 0;
}

static int read_level(const struct selection_reading *reading, const char *verb, char *rest)
{
	struct selection_rule rule = { .verb = SELECTION_LEVEL };
	const char *word = take_word(&rest);
	rule.level = level_of(word);
	if (!rule.level)
		return selection_wrong(reading, "'%s' needs functions, loops, calls or blocks (or 1 to 4), not '%s'",
				       verb, word);
	char *pattern = take_pattern(rest, &rule.of_files);
	if (!*pattern && *rest)
		return selection_wrong(reading, "'%s': a pattern is missing", verb);
	return selection_take(reading, &rule, *pattern ? pattern : NULL, PATTERN_OWN);
}

static int read_number(const struct selection_reading *reading, const char *verb, char *rest)
{
	char *end;
	errno = 0;
	unsigned long number = strtoul(rest, &end, 10);
	if (*rest < '0' || *rest > '9' || *end || errno || number > 1000000)
		return selection_wrong(reading, "'%s' needs a whole number up to 1000000, not '%s'", verb, rest);
	reading->selection->statements = (uint32_t)number;
	return 0;
}

static int read_switch(const struct selection_reading *reading, const char *verb, char *rest)
{
	bool is_on = strcmp(rest, "on") == 0;
	if (!is_on && strcmp(rest, "off") != 0)
		return selection_wrong(reading, "'%s' is on or off, not '%s'", verb, rest);
	if (strcmp(verb, "tiny") == 0)
		reading->selection->tiny = is_on;
	else if (strcmp(verb, "headers") == 0)
		reading->selection->headers = is_on;
	else
		reading->selection->always_inline = is_on;
	return 0;
}

static const struct {
	const char *verb;
	int (*read)(const struct selection_reading *reading, const char *verb, char *rest);
} verbs[] = {
	{ "include", read_choice },       { "exclude", read_choice },    { "group", read_group },
	{ "level", read_level },          { "tiny", read_switch },       { "headers", read_switch },
	{ "always-inline", read_switch }, { "statements", read_number },
};

/* Removes a comment, which begins with a '#' behind a blank or at the start of the line. */
static void cut_comment(char *line)
{
	for (char *at = line; (at = strchr(at, '#')); at++)
		if (at == line || at[-1] == ' ' || at[-1] == '\t') {
			*at = 0;
			return;
		}
}

static int read_own(const struct selection_reading *reading, char *line)
{
	cut_comment(line);
	line = trim(line);
	if (!*line)
		return 0;
	char *rest = line;
	const char *verb = take_word(&rest);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].verb, verb) == 0)
			return verbs[i].read(reading, verb, rest);
	return selection_wrong(
		reading,
		"'%s' is not a rule (include, exclude, group, level, tiny, always-inline, statements or headers)",
		verb);
}

int selection_read_text(struct selection *selection, const char *name, char *bytes, size_t size, struct error *error)
{
	struct selection_reading reading = { .selection = selection, .name = name, .error = error };
	const struct selection_section *section = NULL;
	size_t section_line = 0;
	int state = 0, code = 0;
	for (size_t at = 0; at < size && code == 0;) {
		char *line = bytes + at;
		char *end = memchr(line, '\n', size - at);
		reading.line++;
		at = end ? (size_t)(end - bytes) + 1 : size;
		if (end)
			*end = 0;
		if (strlen(line) != (end ? (size_t)(end - line) : size - (size_t)(line - bytes)))
			return selection_wrong(&reading, "a byte 0: the file is not text");
		line = trim(line);
		if (section && strcmp(line, section->end) == 0) {
			section = NULL;
		} else if (section) {
			code = *line ? section->read_line(&reading, section, line, &state) : 0;
		} else if ((section = selection_section_of(line))) {
			section_line = reading.line;
			state = 0;
		} else {
			code = read_own(&reading, line);
		}
	}
	reading.line = section_line;
	if (code == 0 && section)
		return selection_wrong(&reading, "'%s' is not ended by '%s'", section->begin, section->end);
	return code;
}

int selection_add(struct selection *selection, const char *line, struct error *error)
{
	struct selection_reading reading = { .selection = selection, .error = error };
	char *copy = strdup(line);
	if (!copy)
		return error_memory(error);
	int code = read_own(&reading, copy);
	free(copy);
	return code;
}

/* Returns the file's bytes and a NUL, which the caller frees, or NULL with the
 * reason in *error. */
static char *read_file(const char *path, size_t *size, struct error *error)
{
	int fd = path_open_regular(path);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0) {
		error_set_errno(error, "cannot read the selection '%s'", path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	FILE *in = fdopen(fd, "r");
	char *bytes = status.st_size <= FILE_BYTES_MAX ? malloc((size_t)status.st_size + 1) : NULL;
	if (!in || !bytes) {
		error_set(error, bytes ? ERROR_MEMORY : ERROR_LIMIT, "the selection '%s' is too large", path);
	} else {
		*size = fread(bytes, 1, (size_t)status.st_size, in);
		bytes[*size] = 0;
		if (ferror(in)) {
			error_set_errno(error, "cannot read the selection '%s'", path);
			free(bytes);
			bytes = NULL;
		}
	}
	if (in)
		fclose(in);
	else
		close(fd);
	return in ? bytes : (free(bytes), NULL);
}

int selection_read(struct selection *selection, const char *path, struct error *error)
{
	size_t size = 0;
	struct error local = { 0 };
	char *bytes = read_file(path, &size, &local);
	if (!bytes) {
		if (error)
			*error = local;
		return local.code;
	}
	int code = selection_read_text(selection, path, bytes, size, error);
	free(bytes);
	return code;
}
