/*
 * A compiler's command, executed with copies of the sources that contain Profiler objects. For each source:
 *
 *     instrument ---- the copy is in a folder that is removed at the end ---- compile it ---- its warnings, with the
 *        |                                                                       |               names of the original
 *        | any doubt                                                   it fails  |
 *        |                            again, without the hooks or probe points in the errors
 *        |                                                                       |
 *        '-------------------------> compile the original: all messages are the compiler's own <----'
 *
 * Linking adds the library. A command that compiles no source that cpprof can instrument is executed unchanged.
 */
#ifndef COLLECT_SOURCE_COMPILE_BUILD_H
#define COLLECT_SOURCE_COMPILE_BUILD_H

#include <stdbool.h>

#include "collect/source/compile/installed.h"
#include "collect/source/compile/scratch.h"
#include "collect/source/compile/word_list.h"
#include "collect/source/compile/words.h"
#include "collect/source/instrument/instrument.h"
#include "collect/source/instrument/selection.h"

struct build_printer {
	void *context;
	/* One line about a file. */
	void (*print_line)(void *context, const char *text);
	/* The compiler's output on standard error. */
	void (*pass_on)(void *context, const char *bytes, size_t size);
	/* Reports the copy that is compiled. `fallback`: the reason why the original is compiled instead (`result`
	 * may then have no probe points); NULL: the copy is. */
	void (*report)(void *context, const char *source, const struct instrument_result *result, const char *fallback);
};

struct build_options {
	struct selection *selection; /* a copy that does not compile adds exceptions to it */
	bool headers;
	bool is_explicit; /* as in struct instrument_source */
	bool verbose;     /* print the result for each file */
	bool quiet;       /* print nothing, not even the reason of a fallback */
	double seconds;   /* limit of CPU time for instrumenting a source */
	struct build_printer printer;
};

struct build {
	const struct build_options *options;
	const struct compile_words *words;
	char **argv; /* the original words */
	struct installed installed;
	struct scratch scratch;
	size_t unit_count;
};

/* Executes the command line. Returns the exit status, or ends by the signal that ended the compiler. If there is
 * nothing to instrument, executes the compiler in this process and does not return. */
int build_run(const struct build_options *options, const struct compile_words *words, char **argv);

/* --- for the files of this folder --- */

void build_print_line(const struct build_options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* response_file.c: shortens a command: if the original words came from an @file, writes the words behind the compiler into an @file
 * again. Returns 0, or a negative error as error_set_errno. */
int word_list_shorten(struct word_list *list, const struct build *build, struct error *error);

/* Adds the options for libclang, which reads the text of a header instead of a precompiled one. */
void parser_words(const struct build *build, struct word_list *list);

/* Compiles source number `source` to `output`. Returns wait()'s status, or -1
 * and sets errno. */
int unit_compile(struct build *build, size_t source, const char *output);

/* The copies of one source and its headers in the temporary folder, and the words with which a compiler finds them. */
struct overlay {
	struct path_change *changes; /* names of copies' folders to the names of the originals' folders; owned */
	size_t change_count, change_capacity;
	struct word_list words; /* to precede all other words */
};
/*
 * Writes the copies of a result into `folder`: the main file's, and the copies of headers, so that the compiler finds
 * them before the originals. `folder` replaces the source's folder; copies of other folders are made beside it.
 * Returns 0, ERROR_MEMORY, or a negative error as error_set_errno.
 */
int overlay_make(struct overlay *overlay, const struct build *build, const char *source, const char *folder,
		 const struct instrument_result *result, struct error *error);
void overlay_release(struct overlay *overlay);

/* rejected.c: the probe points of a copy that the compiler rejects, by its messages. */

/* Excludes what the errors in `messages`, which have the names of the originals, are about: the hooks of the probe
 * points in their lines; where a line has no hook, the probe points; and if no line has a probe point, the functions
 * that contain such lines. Returns true if it excluded any: another attempt may succeed. */
bool rejected_points_except(struct selection *selection, const struct instrument_result *result, const char *messages);

#endif
