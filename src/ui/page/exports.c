/*
 * The functions that the script of the HTML page calls: load the profiles, answer a request for a report, make flame graphs and find
 * their boxes, count hits over time, read the events of a trace. They are a thin layer over ui/page/engine.h, which holds the
 * profiles. This file is compiled to WebAssembly only. The page has one thread, so all state is global.
 *
 * Texts are UTF-8 and end with a NUL. A function that fails returns -1 (or 0 instead of an address); page_error returns the reason until
 * another function is called. Memory whose address a function returns is valid until the same function is called again.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "render/render.h"
#include "ui/page/engine.h"

#define EXPORTED(name) __attribute__((export_name(#name), used)) name

enum { PICTURES = 5, BOXES_MAX = 1 << 18, LEVELS_TRIED = 4096 };

static struct engine engine;
static struct picture pictures[PICTURES];
static const double ns_per_s = 1e9;
static struct timeline *timeline;
static const struct profile *timeline_side; /* that the timeline is of */
static struct error failure;
static char *answered;
static uint64_t searched_hits; /* of the last search */

/* A box as the script reads it. Hits are doubles: integers there have 53 bits. */
struct page_box {
	double start, weight, own;
	double first, other; /* of a pair: the gticks in A and B */
	uint32_t node, label, depth;
	uint32_t flags;  /* enum box_flag */
	uint32_t joined; /* the number of siblings that were joined; 0: it is one box */
	uint32_t reserved;
};

enum box_flag { BOX_MARKED = 1, BOX_CHANGED = 2, BOX_TAIL = 4, BOX_HOLDS = 8 };

static struct flame_box boxes[BOXES_MAX];
static struct page_box shown[BOXES_MAX];
static bool are_cut; /* they are not all of their window */

void *EXPORTED(page_allocate)(size_t size)
{
	return malloc(size);
}

void EXPORTED(page_free)(void *memory)
{
	free(memory);
}

const char *EXPORTED(page_error)(void)
{
	return failure.message;
}

/* Reads the next recording of a side from `bytes`, which it frees. */
int EXPORTED(page_load)(int side, void *bytes, size_t size)
{
	failure = (struct error){ 0 };
	int status = side < 0 || side >= DIFF_SIDES
			     ? ERROR_USAGE
			     : engine_load(&engine, (enum diff_sides)side, bytes, size, &failure);
	free(bytes);
	return status < 0 ? -1 : 0;
}

/* Reads the machine code of the first recording of a side from `bytes`, which it frees. */
int EXPORTED(page_load_code)(int side, void *bytes, size_t size)
{
	failure = (struct error){ 0 };
	int status = side < 0 || side >= DIFF_SIDES
			     ? ERROR_USAGE
			     : engine_load_code(&engine, (enum diff_sides)side, bytes, size, &failure);
	free(bytes);
	return status < 0 ? -1 : 0;
}

const char *EXPORTED(page_ask)(const char *request)
{
	failure = (struct error){ 0 };
	free(answered);
	answered = engine_answer(&engine, request, &failure);
	return answered;
}

/* Makes picture number `slot`, in place of the present picture. Returns the number of its labels. */
int EXPORTED(page_picture)(unsigned slot, const char *request)
{
	failure = (struct error){ 0 };
	if (slot >= PICTURES)
		return -1;
	picture_release(&pictures[slot]);
	int status = picture_make(&pictures[slot], &engine, request, &failure);
	return status < 0 ? -1 : (int)pictures[slot].view->label_count;
}

/* Frees all pictures. */
void EXPORTED(page_forget)(void)
{
	for (size_t i = 0; i < PICTURES; i++)
		picture_release(&pictures[i]);
}

static const struct picture *picture_at(unsigned slot)
{
	return slot < PICTURES && pictures[slot].flame ? &pictures[slot] : NULL;
}

/* The whole numbers of a picture's tree in one hit, or in one gtick of a comparison. */
static double scale_of(const struct picture *picture)
{
	return picture->pair ? (double)picture->pair->scale : 1;
}

/* H, the hits of a picture's selection. */
double EXPORTED(page_total)(unsigned slot)
{
	const struct picture *picture = picture_at(slot);
	return picture ? (double)picture->view->total / scale_of(picture) : 0;
}

