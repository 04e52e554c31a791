/* The parts of an instrumentation filter; for selection*.c. */
#ifndef COLLECT_SOURCE_INSTRUMENT_SELECTION_RULES_H
#define COLLECT_SOURCE_INSTRUMENT_SELECTION_RULES_H

#include <regex.h>

#include "base/error.h"
#include "collect/source/instrument/source_point.h"

/* The list that a rule belongs to. Each list has its own way to decide; a function that one of them excludes is
 * excluded. */
enum selection_dialect { SELECTION_OWN, SELECTION_TAU, SELECTION_SCOREP, SELECTION_DIALECTS };

enum selection_verb { SELECTION_INCLUDE, SELECTION_EXCLUDE, SELECTION_GROUP, SELECTION_LEVEL };

/* The meaning of special characters in a pattern. */
enum pattern_kind {
	PATTERN_OWN,   /* as in a shell: * ? [abc], and <an extended regular expression> found anywhere in the rest */
	PATTERN_SHELL, /* without <> */
	PATTERN_TAU,   /* '#' matches any text; a type may precede the name */
};

/* A pattern "BEFORE<EXPRESSION>BEHIND" has three expressions: `before` matches the whole start of the subject up to a
 * '/' or ':', `behind` its whole end, and `expression` is found anywhere between them. */
struct selection_pattern {
	regex_t expression; /* unless it has `before`: matches the whole subject */
	regex_t before, behind;
	bool is_split;        /* it has `before` and `behind` */
	bool is_of_signature; /* it contains a '(': matches the name with its parameters, without blanks */
	bool is_of_tau;
	bool has_type; /* TAU: a type precedes the name */
	bool is_plain; /* no wildcards */
};

struct selection_rule {
	enum selection_dialect dialect;
	enum selection_verb verb;
	bool of_files;
	bool of_all; /* applies to all; `pattern` is not set */
	bool of_mangled;
	int level;
	char *group;
	char *why; /* reason for excluding a probe point: "excluded by FILE:LINE" */
	struct selection_pattern pattern;
};

struct selection_exception {
	char *file;
	uint32_t line;
	char *hook_mistake; /* excludes only the hook of the probe point, for this reason; NULL: excludes all of it */
};

struct selection {
	struct selection_rule *rules; /* in the order of their lines */
	size_t rule_count, rule_capacity;
	struct selection_exception *exceptions;
	size_t exception_count, exception_capacity;
	int level; /* for probe points that no rule matches */
	int finest;
	uint32_t statements; /* smaller functions are not instrumented */
	bool has_mangled;    /* a rule applies to the linker's names */
	bool tiny, always_inline, headers;
};

/* Returns 0, or ERROR_FORMAT with the reason in *error. */
int selection_pattern_init(struct selection_pattern *pattern, const char *text, enum pattern_kind kind,
			   struct error *error);
void selection_pattern_release(struct selection_pattern *pattern);
bool selection_pattern_fits_file(const struct selection_pattern *pattern, const char *path);
/* Matches `name`, which is the function's qualified one, or that and its parameters, or for TAU also its type. */
bool selection_pattern_fits_function(const struct selection_pattern *pattern, const char *name,
				     const struct source_point *function);
/* Matches any of the names that linkers give a function. */
bool selection_pattern_fits_linker_name(const struct selection_pattern *pattern, const struct source_point *function);

/* The position in the text that is read. */
struct selection_reading {
	struct selection *selection;
	const char *name; /* file's name; NULL: a word of the command line */
	size_t line;      /* from 1 */
	struct error *error;
};

/* Sets "FILE:LINE: reason". Returns ERROR_FORMAT. */
int selection_wrong(const struct selection_reading *reading, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds `rule` with a pattern (NULL: all). Takes ownership of the rule's texts,
 * also on failure. */
int selection_take(const struct selection_reading *reading, struct selection_rule *rule, const char *pattern,
		   enum pattern_kind kind);

/* A kind of section in the lists of other tools. selection_section_of returns the section that a line begins, or
 * NULL. */
struct selection_section {
	const char *begin, *end;
	int (*read_line)(const struct selection_reading *reading, const struct selection_section *section, char *line,
			 int *state); /* `line` is not empty, without surrounding blanks; *state is 0 at first */
	enum selection_verb verb;
	bool of_files;
};
const struct selection_section *selection_section_of(const char *line);

/* Reads a file's text. `bytes` have a NUL at [size], and are modified. */
int selection_read_text(struct selection *selection, const char *name, char *bytes, size_t size, struct error *error);

#endif
