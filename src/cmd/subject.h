/* The options that `record`, `trace` and `top` share: resources, target and backend. */
#ifndef CMD_SUBJECT_H
#define CMD_SUBJECT_H

#include "base/buffer.h"
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

/* A row of the table of options. `MORE`: what follows the names of the backends that record any process. */
#define SUBJECT_BACKEND_ROW(NAMES, MORE)                                                                              \
	{                                                                                                             \
		SUBJECT_BACKEND, 0, "backend", NAMES,                                                                 \
			"Measure with this backend: bpf counts and unwinds stacks in the kernel, perf copies stacks " \
			"out of it" MORE,                                                                             \
			"the first that is permitted and measures all requested resources"                            \
	}
#define SUBJECT_BACKEND_OPTION                                                                            \
	SUBJECT_BACKEND_ROW("bpf|perf|preload",                                                           \
			    ", preload is a library inside the program that cpprof starts, and needs no " \
			    "privilege")

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

/* The part of a command that records. Its options come from the words: resources, target, duration, backend and command line. */
typedef int subject_action(struct invocation *invocation, struct record_options *options, void *context);

/* Runs `action` with the options that the words give; what they point to lasts until it returns. Returns its exit status,
 * or prints why the words give none and returns that status. */
int subject_run(struct invocation *invocation, subject_action *action, void *context);

/* Appends the processes and the command that the options record, quoted as for a shell and NUL-terminated, for the profile. */
void subject_describe(const struct invocation *invocation, const struct record_options *options, struct buffer *line);

#endif
