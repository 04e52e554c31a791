/*
 * Other tools' formats: one file each in this folder, which holds the format's
 * row, and its name in meson.build. Options, help, manual pages and completion
 * of `cpprof import` and `cpprof export` come from the rows.
 *
 * An exporter gets its input ready: whole call paths, trimmed, stitched, with
 * inlined functions and unique names (analyze/call_paths.h), or the events of a
 * trace (profile/event_source.h). It writes into a sink, and need not look at
 * the sink's error.
 */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/call_paths.h"
#include "analyze/view.h"
#include "base/error.h"
#include "base/sink.h"
#include "profile/event_source.h"
#include "profile/profile.h"

/* Options of `cpprof export` that a format accepts, besides those of any. */
enum format_option {
	FORMAT_RESOURCE = 1 << 0, /* --resource */
	FORMAT_OBJECT = 1 << 1,   /* --object */
	FORMAT_FRAMES = 1 << 2,   /* --no-inlines, --untrimmed, --no-stitch */
};

/* Requirements of a format. */
enum format_need {
	FORMAT_NEEDS_IMAGE = 1 << 0, /* its import: the file of the program or library that ran */
	FORMAT_NEEDS_TRACE = 1 << 1, /* its export: a trace, whose events it lists */
};

/* The frames of the paths that an exporter gets. */
enum format_paths {
	FORMAT_NO_PATHS,    /* it reads the profile's tables, or events */
	FORMAT_BY_FUNCTION, /* a frame is a function */
	FORMAT_BY_LINE,     /* ... and a line executing in it */
};

struct format_input {
	const struct profile *profile;
	/* The resource, or PROFILE_NONE: all, if the format has_several; and how
	 * frames are shown. */
	struct view_options view;
	const char *object;             /* the end of a path, such as "libfoo.so.1"; NULL: the program's */
	struct event_source *events;    /* for FORMAT_NEEDS_TRACE; otherwise NULL. Not owned */
	const struct call_paths *paths; /* format_export fills it in; NULL with FORMAT_NO_PATHS */
};

struct format {
	const char *name;    /* "folded" */
	const char *title;   /* "folded stacks" */
	const char *ending;  /* ending of its files' names, without the dot: "folded" */
	const char *summary; /* one line for help and manual pages */
	unsigned options;    /* enum format_option */
	unsigned needs;      /* enum format_need */
	enum format_paths paths;
	bool has_several; /* a file holds several resources; else one */
	bool is_binary;
	/* Either may be NULL: the format is not read, or not written.
	 * The importer returns a new profile that the caller frees; its addresses
	 * have no names yet (`symbolized`). `name` of the input is for messages
	 * ("stdin:17: ..."); `image` is NULL without FORMAT_NEEDS_IMAGE. */
	struct profile *(*import)(FILE *in, const char *name, const char *image, struct error *error);
	/* Returns 0 or a negative error, with `error` filled in. */
	int (*export)(const struct format_input *input, struct sink *out, struct error *error);
};

extern const struct format *const formats[];        /* NULL-terminated */
const struct format *format_find(const char *name); /* NULL: unknown */

/* Makes the paths that the format needs, writes everything, and finishes the
 * sink. Returns 0 or a negative error. */
int format_export(const struct format *format, const struct format_input *input, struct sink *out, struct error *error);

#endif
