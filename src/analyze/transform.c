/* The lists of transforms, and the profiles that they were applied to. transform_paths.c computes the paths. */
#include "analyze/transform.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/transform_paths.h"
#include "base/array.h"
#include "base/quote.h"
#include "base/words.h"

struct transformed {
	size_t holders;
	const struct profile *source; /* not owned */
	/* The tables of `source`, with more nodes and locations, and the hits and touches at their new nodes. It owns these. */
	struct profile profile;
	struct view_options frames; /* how frames are shown; the rest is not used */
	struct transforms list;     /* owned; its `kept` is this object */
};

/* --- the kinds --- */

static const struct {
	const char *word, *help;
} kinds[] = {
	[TRANSFORM_FOCUS] = { "focus", "count only hits with the function; paths begin at it" },
	[TRANSFORM_PATH] = { "path", "count only hits whose paths begin with these functions, as main;parse" },
	[TRANSFORM_DROP] = { "drop", "count only hits without the function" },
	[TRANSFORM_MERGE] = { "merge", "leave the function out; its own hits are its caller's" },
	[TRANSFORM_ABOVE] = { "above", "leave out what is above the function" },
	[TRANSFORM_COLLAPSE] = { "collapse", "show the function once where it is recursive" },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

const char *transform_kind_word(size_t kind)
{
	return kind < KINDS ? kinds[kind].word : NULL;
}

const char *transform_kind_help(size_t kind)
{
	return kind < KINDS ? kinds[kind].help : NULL;
}

/* --- lists --- */

struct transforms *transforms_new(void)
{
	return calloc(1, sizeof(struct transforms));
}

static void release_list(struct transforms *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].text);
	free(list->items);
	*list = (struct transforms){ 0 };
}

void transforms_free(struct transforms *list)
{
	if (!list)
		return;
	transformed_drop(list->kept);
	release_list(list);
	free(list);
}

int transforms_add(struct transforms *list, const char *text, struct error *error)
{
	char words[80];
	size_t kind = 0, length = strcspn(text, "=");
	while (kind < KINDS && (strlen(kinds[kind].word) != length || strncmp(kinds[kind].word, text, length) != 0))
		kind++;
	if (kind == KINDS || !text[length])
		return error_set(error, ERROR_USAGE, "%s is no transform (KIND=FUNCTION; KIND is %s)", QUOTE(text),
				 words_list(transform_kind_word, words, sizeof(words)));
	if (!text[length + 1])
		return error_set(error, ERROR_USAGE, "transform %s has no function (as %s=main)", QUOTE(text),
				 kinds[kind].word);
	char *copy = strdup(text);
	if (!copy || ARRAY_RESERVE(list->items, list->capacity, list->count + 1) < 0) {
		free(copy);
		return error_set(error, ERROR_MEMORY, "out of memory");
	}
	list->items[list->count++] =
		(struct transform){ .kind = (enum transform_kind)kind, .text = copy, .name = copy + length + 1 };
	return 0;
}

void transforms_forget(struct transforms *list)
{
	if (!list || !list->kept || list == &list->kept->list)
		return;
	transformed_drop(list->kept);
	list->kept = NULL;
}

bool transforms_are_equal(const struct transforms *a, const struct transforms *b)
{
	size_t count = a ? a->count : 0;
	if (count != (b ? b->count : 0))
		return false;
	for (size_t i = 0; i < count; i++)
		if (strcmp(a->items[i].text, b->items[i].text) != 0)
			return false;
	return true;
}

void transforms_show(const struct transforms *list, struct buffer *text)
{
	for (size_t i = 0; i < list->count; i++) {
		buffer_append_string(text, i > 0 ? ", " : "");
		buffer_append_string(text, list->items[i].text);
	}
}

static void append_step(const char *name, struct buffer *text)
{
	for (const char *at = name; *at; at++) {
		if (strchr(";=\\", *at))
			buffer_append_byte(text, '\\');
		buffer_append_byte(text, (uint8_t)*at);
	}
}

