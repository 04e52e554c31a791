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

struct build_teller {
	void *context;
	/* One line about a file. */
	void (*say)(void *context, const char *text);
	/* What the compiler wrote to standard error. */
	void (*pass_on)(void *context, const char *bytes, size_t size);
	/* What was instrumented and is compiled; `fallback`: why it is not (result then may have no probe points). */
	void (*report)(void *context, const char *source, const struct instrument_result *result, const char *fallback);
};

struct build_options {
	struct selection *selection; /* more may be excepted from it */
	bool headers;
	bool is_explicit; /* as in struct instrument_source */
	bool verbose;     /* say what became of each file */
	bool quiet;       /* not even what falls back */
	double seconds;   /* of CPU time, after which reading a source is given up */
	struct build_teller teller;
};

struct build {
	const struct build_options *options;
	const struct compile_words *words;
	char **argv; /* as it was given */
	struct installed installed;
	struct scratch scratch;
	size_t unit_count;
};

/*
 * Does what the command line says. Returns the exit status, or ends as the compiler did (by a signal); where there is
 * nothing to be done beside it, becomes the compiler and does not return.
 */
int build_run(const struct build_options *options, const struct compile_words *words, char **argv);

/* A list of words, NULL-terminated; each one is its own. For the files of this folder. */
struct word_list {
	char **items;
	size_t count, capacity;
	int error; /* 0 or ERROR_MEMORY */
};
void word_list_add(struct word_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void word_list_release(struct word_list *list);
/* As it came: where the words were in an @file, those behind the compiler are put into one again. 0, or as error_set_errno. */
int word_list_shorten(struct word_list *list, const struct build *build, struct error *error);

/* The options as libclang is to be told them: of a precompiled header it reads the text. */
void parser_words(const struct build *build, struct word_list *list);

/* Compiles the source of that number to `output`; wait()'s status, -1: errno tells. */
int unit_compile(struct build *build, size_t source, const char *output);

/* Where a compiler goes on about a file: `<end of path>` of the words that name directories. */
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
