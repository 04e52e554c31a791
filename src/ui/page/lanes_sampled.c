#include <stdlib.h>
#include <string.h>

#include "analyze/moments.h"
#include "base/buffer.h"
#include "profile/profile.h"
#include "ui/page/lanes.h"

enum { DETAILS_FIRST = 1 << 16 }; /* the first step to lower detail divides the recording into so many parts */

/* The state while the moments of a thread become calls. */
struct sampling {
	const struct view *view;
	struct lanes *lanes;
	struct lane *lane;
	uint32_t *path;  /* owned; [view->depth + 1]: the nodes of the last moment, outermost first */
	uint32_t *taken; /* owned; [view->depth + 1]: scratch */
	size_t *next; /* owned; [view->depth + 1]: by depth, how many calls there are, or the place of the next one */
	uint32_t *names; /* owned; [view->label_count]: the number of a label's name, or PROFILE_NONE */
	struct buffer texts;
};

static uint32_t name_of(struct sampling *sampling, uint32_t node)
{
	uint32_t label = sampling->view->label[node];
	if (sampling->names[label] == PROFILE_NONE) {
		sampling->names[label] = (uint32_t)sampling->lanes->name_count++;
		buffer_append_string(&sampling->texts, sampling->view->labels[label].text);
		buffer_append_byte(&sampling->texts, 0);
	}
	return sampling->names[label];
}

/* Writes the nodes from the outermost frame to `node` into `taken`. Returns their number. */
static size_t take_path(struct sampling *sampling, uint32_t node)
{
	const struct view *view = sampling->view;
	size_t depth = 0, at;
	for (uint32_t above = node; above != 0; above = view->parent[above])
		depth++;
	for (at = depth; at > 0; node = view->parent[node])
		sampling->taken[--at] = node;
	return depth;
}

/* Begins the calls of a moment that the moment before it does not have, and lets the others go on. Without memory for calls, it only
 * counts them. */
static void add_moment(struct sampling *sampling, const struct moment *moment, size_t depth, size_t same)
{
	struct lane_call *calls = sampling->lane->calls;
	for (size_t i = 0; i < depth; i++) {
		uint32_t node = sampling->path[i] = sampling->taken[i];
		if (i >= same)
			sampling->next[i]++;
		if (!calls)
			continue;
		struct lane_call *call = &calls[sampling->next[i] - 1];
		if (i >= same)
			*call = (struct lane_call){ .start_ns = moment->from_ns, .name = name_of(sampling, node) };
		call->end_ns = moment->to_ns;
	}
}

static void add_moments(struct sampling *sampling, const struct moments *moments)
{
	size_t before = 0;
	for (size_t i = 0; i < moments->count; i++) {
		const struct moment *moment = &moments->items[i];
		size_t depth = take_path(sampling, moment->node), same = 0;
		while (same < depth && same < before && sampling->taken[same] == sampling->path[same])
			same++;
		add_moment(sampling, moment, depth, same);
		before = depth;
	}
}

/* Counts the calls by depth, and sets the lane's numbers of calls and depths. */
static void count_calls(struct sampling *sampling, const struct moments *moments)
{
	struct lane *lane = sampling->lane;
	memset(sampling->next, 0, (sampling->view->depth + 1) * sizeof(*sampling->next));
	add_moments(sampling, moments);
	lane->call_count = lane->depth_count = 0;
	while (lane->depth_count < sampling->view->depth && sampling->next[lane->depth_count] > 0)
		lane->call_count += sampling->next[lane->depth_count++];
}

static int place_calls(struct sampling *sampling, const struct moments *moments)
{
	struct lane *lane = sampling->lane;
	lane->calls = malloc((lane->call_count + 1) * sizeof(*lane->calls));
	lane->depths = calloc(lane->depth_count + 1, sizeof(*lane->depths));
	if (!lane->calls || !lane->depths)
		return ERROR_MEMORY;
	for (size_t i = 0; i < lane->depth_count; i++)
		lane->depths[i + 1] = lane->depths[i] + sampling->next[i];
	memcpy(sampling->next, lane->depths, lane->depth_count * sizeof(*sampling->next));
	add_moments(sampling, moments);
	return 0;
}

/* Makes the lane of the times that samples stand for. Its calls have the first name there is. */
static int add_covered(struct sampling *sampling, const struct moments *moments)
{
	struct lane *lane = &sampling->lanes->lanes[LANES_COVERED];
	lane->calls = malloc((moments->count + 1) * sizeof(*lane->calls));
	lane->depths = calloc(2, sizeof(*lane->depths));
	if (!lane->calls || !lane->depths)
		return ERROR_MEMORY;
	for (size_t i = 0; i < moments->count && sampling->lanes->name_count > 0; i++) {
		const struct moment *moment = &moments->items[i];
		if (i == 0 || moment->from_ns > moments->items[i - 1].to_ns)
			lane->calls[lane->call_count++] = (struct lane_call){ .start_ns = moment->from_ns };
		lane->calls[lane->call_count - 1].end_ns = moment->to_ns;
	}
	lane->depth_count = lane->call_count > 0;
	lane->depths[lane->depth_count] = lane->call_count;
	return 0;
}

