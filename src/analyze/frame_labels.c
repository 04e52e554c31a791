/* Makes labels of frames, in each of the forms that a view can show. */
#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"
#include "base/array.h"
#include "base/path.h"
#include "profile/thread_mark.h"

/* The code that a label represents: a function, one frame of it, or a module. */
struct code {
	uint32_t function, frame, module; /* PROFILE_NONE: none */
};

static struct code code_of_frame(const struct view_build *build, uint32_t frame)
{
	uint32_t function = build->profile->frames[frame].function;
	return (struct code){ .function = function,
			      .frame = frame,
			      .module = build->profile->functions[function].module };
}

static struct code code_of_module(uint32_t module)
{
	return (struct code){ .function = PROFILE_NONE, .frame = PROFILE_NONE, .module = module };
}

/* Makes the text a label. `text` and `owner` are text ids; `owner` is the name of the function, module or group. If
 * the text is a label already, the values of the first call stay. */
static int64_t make_label(struct view_build *build, int64_t text, int64_t owner, uint32_t name_length, struct code code)
{
	if (text < 0)
		return text;
	size_t old = build->draft_capacity;
	if (ARRAY_RESERVE(build->drafts, build->draft_capacity, (size_t)text + 1) < 0)
		return ERROR_MEMORY;
	if (build->draft_capacity > old)
		memset(build->drafts + old, 0, (build->draft_capacity - old) * sizeof(*build->drafts));
	struct draft *draft = &build->drafts[text];
	if (!draft->label.text)
		*draft = (struct draft){ .label = { .text = strings_get(build->view->texts, (uint32_t)text),
						    .owner = strings_get(build->view->texts, (uint32_t)owner),
						    .function = code.function,
						    .module = code.module,
						    .frame = code.frame,
						    .name_length = name_length },
					 .used = build->view->options.by != VIEW_CALLSITE };
	return text;
}

/* Makes the text of `scratch` a label: the text of `shown` with a suffix. */
static int64_t scratch_label(struct view_build *build, const struct shown_name *shown, struct code code)
{
	if (buffer_error(&build->scratch))
		return ERROR_MEMORY;
	int64_t text = strings_add(build->view->texts, (const char *)build->scratch.bytes, build->scratch.size);
	return make_label(build, text, shown->text, shown->name_length, code);
}

static int64_t plain_label(struct view_build *build, uint32_t frame)
{
	const struct shown_name *shown = &build->functions[build->profile->frames[frame].function];
	return make_label(build, shown->text, shown->text, shown->name_length, code_of_frame(build, frame));
}

static int64_t line_label(struct view_build *build, uint32_t id)
{
	const struct profile_frame *frame = &build->profile->frames[id];
	const struct shown_name *shown = &build->functions[frame->function];
	if (frame->line == 0)
		return plain_label(build, id);
	buffer_clear(&build->scratch);
	buffer_append_string(&build->scratch, strings_get(build->view->texts, shown->text));
	buffer_printf(&build->scratch, ":%u", frame->line);
	return scratch_label(build, shown, code_of_frame(build, id));
}

/* Makes a text that differs for different frames: the part after the name has a fixed length. */
static int64_t detail_label(struct view_build *build, uint32_t id)
{
	const struct profile_frame *frame = &build->profile->frames[id];
	const struct shown_name *shown = &build->functions[frame->function];
	bool is_inlined = frame->inlined && !build->view->options.no_inlines;
	buffer_clear(&build->scratch);
	buffer_append_string(&build->scratch, strings_get(build->view->texts, shown->text));
	buffer_printf(&build->scratch, "\t%08x%08x%d", frame->file, frame->line, is_inlined);
	return scratch_label(build, shown, code_of_frame(build, id));
}

/* For a location that was never symbolized. */
static int64_t address_label(struct view_build *build, const struct profile_location *location)
{
	buffer_clear(&build->scratch);
	buffer_append_string(&build->scratch, strings_get(build->view->texts, build->modules[location->module].text));
	buffer_printf(&build->scratch, "+0x%llx", (unsigned long long)location->address);
	if (buffer_error(&build->scratch))
		return ERROR_MEMORY;
	uint32_t length = (uint32_t)build->scratch.size;
	int64_t text = strings_add(build->view->texts, (const char *)build->scratch.bytes, length);
	return make_label(build, text, text, length, code_of_module(location->module));
}

static int64_t module_label(struct view_build *build, uint32_t module)
{
	const struct shown_name *shown = &build->modules[module];
	return make_label(build, shown->text, shown->text, shown->name_length, code_of_module(module));
}