/* The error of a share of `hits`, as in reports. */
double EXPORTED(page_share_error)(unsigned slot, double hits)
{
	const struct picture *picture = picture_at(slot);
	return picture ? analyze_error((uint64_t)hits, picture->view->total, picture->view->independent) : 0;
}

const char *EXPORTED(page_label)(unsigned slot, uint32_t label)
{
	const struct picture *picture = picture_at(slot);
	return picture && label < picture->view->label_count ? picture->view->labels[label].text : NULL;
}

/* Ends a text, and keeps it until the next one. */
static const char *end_and_store(struct buffer *text)
{
	static char *last;
	buffer_append_byte(text, 0);
	free(last);
	last = buffer_error(text) ? NULL : (char *)text->bytes;
	if (!last)
		buffer_release(text);
	return last;
}

static struct picture *named_at(unsigned slot)
{
	return slot < PICTURES && pictures[slot].view ? &pictures[slot] : NULL;
}

/* A label's text in at most `columns` (docs/languages.md). */
const char *EXPORTED(page_short_label)(unsigned slot, uint32_t label, uint32_t columns)
{
	struct picture *picture = named_at(slot);
	struct buffer text;
	if (!picture || label >= picture->view->label_count)
		return NULL;
	buffer_init(&text);
	picture_short_label(picture, label, columns, &text);
	return end_and_store(&text);
}

/* The same for the label with this text. */
const char *EXPORTED(page_short_name)(unsigned slot, const char *name, uint32_t columns)
{
	struct picture *picture = named_at(slot);
	struct buffer text;
	if (!picture)
		return NULL;
	buffer_init(&text);
	picture_short_name(picture, name, columns, &text);
	return end_and_store(&text);
}

/* The name of a function with code of this line, of a picture by line. */
const char *EXPORTED(page_function_at)(unsigned slot, const char *file, uint32_t line)
{
	const struct picture *picture = named_at(slot);
	return picture ? picture_function_at(picture, file, line) : NULL;
}

/* The name of the function that a label is of, for reports about it. */
const char *EXPORTED(page_owner)(unsigned slot, uint32_t label)
{
	const struct picture *picture = picture_at(slot);
	return picture && label < picture->view->label_count ? picture->view->labels[label].owner : NULL;
}

/* The module of a label's code, or 0 if it is not known. */
const char *EXPORTED(page_module)(unsigned slot, uint32_t label)
{
	const struct picture *picture = picture_at(slot);
	if (!picture || label >= picture->view->label_count)
		return NULL;
	const struct profile *profile = picture->view->profile;
	uint32_t module = picture->view->labels[label].module;
	return module == PROFILE_NONE ? NULL : profile_string(profile, profile->modules[module].path);
}

/* The width of the boxes of each listed module's code, and of code of no module: doubles, one more than `info` lists modules; then as many own
 * hits. Or 0. */
const double *EXPORTED(page_module_areas)(unsigned slot)
{
	static double *areas;
	const struct picture *picture = picture_at(slot);
	free(areas);
	areas = picture ? picture_module_areas(picture) : NULL;
	return areas;
}

static struct page_box shown_box(const struct picture *picture, const struct flame_box *box)
{
	const struct tree_pair *pair = box->joined > 0 ? NULL : picture->pair;
	bool is_changed = pair && pair->significant && pair->significant[box->node];
	bool is_tail = box->joined == 0 && picture->is_of_view && view_is_tail(picture->view, box->node);
	bool holds = box->joined > 0 ? box->is_marked : picture_holds(picture, box->node);
	double scale = scale_of(picture);
	return (struct page_box){
		.start = (double)box->start / scale,
		.weight = (double)box->weight / scale,
		.own = (double)box->own / scale,
		.first = pair ? pair->gticks[DIFF_A][box->node] : 0,
		.other = pair ? pair->gticks[DIFF_B][box->node] : 0,
		.node = box->node,
		.label = box->label,
		.depth = box->depth,
		.flags = (box->is_marked ? BOX_MARKED : 0) | (is_changed ? BOX_CHANGED : 0) | (is_tail ? BOX_TAIL : 0) |
			 (holds ? BOX_HOLDS : 0),
		.joined = box->joined,
	};
}