/* Makes the calls, at the highest detail with at most `most` of them. */
static int add_calls(struct sampling *sampling, uint64_t period_ns, size_t most, uint64_t *detail_ns,
		     struct error *error)
{
	const uint64_t all_ns = profile_duration_ns(sampling->view->profile);
	for (*detail_ns = 0;; *detail_ns = *detail_ns > 0 ? 2 * *detail_ns : all_ns / DETAILS_FIRST + 1) {
		struct moments *moments = analyze_moments(sampling->view, period_ns, *detail_ns, error);
		if (!moments)
			return error->code;
		count_calls(sampling, moments);
		bool is_enough = sampling->lane->call_count <= most || *detail_ns > all_ns;
		int status = is_enough ? place_calls(sampling, moments) : 0;
		if (is_enough && status == 0)
			status = add_covered(sampling, moments);
		moments_free(moments);
		if (is_enough || status < 0)
			return status < 0 ? error_set(error, status, "out of memory while ordering samples") : 0;
	}
}

/* Makes a mark for each moment of samples with equal times. A sample without a known frame has none. */
static int add_marks(struct sampling *sampling, uint64_t period_ns, struct error *error)
{
	struct lane *lane = sampling->lane;
	struct moments *moments = analyze_moments(sampling->view, period_ns, 0, error);
	if (!moments)
		return error->code;
	lane->marks = malloc((moments->count + 1) * sizeof(*lane->marks));
	for (size_t i = 0; lane->marks && i < moments->count; i++) {
		const struct moment *moment = &moments->items[i];
		if (moment->node != 0)
			lane->marks[lane->mark_count++] = (struct lane_mark){ .time_ns = moment->sampled_ns,
									      .name = name_of(sampling, moment->node) };
		sampling->lanes->end_ns = moment->to_ns;
	}
	moments_free(moments);
	return lane->marks ? 0 : error_set(error, ERROR_MEMORY, "out of memory while ordering samples");
}

static int begin(struct sampling *sampling)
{
	const struct view *view = sampling->view;
	struct lanes *lanes = sampling->lanes;
	buffer_init(&sampling->texts);
	sampling->path = malloc((view->depth + 1) * sizeof(*sampling->path));
	sampling->taken = malloc((view->depth + 1) * sizeof(*sampling->taken));
	sampling->next = calloc(view->depth + 1, sizeof(*sampling->next));
	sampling->names = malloc((view->label_count + 1) * sizeof(*sampling->names));
	lanes->lanes = calloc(LANES_COVERED + 1, sizeof(*lanes->lanes));
	if (!sampling->path || !sampling->taken || !sampling->next || !sampling->names || !lanes->lanes)
		return ERROR_MEMORY;
	memset(sampling->names, 0xff, view->label_count * sizeof(*sampling->names)); /* PROFILE_NONE */
	const struct profile_thread *thread = &view->profile->threads[view->options.thread];
	lanes->lane_count = LANES_COVERED + 1;
	sampling->lane = lanes->lanes;
	sampling->lane->process = view->profile->processes[thread->process].pid;
	sampling->lane->thread = thread->tid;
	return 0;
}

/* Gives the texts of the names to the lanes. */
static int keep_names(struct sampling *sampling)
{
	struct lanes *lanes = sampling->lanes;
	lanes->names = calloc(lanes->name_count + 1, sizeof(*lanes->names));
	if (!lanes->names || buffer_error(&sampling->texts))
		return ERROR_MEMORY;
	lanes->texts = (char *)sampling->texts.bytes;
	buffer_init(&sampling->texts);
	const char *text = lanes->texts;
	for (size_t i = 0; i < lanes->name_count; i++, text += strlen(text) + 1)
		lanes->names[i] = text;
	return 0;
}

struct lanes *lanes_sampled(const struct view *view, uint64_t period_ns, size_t most, uint64_t *detail_ns,
			    struct error *error)
{
	struct sampling sampling = { .view = view, .lanes = calloc(1, sizeof(*sampling.lanes)) };
	int status = sampling.lanes ? begin(&sampling) : ERROR_MEMORY;
	if (status == 0)
		status = add_calls(&sampling, period_ns, most, detail_ns, error);
	if (status == 0)
		status = add_marks(&sampling, period_ns, error);
	if (status == 0)
		status = keep_names(&sampling);
	free(sampling.path);
	free(sampling.taken);
	free(sampling.next);
	free(sampling.names);
	buffer_release(&sampling.texts);
	if (status == 0)
		return sampling.lanes;
	lanes_free(sampling.lanes);
	error_set(error, ERROR_MEMORY, "out of memory while ordering samples");
	return NULL;
}
