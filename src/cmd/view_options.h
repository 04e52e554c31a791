/*
 * The options that several commands share: the selection of a profile, and the form of the result. A command adds
 * the rows it needs to its table and calls view_request_init once.
 */
#ifndef CMD_VIEW_OPTIONS_H
#define CMD_VIEW_OPTIONS_H

#include "analyze/settings.h"
#include "base/buffer.h"
#include "base/error.h"
#include "cmd/command.h"
#include "render/render.h"

/* The value of --transform in help, by which completion knows it. */
#define VALUE_TRANSFORM "KIND=FUNCTION"

enum {
	OPTION_RESOURCE = 1,
	OPTION_THRESHOLD,
	OPTION_LIMIT,
	OPTION_ZEROS,
	OPTION_BY,
	OPTION_THREAD,
	OPTION_PROCESS,
	OPTION_CGROUP,
	OPTION_LABEL,
	OPTION_FROM,
	OPTION_TO,
	OPTION_KERNEL,
	OPTION_NO_INLINES,
	OPTION_UNTRIMMED,
	OPTION_NATIVE_FRAMES,
	OPTION_NO_TAIL_CALLS,
	OPTION_NO_STITCH,
	OPTION_TRANSFORM,
	OPTION_FORMAT,
	OPTION_LONG,
	OPTION_NO_PAGER,
	OPTION_SPREAD,
	OPTION_OWN, /* the first id of the options of a command */
};

/* The rows of the shared options. */
/* clang-format off */
#define ROW_RESOURCES(standard) \
	{ OPTION_RESOURCE, 'r', "resource", "RES", "Report resource RES only; may be given several times", standard }
#define ROW_THRESHOLD \
	{ OPTION_THRESHOLD, 't', "threshold", "F", "Leave out entries with a smaller usage fraction (0.01 or 1%)", "0.005" }
#define ROW_LIMIT \
	{ OPTION_LIMIT, 'n', "limit", "N", "Show at most N entries; 0: all", "40" }
#define ROW_ZEROS \
	{ OPTION_ZEROS, 0, "zeros", NULL, "List also paths and functions without hits of the resource, and all below the threshold", NULL }
#define ROW_SPREAD \
	{ OPTION_SPREAD, 0, "spread", "F", \
	  "With one recording of each side: assume that the totals of equal programs differ by F from run to run (standard deviation; 0.05 or 5%)", \
	  "0.05" }
#define ROW_BY \
	{ OPTION_BY, 0, "by", "KIND", "Show a frame as its %s (callsite: function@file:line)", \
	  "function" }
#define ROWS_SELECTION \
	{ OPTION_THREAD, 0, "thread", "THREAD", "Count only this thread: a TID, a name, or #N of its row in 'info'", \
	  NULL }, \
	{ OPTION_PROCESS, 0, "process", "PROCESS", "Count only this process: a PID, a name, or #N; may be given several times", \
	  NULL }, \
	{ OPTION_CGROUP, 0, "cgroup", "PATTERN", "Count only processes of this control group and below: /a/b, or '*b*'", NULL }, \
	{ OPTION_LABEL, 0, "label", "KEY=VALUE", "Count only hits with this label of cpprof_label; of several keys, all must hold", NULL }, \
	{ OPTION_FROM, 0, "from", "SECONDS", "Count only from this time on, since the start of the recording", NULL }, \
	{ OPTION_TO, 0, "to", "SECONDS", "Count only up to this time", NULL }
#define ROWS_FRAMES \
	{ OPTION_KERNEL, 0, "kernel", "show|hide|only", \
	  "Show the kernel's functions, charge what they use to the code that entered the kernel, or show and count nothing else", \
	  "show" }, \
	{ OPTION_NO_INLINES, 0, "no-inlines", NULL, "Count an inlined function as the function it is part of", NULL }, \
	{ OPTION_UNTRIMMED, 0, "untrimmed", NULL, "Show also the frames of the C library above main and thread starts", \
	  NULL }, \
	{ OPTION_NATIVE_FRAMES, 0, "native-frames", NULL, "Show also the interpreter's own frames above the functions that it interprets", \
	  NULL }, \
	{ OPTION_NO_TAIL_CALLS, 0, "no-tail-calls", NULL, "Leave out functions that were found in the code because a tail call removed them from stacks", \
	  NULL }, \
	{ OPTION_NO_STITCH, 0, "no-stitch", NULL, "Begin paths at their thread's start, not at the path that started the thread", NULL }, \
	{ OPTION_TRANSFORM, 0, "transform", VALUE_TRANSFORM, \
	  "Change the call paths first; in the order given: focus=F or path=F;G (count only hits with it; paths begin at its last function), " \
	  "drop=F (count only hits without F), merge=F (F's own hits are its caller's), above=F (leave out what is above F), " \
	  "collapse=F (show F once where it is recursive)", \
	  NULL }
#define ROWS_TERMINAL \
	{ OPTION_LONG, 0, "long", NULL, \
	  "On a terminal: print names in full and each frame in a row of its own, in rows of any length", NULL }, \
	{ OPTION_NO_PAGER, 0, "no-pager", NULL, "On a terminal: do not start a pager (CPPROF_PAGER, PAGER, or less)", NULL }
#define ROW_FORMAT \
	{ OPTION_FORMAT, 0, "format", "FORMAT", "Write %s", "text" }
/* clang-format on */

/* struct command.words of these options; the second is for a command whose result is a description, not a table. */
word_at *view_option_words(int id);
word_at *document_option_words(int id);

/* Returns the setting of a shared option, or NULL if it is none. */
const struct setting *view_setting(const struct command_option *option);

/* Returns whether no option chooses by the thread, process or time of a hit. A store has selected by the times already. */
bool view_takes_sums(const struct invocation *invocation);

/* The values of the shared options. */
struct view_request {
	struct settings settings; /* its view's `resource` is set for each of the resources in turn */
	struct render_options render;
	struct buffer selection; /* the text of render.selection */
};

/* Reads the shared options of the invocation. Without --resource, all resources of the profile are chosen that are no companions
 * (profile/companion.h). Without a
 * profile (NULL), no resources are chosen: for commands without options that need a profile. Returns 0 or a negative
 * error; then there is nothing to release. */
int view_request_init(struct view_request *request, const struct invocation *invocation, const struct profile *profile,
		      struct error *error);
void view_request_release(struct view_request *request);

/* Reads the value of --format. Returns 0 or ERROR_USAGE. */
int view_read_format(const char *text, enum render_format *format, struct error *error);

/* Converts the invocation's profile to lexical paths (analyze/lexical.h). Returns EXIT_DONE, or prints a message and
 * returns another exit status. */
int view_make_lexical(struct invocation *invocation);

#endif
