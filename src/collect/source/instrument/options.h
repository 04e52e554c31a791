/* The options of compilers, as gcc and clang have them: which of them matter to a parser, and
 * which take the next word as their value. */
#ifndef COLLECT_SOURCE_INSTRUMENT_OPTIONS_H
#define COLLECT_SOURCE_INSTRUMENT_OPTIONS_H

#include <stdbool.h>

/* The use of an option for libclang. */
enum option_use {
	OPTION_DROP,      /* for warnings, code generation, linking, ...: irrelevant for a parser */
	OPTION_KEEP,      /* passed to libclang unchanged */
	OPTION_ASK,       /* ... and to the compiler, when it is run to find its header folders */
	OPTION_ASK_ALONE, /* to the compiler only: header folders are passed on by name */
	OPTION_LANGUAGE,
	OPTION_STANDARD,
	OPTION_MODULES /* no copy can be made of modules */
};

struct option_rule {
	const char *word;
	enum option_use use;
	bool is_prefix; /* further text may follow in the same word */
	bool has_next;  /* the next word is its value, unless one is attached */
};

/* Returns the rule of a word, or NULL for a word to drop that has no value. */
const struct option_rule *option_of(const char *word);

/* Returns whether the next word is the value of `word`. Its rule may be NULL. */
bool option_takes_next(const struct option_rule *rule, const char *word);

/* The language of a file by its suffix. */
enum option_language { LANGUAGE_OTHER, LANGUAGE_C, LANGUAGE_CXX };
enum option_language option_language_of(const char *path);

/* Returns whether a compiler makes an object of the file: it is no header. */
bool option_is_source(const char *path);

#endif