void transform_path_append(const struct view *view, uint32_t node, struct buffer *text)
{
	uint32_t length = 0;
	for (uint32_t at = node; at != PROFILE_ROOT; at = view->parent[at])
		length++;
	for (uint32_t i = length; i > 0; i--) {
		uint32_t at = node;
		for (uint32_t k = 1; k < i; k++)
			at = view->parent[at];
		append_step(view->labels[view->label[at]].owner, text);
		buffer_append_string(text, i > 1 ? ";" : "");
	}
}

/* --- profiles --- */

/* Returns the options that change which frames are shown, and thus which functions are on a path. */
static struct view_options frames_of(const struct view_options *options)
{
	return (struct view_options){
		.thread = VIEW_ANY,
		.kernel = options->kernel,
		.no_inlines = options->no_inlines,
		.untrimmed = options->untrimmed,
		.native_frames = options->native_frames,
		.no_tail_calls = options->no_tail_calls,
		.no_stitch = options->no_stitch,
	};
}

static bool same_frames(const struct view_options *a, const struct view_options *b)
{
	return a->kernel == b->kernel && a->no_inlines == b->no_inlines && a->untrimmed == b->untrimmed &&
	       a->native_frames == b->native_frames && a->no_tail_calls == b->no_tail_calls &&
	       a->no_stitch == b->no_stitch;
}

void transformed_drop(struct transformed *transformed)
{
	if (!transformed || --transformed->holders > 0)
		return;
	transform_paths_release(&transformed->profile);
	release_list(&transformed->list);
	free(transformed);
}

const struct profile *transformed_profile(const struct transformed *transformed)
{
	return &transformed->profile;
}

const struct profile *transformed_source(const struct transformed *transformed)
{
	return transformed->source;
}

struct transforms *transformed_list(struct transformed *transformed)
{
	return &transformed->list;
}

static int copy_list(struct transforms *to, const struct transforms *from, struct error *error)
{
	int status = 0;
	for (size_t i = 0; i < from->count && status == 0; i++)
		status = transforms_add(to, from->items[i].text, error);
	return status;
}

static int make(const struct profile *profile, const struct view_options *options, struct transformed **result,
		struct error *error)
{
	struct transformed *made = calloc(1, sizeof(*made));
	if (!made)
		return error_set(error, ERROR_MEMORY, "out of memory");
	made->holders = 1;
	made->source = profile;
	made->frames = frames_of(options);
	int status = copy_list(&made->list, options->transforms, error);
	made->list.kept = made;
	if (status == 0)
		status = transform_paths_begin(&made->profile, profile, error);
	for (size_t i = 0; i < made->list.count && status == 0; i++)
		status = transform_paths(&made->profile, &made->list.items[i], &made->frames, error);
	if (status == 0)
		*result = made;
	else
		transformed_drop(made);
	return status;
}

/* Returns the result that a list has, if it is of this profile and these frames. */
static struct transformed *kept_for(const struct transforms *list, const struct profile *profile,
				    const struct view_options *options)
{
	struct transformed *kept = list->kept;
	bool fits =
		kept && (profile == kept->source || profile == &kept->profile) && same_frames(&kept->frames, options);
	return fits ? kept : NULL;
}

int transformed_get(const struct profile *profile, const struct view_options *options, struct transformed **result,
		    struct error *error)
{
	struct transforms *list = options->transforms;
	struct error own;
	*result = NULL;
	if (!list || list->count == 0)
		return 0;
	*result = kept_for(list, profile, options);
	if (*result) {
		(*result)->holders++;
		return 0;
	}
	if (list->kept && profile == &list->kept->profile)
		profile = list->kept->source;
	int status = make(profile, options, result, error ? error : &own);
	if (status == 0)
		transforms_share(options, profile, *result);
	return status;
}

void transforms_share(const struct view_options *options, const struct profile *profile,
		      struct transformed *transformed)
{
	struct transforms *list = options->transforms;
	bool is_part = list && list->kept && list == &list->kept->list;
	if (!list || is_part || list->kept == transformed || !transforms_are_equal(list, &transformed->list) ||
	    transformed->source != profile || !same_frames(&transformed->frames, options))
		return;
	transformed_drop(list->kept);
	list->kept = transformed;
	transformed->holders++;
}