/* Code without a group, or without a name (PROFILE_NONE), is in the group "[no group]". */
static int64_t group_label(struct view_build *build, uint32_t function)
{
	static const char none[] = "[no group]";
	uint32_t id = function == PROFILE_NONE ? 0 : build->profile->functions[function].group;
	const char *group = profile_string(build->profile, id);
	const char *shown = group[0] ? group : none;
	uint32_t length = (uint32_t)strlen(shown);
	int64_t text = strings_add(build->view->texts, shown, length);
	return make_label(build, text, text, length, code_of_module(PROFILE_NONE));
}

/* Makes "qsort@process_db.c:88": the frame `called`, with the line at which the frame `caller` calls it. */
static int64_t callsite_label(struct view_build *build, uint32_t called, uint32_t caller)
{
	uint32_t line_id = caller == PROFILE_NONE ? PROFILE_NONE : build->frame_line[caller];
	if (line_id == PROFILE_NONE)
		return plain_label(build, called);
	const struct shown_name *shown = &build->functions[build->profile->frames[called].function];
	uint64_t key = (uint64_t)shown->text << 32 | line_id;
	uint32_t known = hash_map_get(&build->callsites, key);
	if (known != HASH_MAP_NONE)
		return known;
	const struct profile_frame *frame = &build->profile->frames[caller];
	buffer_clear(&build->scratch);
	buffer_append_string(&build->scratch, strings_get(build->view->texts, shown->text));
	buffer_printf(&build->scratch, "@%s:%u", path_basename(profile_string(build->profile, frame->file)),
		      frame->line);
	int64_t text = scratch_label(build, shown, code_of_frame(build, called));
	if (text < 0 || hash_map_put(&build->callsites, key, (uint32_t)text) < 0)
		return text < 0 ? text : ERROR_MEMORY;
	return text;
}

/* The frames of a location that the view shows: [first, first + count), innermost first. */
struct shown_frames {
	uint32_t first;
	uint32_t count; /* 0: not symbolized */
};

static struct shown_frames shown_frames(const struct view_build *build, const struct profile_location *location)
{
	if (location->first_frame == PROFILE_NONE || location->frame_count == 0)
		return (struct shown_frames){ 0 };
	if (build->view->options.no_inlines)
		return (struct shown_frames){ location->first_frame + location->frame_count - 1, 1 };
	return (struct shown_frames){ location->first_frame, location->frame_count };
}

/* Returns the label of one frame. `caller` is the next outer frame in the same location, or PROFILE_NONE for the
 * location's outermost frame, which can have different callers. */
static int64_t frame_label(struct view_build *build, const struct profile_location *location, uint32_t frame,
			   uint32_t caller)
{
	const struct profile_frame *at = &build->profile->frames[frame];
	switch (build->view->options.by) {
	case VIEW_CALLSITE:
		return callsite_label(build, frame, caller);
	case VIEW_LINE:
		return line_label(build, frame);
	case VIEW_MODULE:
		return module_label(build, location->module);
	case VIEW_FRAME:
		return detail_label(build, frame);
	case VIEW_GROUP:
		return group_label(build, at->function);
	case VIEW_FUNCTION:
	default:
		return plain_label(build, frame);
	}
}

static bool is_start(const struct view_build *build, uint32_t frame)
{
	return build->profile->functions[build->profile->frames[frame].function].role == ROLE_START;
}

/* Appends to frame_labels. Returns 0 or a negative error. */
static int add_label(struct view_build *build, uint32_t label)
{
	size_t count = build->frame_label_count;
	if (count >= LABEL_END)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(build->frame_labels, build->frame_label_capacity, count + 1) < 0)
		return ERROR_MEMORY;
	build->frame_labels[count] = label;
	build->frame_label_count++;
	return 0;
}

static int label_unnamed(struct view_build *build, const struct profile_location *location,
			 struct location_labels *labels)
{
	enum view_by by = build->view->options.by;
	int64_t label = by == VIEW_MODULE  ? module_label(build, location->module)
			: by == VIEW_GROUP ? group_label(build, PROFILE_NONE)
					   : address_label(build, location);
	if (label < 0)
		return (int)label;
	labels->top = (uint32_t)label;
	labels->count = 1;
	return add_label(build, labels->top);
}

static int label_frames(struct view_build *build, const struct profile_location *location, struct shown_frames frames,
			struct location_labels *labels)
{
	uint32_t caller = PROFILE_NONE;
	while (labels->count < frames.count) {
		uint32_t frame = frames.first + frames.count - 1 - labels->count;
		int64_t label = frame_label(build, location, frame, caller);
		if (label < 0)
			return (int)label;
		if (caller != PROFILE_NONE)
			build->drafts[label].used = true;
		if (!build->view->options.untrimmed && labels->lead == labels->count && is_start(build, frame))
			labels->lead++;
		int added = add_label(build, (uint32_t)label);
		if (added < 0)
			return added;
		labels->count++;
		caller = frame;
	}
	uint32_t top = labels->lead < frames.count ? labels->lead : frames.count - 1;
	int64_t label = frame_label(build, location, frames.first + frames.count - 1 - top, PROFILE_NONE);
	labels->top = (uint32_t)label;
	return label < 0 ? (int)label : 0;
}

