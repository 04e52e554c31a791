/*
 * Results as text, JSON or CSV: the one place that knows how a profile looks.
 * Used by cmd/ and explore/. Writes to a stream and nowhere else.
 */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/analyses.h"
#include "analyze/view.h"
#include "profile/profile.h"

enum render_format { RENDER_TEXT, RENDER_JSON, RENDER_CSV };

struct render_options {
	enum render_format format;
	double threshold; /* usage fraction below which an entry is not shown */
	size_t limit;     /* entries shown; 0: all */
	bool colour;      /* text only */
};

/* "Downward Call Path Profile", "Body Profile", ... : the heading's first words. */
void render_paths(FILE *out, const char *heading, const struct view *view, const struct path_list *list,
		  const struct render_options *options);
void render_tree(FILE *out, const struct view *view, const struct render_options *options);
void render_lines(FILE *out, const char *function, const struct view *view, const struct line_list *lines,
		  const struct render_options *options);
void render_diff(FILE *out, const char *heading, const struct view *a, const struct view *b,
		 const struct diff_list *list, const struct render_options *options);
void render_what_if(FILE *out, const struct view *view, const struct what_if *paths, size_t count,
		    const struct what_if_result *result, const struct render_options *options);
void render_info(FILE *out, const struct profile *profile, const char *file_name, uint64_t file_bytes,
		 const struct render_options *options);

#endif
