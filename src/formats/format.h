/*
 * File formats of other tools. Each format is one file of this folder, which contains the format's row. The options, help, manual pages and completion of `cpprof import` and `cpprof export` come from
 * the rows.
 *
 * An exporter gets either complete call paths, trimmed, stitched, with inlined functions and unique names
 * (analyze/call_paths.h), or the events of a trace (profile/event_source.h). It writes into a sink and need not
 * check the sink's error.
 */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/call_paths.h"
#include "analyze/settings.h"
#include "base/error.h"
#include "base/sink.h"
#include "profile/event_source.h"
#include "profile/profile.h"

/* Options of `cpprof export` that a format accepts, in addition to those of every format. */
enum format_option {
	FORMAT_RESOURCE = SETTING_RESOURCE,
	FORMAT_FRAMES = SETTING_FRAMES | SETTING_TRANSFORM,
	FORMAT_SELECTION = SETTING_HITS,
	FORMAT_EVENT_SELECTION = SETTING_HITS & ~SETTING_LABEL, /* events have no labels */
	FORMAT_OBJECT = SETTING_END,                            /* --object */
};

/* Requirements of a format. */
enum format_need {
	FORMAT_NEEDS_IMAGE = 1 << 0, /* for import: the file of the program or library that ran */
	FORMAT_NEEDS_TRACE = 1 << 1, /* for export: a trace, whose events it lists */
	FORMAT_TAKES_TRACE = 1 << 2, /* for export: it writes the events, if the profile is a trace */
	FORMAT_NEEDS_START = 1 << 3, /* for export: the time at which the recording began, or the file's last change */
};

/* The frames of the paths that an exporter gets. */
enum format_paths {
	FORMAT_NO_PATHS,    /* it reads the tables of the profile, whose hits are the selected ones, or events */
	FORMAT_BY_FUNCTION, /* a frame is a function */
	FORMAT_BY_LINE,     /* a frame is a function and the line that executes in it */
};

struct format_input {
	const struct profile *profile;
	/* The resource, or PROFILE_NONE for all, if the format has_several; and how frames are shown. */
	struct view_options view;
	const char *object; /* the end of a path, such as "libfoo.so.1"; NULL: the program */
	/* Not owned. NULL without FORMAT_NEEDS_TRACE; with FORMAT_TAKES_TRACE, also if the
	 * profile is not a trace, and if a resource or labels are selected, which events do not
	 * have. */
	struct event_source *events;
	const struct call_paths *paths; /* format_export fills it in; NULL with FORMAT_NO_PATHS */
};

struct format {
	const char *name;    /* "folded" */
	const char *title;   /* "folded stacks" */
	const char *ending;  /* suffix of its file names, without the dot: "folded" */
	const char *summary; /* one line for help and manual pages */
	unsigned options;    /* enum format_option */
	unsigned needs;      /* enum format_need */
	enum format_paths paths;
	bool has_several; /* a file contains several resources, not only one */
	bool is_binary;
	bool is_unmarked; /* its files have no mark: it is recognised only if no other format is */
	/* Returns whether a file that begins with these bytes (at most
	 * IMPORT_STREAM_START_BYTES; fewer: the whole file) is in the format. NULL: never. */
	bool (*recognise)(const unsigned char *start, size_t bytes);
	/* Either function may be NULL: the format cannot be read, or not written. The importer returns a new profile,
	 * which the caller frees, or NULL and sets `error`. The profile's addresses need not be named yet
	 * (`symbolized`). `name` is the input's name for messages ("stdin:17: ..."). `image` is NULL without
	 * FORMAT_NEEDS_IMAGE. */
	struct profile *(*import)(FILE *in, const char *name, const char *image, struct error *error);
	/* Returns 0 or a negative error, and then sets `error`. */
	int (*export)(const struct format_input *input, struct sink *out, struct error *error);
};

/* The formats, in the order of the help. A new one is a file with one struct, and its name here. */
/* clang-format off */
#define FORMATS(X) \
	X(folded) X(perf_script) X(trace_text) X(strace) X(heaptrack) X(gmon) X(events) X(pprof) X(speedscope) \
	X(firefox) X(callgrind) X(chrome) X(otlp) X(gcc_profile) X(gcc_profile_11) X(llvm_profile) \
	X(llvm_profile_contexts) X(llvm_profile_flat) X(symbol_order) X(perf_data)
/* clang-format on */
#define X(name) extern const struct format format_##name;
FORMATS(X)
#undef X
extern const struct format *const formats[];        /* NULL-terminated */
const struct format *format_find(const char *name); /* NULL: unknown */
/* Returns the format that recognises a file by its first bytes, or NULL. */
const struct format *format_recognise(const unsigned char *start, size_t bytes);

/* Returns the word that formats have for a resource's unit: "nanoseconds" for "ns", "bytes" for
 * "byte"; other units as they are. */
const char *format_unit(const char *unit);
/* The inverse. */
const char *format_unit_read(const char *word);

/* Makes the paths that the format needs, writes everything, and finishes the sink. Returns 0 or a negative error. */
int format_export(const struct format *format, const struct format_input *input, struct sink *out, struct error *error);

#endif