/* The total of B, or of the second resource, in gticks; 0: there is none. */
double EXPORTED(page_other_total)(unsigned slot)
{
	const struct picture *picture = picture_at(slot);
	const struct tree_pair *pair = picture ? picture->pair : NULL;
	return pair ? pair->total[DIFF_B] : 0;
}

/* Finds the boxes of a window; page_boxes_at has them. If there are too many, the deepest levels are left out, and page_boxes_are_cut
 * returns 1. Returns their number. */
int EXPORTED(page_boxes)(unsigned slot, uint32_t node, double from, double to, double smallest, uint32_t depths)
{
	const struct picture *picture = picture_at(slot);
	if (!picture || from < 0 || to < from)
		return -1;
	double scale = scale_of(picture);
	struct flame_window window = { .node = node,
				       .from = (uint64_t)(from * scale),
				       .to = (uint64_t)(to * scale),
				       .smallest = (uint64_t)(smallest * scale),
				       .depths = depths,
				       .marks = picture->marks };
	int64_t found = flame_visible(picture->flame, &window, boxes, BOXES_MAX);
	are_cut = found > BOXES_MAX;
	while (found > BOXES_MAX && window.depths != 1) {
		window.depths = window.depths == 0 ? LEVELS_TRIED : window.depths - (window.depths + 3) / 4;
		found = flame_visible(picture->flame, &window, boxes, BOXES_MAX);
	}
	size_t count = found < BOXES_MAX ? (size_t)found : BOXES_MAX;
	for (size_t i = 0; found > 0 && i < count; i++)
		shown[i] = shown_box(picture, &boxes[i]);
	return found < 0 ? -1 : (int)count;
}

int EXPORTED(page_boxes_are_cut)(void)
{
	return are_cut;
}

const struct page_box *EXPORTED(page_boxes_at)(void)
{
	return shown;
}

/* The box above a box, or -1. */
int EXPORTED(page_parent)(unsigned slot, uint32_t node)
{
	const struct picture *picture = picture_at(slot);
	return picture ? (int)flame_parent(picture->flame, node) : -1;
}

/* Returns the path of a box for a what-if, "main;f;g": folded, as the downward profile has it. */
const char *EXPORTED(page_folded_path)(unsigned slot, uint32_t node)
{
	const struct picture *picture = picture_at(slot);
	failure = (struct error){ 0 };
	free(answered);
	answered = picture ? picture_folded_path(picture, node, &failure) : NULL;
	return answered;
}

/* Returns the path of a box for the transform "path", or 0: the picture has other paths. */
const char *EXPORTED(page_whole_path)(unsigned slot, uint32_t node)
{
	const struct picture *picture = picture_at(slot);
	failure = (struct error){ 0 };
	free(answered);
	answered = picture ? picture_whole_path(picture, node, &failure) : NULL;
	return answered;
}

/* Describes one box, as page_boxes does. Returns its address, or 0. */
const struct page_box *EXPORTED(page_box)(unsigned slot, uint32_t node)
{
	static struct page_box described;
	const struct picture *picture = picture_at(slot);
	struct flame_box box;
	if (!picture || flame_box(picture->flame, node, &box) < 0)
		return NULL;
	box.is_marked = picture->marks && box.label != PROFILE_NONE && picture->marks[box.label];
	described = shown_box(picture, &box);
	return &described;
}

/* Marks the labels that contain a text. Returns their number, or -1. page_searched_hits has the hits of the samples with such a label. */
int EXPORTED(page_search)(unsigned slot, const char *text)
{
	if (!picture_at(slot))
		return -1;
	int64_t found = picture_search(&pictures[slot], text, &searched_hits);
	return found < 0 ? -1 : (int)found;
}

double EXPORTED(page_searched_hits)(void)
{
	return (double)searched_hits;
}

/* An amount of a unit as reports print it. */
const char *EXPORTED(page_amount)(double gticks, const char *unit)
{
	static char text[64];
	return render_amount(text, sizeof(text), gticks, unit);
}

