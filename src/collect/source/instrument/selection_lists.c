/*
 * Reads the lists of other tools, which their users already have.
 *
 *     BEGIN_EXCLUDE_LIST            TAU: '#' is any text; at the start of a line it begins a comment, unless the name
 *     int sort(int *, int) C        is quoted. Types and the language may surround a name
 *     "#destroy#"
 *     END_EXCLUDE_LIST
 *     BEGIN_INSTRUMENT_SECTION
 *     loops file="hot.c" routine="#"
 *     END_INSTRUMENT_SECTION
 *
 *     SCOREP_REGION_NAMES_BEGIN     Score-P: words, each a pattern; the last one that matches a name decides
 *         EXCLUDE *
 *         INCLUDE main solve_*
 *     SCOREP_REGION_NAMES_END
 */
#include <stdlib.h>
#include <string.h>

#include "collect/source/instrument/selection_rules.h"

/* --- TAU --- */

/* "int sort(int *, int) C" -> "int sort(int *, int)" */
static char *without_language(char *text)
{
	size_t length = strlen(text);
	if (length > 2 && (strcmp(text + length - 2, " C") == 0 || strcmp(text + length - 2, " F") == 0))
		text[length - 2] = 0;
	return text;
}

static char *unquote(char *text)
{
	size_t length = strlen(text);
	if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
		text[length - 1] = 0;
		return text + 1;
	}
	return text;
}

static int read_tau_name(const struct selection_reading *reading, const struct selection_section *section, char *line,
			 int *state)
{
	(void)state;
	if (line[0] == '#')
		return 0;
	struct selection_rule rule = { .dialect = SELECTION_TAU, .verb = section->verb, .of_files = section->of_files };
	line = unquote(line);
	return section->of_files ? selection_take(reading, &rule, line, PATTERN_SHELL)
				 : selection_take(reading, &rule, without_language(line), PATTERN_TAU);
}

/* Returns a copy of the value of `key="..."`, or NULL if there is none. Replaces the closing quote by a blank. */
static char *take_value(char *line, const char *key)
{
	char *at = strstr(line, key);
	if (!at)
		return NULL;
	char *value = at + strlen(key);
	char *end = strchr(value, '"');
	if (end)
		*end = ' ';
	return end ? strndup(value, (size_t)(end - value)) : NULL;
}

static int take_loops(const struct selection_reading *reading, const char *pattern, bool of_files)
{
	struct selection_rule rule = {
		.dialect = SELECTION_TAU, .verb = SELECTION_LEVEL, .level = PROBE_LEVEL_LOOP, .of_files = of_files
	};
	return selection_take(reading, &rule, pattern, of_files ? PATTERN_SHELL : PATTERN_TAU);
}

/* The section has many directives; only those for loops are supported, others
 * are an error. */
static int read_tau_loops(const struct selection_reading *reading, const struct selection_section *section, char *line,
			  int *state)
{
	(void)section;
	(void)state;
	if (line[0] == '#' || (line[0] == '/' && line[1] == '/'))
		return 0;
	if (strncmp(line, "loops", 5) != 0 || (line[5] && !strchr(" \t", line[5])))
		return selection_wrong(
			reading,
			"unsupported '%.*s' in an instrument section (only 'loops'; lists select functions and files)",
			(int)strcspn(line, " \t"), line);
	char *file = take_value(line, "file=\""), *routine = take_value(line, "routine=\"");
	int code = 0;
	if (file && routine && strcmp(routine, "#") != 0 && strcmp(file, "*") != 0)
		code = selection_wrong(reading, "'loops' has both a file and a routine (give one)");
	else if (routine && strcmp(routine, "#") != 0)
		code = take_loops(reading, without_language(routine), false);
	else
		code = take_loops(reading, file ? file : "*", true);
	free(file);
	free(routine);
	return code;
}

/* --- Score-P --- */

enum { STATE_NOTHING, STATE_INCLUDE, STATE_EXCLUDE, STATE_VERB = 3, STATE_MANGLED = 4 };

/* Returns the next word, and moves *rest behind it. A backslash precedes a character that would end the word or have
 * a special meaning. */
static char *take_escaped(char **rest)
{
	char *word = *rest + strspn(*rest, " \t");
	char *in = word;
	while (*in && *in != ' ' && *in != '\t' && *in != '#')
		in += in[0] == '\\' && in[1] ? 2 : 1;
	*rest = *in == '#' ? in + strlen(in) : in + (*in != 0);
	*in = 0;
	return word;
}

/* Reads a line. A verb applies to all words behind it, also to those on later lines. */
static int read_scorep(const struct selection_reading *reading, const struct selection_section *section, char *line,
		       int *state)
{
	int code = 0;
	for (char *rest = line; *rest && code == 0;) {
		const char *word = take_escaped(&rest);
		if (!*word)
			continue;
		if (strcmp(word, "INCLUDE") == 0) {
			*state = STATE_INCLUDE;
		} else if (strcmp(word, "EXCLUDE") == 0) {
			*state = STATE_EXCLUDE;
		} else if (strcmp(word, "MANGLED") == 0 && *state != STATE_NOTHING && !section->of_files) {
			*state |= STATE_MANGLED;
		} else if (*state == STATE_NOTHING) {
			code = selection_wrong(reading, "'%s' stands before any INCLUDE or EXCLUDE", word);
		} else {
			struct selection_rule rule = { .dialect = SELECTION_SCOREP,
						       .of_files = section->of_files,
						       .of_mangled = *state & STATE_MANGLED };
			rule.verb = (*state & STATE_VERB) == STATE_INCLUDE ? SELECTION_INCLUDE : SELECTION_EXCLUDE;
			code = selection_take(reading, &rule, word, PATTERN_SHELL);
		}
	}
	return code;
}

static const struct selection_section sections[] = {
	{ "BEGIN_EXCLUDE_LIST", "END_EXCLUDE_LIST", read_tau_name, SELECTION_EXCLUDE, false },
	{ "BEGIN_INCLUDE_LIST", "END_INCLUDE_LIST", read_tau_name, SELECTION_INCLUDE, false },
	{ "BEGIN_FILE_EXCLUDE_LIST", "END_FILE_EXCLUDE_LIST", read_tau_name, SELECTION_EXCLUDE, true },
	{ "BEGIN_FILE_INCLUDE_LIST", "END_FILE_INCLUDE_LIST", read_tau_name, SELECTION_INCLUDE, true },
	{ "BEGIN_INSTRUMENT_SECTION", "END_INSTRUMENT_SECTION", read_tau_loops, SELECTION_LEVEL, false },
	{ "SCOREP_REGION_NAMES_BEGIN", "SCOREP_REGION_NAMES_END", read_scorep, SELECTION_INCLUDE, false },
	{ "SCOREP_FILE_NAMES_BEGIN", "SCOREP_FILE_NAMES_END", read_scorep, SELECTION_INCLUDE, true },
};

const struct selection_section *selection_section_of(const char *line)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strcmp(sections[i].begin, line) == 0)
			return &sections[i];
	return NULL;
}
