/* The options that `record` and `trace` share: resources, target and backend. */
#ifndef CMD_SUBJECT_H
#define CMD_SUBJECT_H

#include "base/buffer.h"
#include "base/error.h"
#include "cmd/command.h"
#include "collect/sample/monitor.h"

/* Ids of the shared options. The ids of other options of a command begin with SUBJECT_OPTIONS_END. */
enum {
	SUBJECT_RESOURCE = 1,
	SUBJECT_PID,
	SUBJECT_COMM,
	SUBJECT_CHILDREN,
	SUBJECT_NO_CHILDREN,
	SUBJECT_ALL,
	SUBJECT_DURATION,
	SUBJECT_BACKEND,
	SUBJECT_NO_KERNEL,
	SUBJECT_OPTIONS_END,
};

/* A row of the table of options. */
#define SUBJECT_BACKEND_OPTION                                                                                        \
	{                                                                                                             \
		SUBJECT_BACKEND, 0, "backend", "bpf|perf|preload",                                                    \
			"Measure with this backend: bpf counts and unwinds stacks in the kernel, perf copies stacks " \
			"out of it, preload is a library inside the program that cpprof starts, and needs no "        \
			"privilege",                                                                                  \
			"the first that is permitted and measures all requested resources"                            \
	}

/* Rows for the processes that a recording attaches to. `verb` as in "record". */
#define SUBJECT_PROCESS_OPTIONS(verb, verbing)                                                                         \
	{ SUBJECT_PID,                                                                                                 \
	  'p',                                                                                                         \
	  "pid",                                                                                                       \
	  "PID",                                                                                                       \
	  verb " a running process, all its threads and the processes that it has started, and leave it running; ^C "  \
	       "ends the " verbing "; may be given several times",                                                     \
	  NULL },                                                                                                      \
	{                                                                                                              \
		SUBJECT_COMM, 0, "comm", "NAME",                                                                       \
			"The same for each process that now has this name, as 'ps -e' shows it; may be given several " \
			"times",                                                                                       \
			NULL                                                                                           \
	}

#define SUBJECT_CHILDREN_OPTIONS                                                           \
	{ SUBJECT_CHILDREN,                                                                \
	  0,                                                                               \
	  "children",                                                                      \
	  NULL,                                                                            \
	  "Include the processes that the target has started and will start: the default", \
	  NULL },                                                                          \
	{                                                                                  \
		SUBJECT_NO_CHILDREN, 0, "no-children", NULL, "Leave them out", NULL        \
	}

#define SUBJECT_NO_KERNEL_OPTION                                                                                      \
	{                                                                                                             \
		SUBJECT_NO_KERNEL, 0, "no-kernel", NULL,                                                              \
			"Leave out the kernel's functions: paths end where they enter the kernel, and samples taken " \
			"there cost less",                                                                            \
			NULL                                                                                          \
	}

/* struct command.words: the names of resources and backends. */
word_at *subject_option_words(int id);

/* Fills in the resources and the target: command, processes, everything, duration and backend. options->processes is
 * an empty list, which the caller releases in any case. Returns 0, ERROR_USAGE, ERROR_LIMIT, ERROR_NOT_FOUND if no
 * process has a name that was given, or the error of listing processes. */
int subject_take(const struct invocation *invocation, struct record_options *options, struct error *error);

/* Appends the command line, quoted as for a shell and NUL-terminated, for the profile. */
void subject_describe(const struct invocation *invocation, const struct record_options *options, struct buffer *line);

/* Returns the number if the whole word is a positive number, or -1. */
double positive_number(const char *word);

#endif