/* The same for an interval. */
const char *EXPORTED(page_interval)(double gticks, const char *unit)
{
	static char text[64];
	return gticks < 0 ? NULL : render_interval(text, sizeof(text), (uint64_t)gticks, unit);
}

/* Counts hits over time. Returns the address of [rows x periods] doubles, or 0. page_timeline_rows is then the number of rows. */
const double *EXPORTED(page_timeline)(const char *request, size_t periods)
{
	failure = (struct error){ 0 };
	timeline_free(timeline);
	timeline = periods > 0 ? engine_timeline(&engine, request, periods, &timeline_side, &failure) : NULL;
	return timeline ? timeline->hits : NULL;
}

unsigned EXPORTED(page_timeline_rows)(void)
{
	return timeline ? (unsigned)timeline->row_count : 0;
}

/* The value of the label of a row of the last timeline; NULL: its hits have no such label, or it is a thread. */
const char *EXPORTED(page_timeline_value)(unsigned row)
{
	const struct label_group_list *groups = timeline ? timeline->groups : NULL;
	return groups && row < groups->count && groups->groups[row].label_count > 0
		       ? profile_string(timeline->profile, groups->groups[row].labels->value)
		       : NULL;
}

/* Returns 1 if a hit of the resource has a time and a row, 0 if none has, or -1. */
int EXPORTED(page_has_times)(const char *request)
{
	failure = (struct error){ 0 };
	int has_times = engine_has_times(&engine, request, &failure);
	return has_times < 0 ? -1 : has_times;
}

/* The ends of the last timeline in seconds: 0 the first, 1 the last; 2: the hits outside of it. */
double EXPORTED(page_timeline_end)(int which)
{
	if (!timeline)
		return 0;
	return which == 0   ? (double)timeline->from_ns / ns_per_s
	       : which == 1 ? (double)timeline->to_ns / ns_per_s
			    : (double)timeline->outside;
}

/* The path that created a thread of the last timeline, as "main;start_workers;pthread_create"; "": it is not known. */
const char *EXPORTED(page_thread_path)(size_t thread)
{
	if (!timeline || thread >= timeline->profile->thread_count || !timeline_side)
		return NULL;
	failure = (struct error){ 0 };
	free(answered);
	answered = engine_path(timeline_side, timeline->marks[thread], &failure);
	return answered;
}

/* --- lanes: the events of a trace (set 0), and the samples of a thread (1) --- */

/* Reads the events from `bytes`, which it frees. */
int EXPORTED(page_load_events)(void *bytes, size_t size)
{
	failure = (struct error){ 0 };
	int status = engine_load_events(&engine, bytes, size, &failure);
	free(bytes);
	return status < 0 ? -1 : 0;
}

/* Makes the lane of a thread's samples. `period` is the step of the times in ns. Returns the ns within which samples are joined; 0: each
 * is by itself; or -1. */
double EXPORTED(page_sample_lane)(const char *request, unsigned thread, double period)
{
	uint64_t detail_ns = 0;
	const bool has_period = period > 0 && period < (double)UINT32_MAX * ns_per_s;
	failure = (struct error){ 0 };
	int status =
		engine_sample_lane(&engine, request, thread, has_period ? (uint64_t)period : 0, &detail_ns, &failure);
	return status < 0 ? -1 : (double)detail_ns;
}

static struct lane_set *lane_set_at(unsigned set)
{
	return set < ENGINE_LANE_SETS && engine.lanes[set].lanes ? &engine.lanes[set] : NULL;
}

static const struct lane *lane_at(unsigned set, unsigned lane)
{
	const struct lane_set *at = lane_set_at(set);
	return at && lane < at->lanes->lane_count ? &at->lanes->lanes[lane] : NULL;
}

/* The number of lanes; 0: the page has none. */
unsigned EXPORTED(page_lane_count)(unsigned set)
{
	const struct lane_set *at = lane_set_at(set);
	return at ? (unsigned)at->lanes->lane_count : 0;
}

/* The end of the last event in ns, or the number of calls and marks that the page does not contain. */
double EXPORTED(page_lanes_end)(unsigned set)
{
	const struct lane_set *at = lane_set_at(set);
	return at ? (double)at->lanes->end_ns : 0;
}

