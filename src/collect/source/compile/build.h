/*
 * A compiler's command, done with copies of the sources that have Profiler objects in them. For each source:
 *
 *     instrument ---- the copy lies in a folder that is removed at the end ---- compile it ---- its warnings, with the
 *        |                                                                        |               names of the original
 *        | any doubt                                                    it fails  |
 *        |                                  again, without what the errors are about, twice at most
 *        |                                                                        |
 *        '-------------------------> compile the original: all that it says is the compiler's own <----'
 *
 * Linking adds the library. What is no compilation of ours is executed as it is.
 */
#ifndef COLLECT_SOURCE_COMPILE_BUILD_H
#define COLLECT_SOURCE_COMPILE_BUILD_H

#include <stdbool.h>

#include "collect/source/compile/installed.h"
#include "collect/source/compile/scratch.h"
#include "collect/source/compile/words.h"
#include "collect/source/instrument/instrument.h"
#include "collect/source/instrument/selection.h"

struct build_printer {
	void *context;
	/* One line about a file. */
	void (*print_line)(void *context, const char *text);
	/* The compiler's output on standard error. */
	void (*pass_on)(void *context, const char *bytes, size_t size);
	/* The copy that is compiled; `fallback`: the reason why there is none
	 * (`result` may then have no probe points). */
	void (*report)(void *context, const char *source, const struct instrument_result *result, const char *fallback);
};

struct build_options {
	struct selection *selection; /* more may be excepted from it */
	bool headers;
	bool is_explicit; /* as in struct instrument_source */
	bool verbose;     /* print the result for each file */
	bool quiet;       /* print nothing, not even the reason of a fallback */
	double seconds;   /* CPU time after which libclang's reading of a source ends */
	struct build_printer printer;
};

struct build {
	const struct build_options *options;
	const struct compile_words *words;
	char **argv; /* the words as they were given */
	struct installed installed;
	struct scratch scratch;
	size_t unit_count;
};

/* Executes the command line. Returns the exit status, or ends as the compiler
 * did (by a signal). If there is nothing to instrument, becomes the compiler
 * and does not return. */
int build_run(const struct build_options *options, const struct compile_words *words, char **argv);

/* A list of words, NULL-terminated; each one is its own. For the files of this folder. */
struct word_list {
	char **items;
	size_t count, capacity;
	int error; /* 0 or ERROR_MEMORY */
};
void word_list_add(struct word_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void word_list_release(struct word_list *list);
/* Executes the original command. If the words came from an @file, writes those
 * behind the compiler into one again. Returns 0, or an error as
 * error_set_errno. */
int word_list_shorten(struct word_list *list, const struct build *build, struct error *error);

/* The options for libclang: in place of a precompiled header it reads the
 * header's text. */
void parser_words(const struct build *build, struct word_list *list);

/* Compiles source number `source` to `output`. Returns wait()'s status, or -1
 * and sets errno. */
int unit_compile(struct build *build, size_t source, const char *output);

/* The name under which the compiler continues with a file: `<end of path>` of
 * the words that name directories. */
struct overlay {
	struct path_change *changes; /* copies' folders, those of originals; owned */
	size_t change_count, change_capacity;
	struct word_list words; /* to stand before all others */
};
/*
 * Lays the copies of a result into `folder`: the main file's, and those of headers so that they are found before the originals.
 * The folder stands for that of the source, other folders are made beside it. 0, ERROR_MEMORY, or as error_set_errno.
 */
int overlay_make(struct overlay *overlay, const struct build *build, const char *source, const char *folder,
		 const struct instrument_result *result, struct error *error);
void overlay_release(struct overlay *overlay);

#endif