static int label_location(struct view_build *build, uint32_t id)
{
	const struct profile_location *location = &build->profile->locations[id];
	struct location_labels *labels = &build->locations[id];
	struct shown_frames frames = shown_frames(build, location);
	labels->first = (uint32_t)build->frame_label_count;
	if (!thread_mark_is_at(build->profile, id)) { /* thread marks have no labels */
		int result = frames.count == 0 ? label_unnamed(build, location, labels)
					       : label_frames(build, location, frames, labels);
		if (result < 0)
			return result;
		labels->label = build->frame_labels[labels->first];
	}
	return add_label(build, LABEL_END);
}

/* Numbers the distinct (file, line) pairs at which frames call. */
static int number_lines(struct view_build *build)
{
	const struct profile *profile = build->profile;
	build->frame_line = malloc((profile->frame_count + 1) * sizeof(*build->frame_line));
	if (!build->frame_line)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];
		build->frame_line[i] = PROFILE_NONE;
		if (frame->line == 0 || !profile_string(profile, frame->file)[0])
			continue;
		uint64_t key = (uint64_t)frame->file << 32 | frame->line;
		uint32_t line_id = hash_map_get(&build->line_ids, key);
		if (line_id == HASH_MAP_NONE) {
			line_id = (uint32_t)build->line_ids.count;
			if (hash_map_put(&build->line_ids, key, line_id) < 0)
				return ERROR_MEMORY;
		}
		build->frame_line[i] = line_id;
	}
	return 0;
}

int frame_labels_make(struct view_build *build)
{
	const struct profile *profile = build->profile;
	build->locations = calloc(profile->location_count + 1, sizeof(*build->locations));
	if (!build->locations)
		return ERROR_MEMORY;
	build->location_count = profile->location_count;
	int result = build->view->options.by == VIEW_CALLSITE ? number_lines(build) : 0;
	for (uint32_t i = 0; i < profile->location_count && result >= 0; i++)
		result = label_location(build, i);
	return result;
}

int64_t frame_labels_of_call(struct view_build *build, uint32_t location, uint32_t caller)
{
	const struct profile *profile = build->profile;
	if (location_opens(build, location))
		return build->locations[location].top;
	location = location_origin(build, location);
	caller = location_origin(build, caller);
	struct shown_frames callee_frames = shown_frames(build, &profile->locations[location]);
	struct shown_frames caller_frames = shown_frames(build, &profile->locations[caller]);
	if (callee_frames.count == 0 || caller_frames.count == 0)
		return build->locations[location].label;
	uint32_t outermost = callee_frames.first + callee_frames.count - 1;
	return callsite_label(build, outermost, caller_frames.first);
}

static int compare_labels(const void *left, const void *right)
{
	return strcmp(((const struct view_label *)left)->text, ((const struct view_label *)right)->text);
}

/* Maps each function to its label, for analyses that read the profile's frames. */
static int map_functions(struct view_build *build)
{
	struct view *view = build->view;
	size_t count = build->profile->function_count;
	view->function_label = malloc((count + 1) * sizeof(*view->function_label));
	if (!view->function_label)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++)
		view->function_label[i] = build->label_of_text[build->functions[i].text];
	return 0;
}

int frame_labels_finish(struct view_build *build)
{
	struct view *view = build->view;
	size_t text_count = view->texts->count;
	size_t known = build->draft_capacity < text_count ? build->draft_capacity : text_count;
	size_t count = 0;
	for (size_t i = 0; i < known; i++)
		count += build->drafts[i].used;
	view->labels = malloc((count + 1) * sizeof(*view->labels));
	build->label_of_text = malloc((text_count + 1) * sizeof(*build->label_of_text));
	if (!view->labels || !build->label_of_text)
		return ERROR_MEMORY;
	memset(build->label_of_text, 0xff, (text_count + 1) * sizeof(*build->label_of_text));
	/* While labels are sorted, name_length holds the text's id. */
	uint32_t *lengths = malloc((text_count + 1) * sizeof(*lengths));
	if (!lengths)
		return ERROR_MEMORY;
	for (uint32_t i = 0; i < known; i++) {
		if (!build->drafts[i].used)
			continue;
		lengths[i] = build->drafts[i].label.name_length;
		view->labels[view->label_count] = build->drafts[i].label;
		view->labels[view->label_count++].name_length = i;
	}
	qsort(view->labels, count, sizeof(*view->labels), compare_labels);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t text = view->labels[i].name_length;
		build->label_of_text[text] = i;
		view->labels[i].name_length = lengths[text];
	}
	free(lengths);
	return view->options.by == VIEW_FUNCTION ? map_functions(build) : 0;
}