double EXPORTED(page_lanes_left_out)(unsigned set)
{
	const struct lane_set *at = lane_set_at(set);
	return at ? (double)at->lanes->left_out : 0;
}

enum lane_fact { LANE_PROCESS, LANE_THREAD, LANE_DEPTHS };

double EXPORTED(page_lane)(unsigned set, unsigned lane, int fact)
{
	const struct lane *of = lane_at(set, lane);
	if (!of)
		return 0;
	const double facts[] = {
		[LANE_PROCESS] = of->process, [LANE_THREAD] = of->thread, [LANE_DEPTHS] = (double)of->depth_count
	};
	return fact >= 0 && (size_t)fact < sizeof(facts) / sizeof(*facts) ? facts[fact] : 0;
}

/* The calls (0) or the marks (1) of a lane in a range of time. */
double EXPORTED(page_lane_count_within)(unsigned set, unsigned lane, double from, double to, int of_marks)
{
	size_t calls, marks;
	const struct lane *of = lane_at(set, lane);
	if (!of || from < 0 || to < from)
		return 0;
	lanes_count(of, (uint64_t)from, (uint64_t)to, &calls, &marks);
	return (double)(of_marks ? marks : calls);
}

const char *EXPORTED(page_lane_name)(unsigned set, uint32_t name)
{
	const struct lane_set *at = lane_set_at(set);
	return at && name < at->lanes->name_count ? at->lanes->names[name] : NULL;
}

/* The same name in at most `columns`. */
const char *EXPORTED(page_short_lane_name)(unsigned set, uint32_t name, uint32_t columns)
{
	struct buffer text;
	struct lane_set *at = lane_set_at(set);
	if (!at || name >= at->lanes->name_count)
		return NULL;
	buffer_init(&text);
	lane_set_short_name(at, name, columns, &text);
	return end_and_store(&text);
}

/* A box as the script reads it; times in ns. */
struct page_lane_box {
	double start, end;
	uint32_t name, count, depth;
	uint32_t flags; /* enum lane_flag */
};

enum lane_flag { LANE_OPEN = 1, LANE_MARK = 2, LANE_USER = 4 };
enum { LANE_BOXES_MAX = 1 << 15 };

static struct lane_box lane_boxes[LANE_BOXES_MAX];
static struct page_lane_box shown_lane_boxes[LANE_BOXES_MAX];

/* Finds the boxes of a range of time of a lane, of its first `depths`; page_lane_boxes_at has them. If there are too many, wider boxes are
 * joined as well, until there is room for all. Returns their number. */
unsigned EXPORTED(page_lane_boxes)(unsigned set, unsigned lane, double from, double to, double narrow, uint32_t depths)
{
	const struct lane *of = lane_at(set, lane);
	if (!of || from < 0 || to < from)
		return 0;
	struct lane_window window = { (uint64_t)from, (uint64_t)to, (uint64_t)narrow, depths };
	size_t found = lanes_visible(of, &window, lane_boxes, LANE_BOXES_MAX);
	while (found > LANE_BOXES_MAX && window.narrow_ns < window.to_ns) {
		window.narrow_ns = 2 * window.narrow_ns + 1;
		found = lanes_visible(of, &window, lane_boxes, LANE_BOXES_MAX);
	}
	size_t count = found < LANE_BOXES_MAX ? found : LANE_BOXES_MAX;
	for (size_t i = 0; i < count; i++) {
		const struct lane_box *box = &lane_boxes[i];
		shown_lane_boxes[i] = (struct page_lane_box){
			.start = (double)box->start_ns,
			.end = (double)box->end_ns,
			.name = box->name,
			.count = box->count,
			.depth = box->depth,
			.flags = (box->is_open ? LANE_OPEN : 0) | (box->is_mark ? LANE_MARK : 0) |
				 (box->is_user ? LANE_USER : 0),
		};
	}
	return (unsigned)count;
}

const struct page_lane_box *EXPORTED(page_lane_boxes_at)(void)
{
	return shown_lane_boxes;
}
