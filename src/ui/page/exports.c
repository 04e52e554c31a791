/*
 * The functions that the page's script calls. This file is compiled to WebAssembly only; there is one engine, and one thread.
 *
 * Texts are UTF-8 and end with a NUL. A function that fails returns -1 (or 0 instead of an address), and page_error has the reason
 * until the next call. The memory whose address a function returns is valid until its next call.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "ui/page/engine.h"

#define EXPORTED(name) __attribute__((export_name(#name), used)) name

enum { PICTURES = 4, BOXES_MAX = 1 << 16 };

static struct engine engine;
static struct picture pictures[PICTURES];
static struct timeline *timeline;
static const struct profile *timeline_side; /* that the timeline is of */
static struct error failure;
static char *answered;

/* A box as the script reads it. Hits are doubles: integers there have 53 bits. */
struct page_box {
	double start, weight, own;
	double first, other; /* of a pair: the gticks in both */
	uint32_t node, label, depth;
	uint32_t flags; /* enum box_flag */
};

enum box_flag { BOX_MARKED = 1, BOX_CHANGED = 2, BOX_TAIL = 4 };

static struct flame_box boxes[BOXES_MAX];
static struct page_box shown[BOXES_MAX];

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

/* Reads a profile from `bytes`, which it frees. */
int EXPORTED(page_load)(int side, void *bytes, size_t size)
{
	failure = (struct error){ 0 };
	int status = side < 0 || side >= ENGINE_SIDES ? ERROR_USAGE : engine_load(&engine, side, bytes, size, &failure);
	free(bytes);
	return status < 0 ? -1 : 0;
}

const char *EXPORTED(page_ask)(const char *request)
{
	failure = (struct error){ 0 };
	free(answered);
	answered = engine_ask(&engine, request, &failure);
	return answered;
}

/* Makes picture number `slot`, in place of the one that is there. Returns the number of its labels. */
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

/* H, the hits of a picture's selection. */
double EXPORTED(page_total)(unsigned slot)
{
	const struct picture *picture = picture_at(slot);
	return picture ? (double)picture->view->total : 0;
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
static const char *kept(struct buffer *text)
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

/* A label's text in at most `columns` (docs/names.md). */
const char *EXPORTED(page_short_label)(unsigned slot, uint32_t label, uint32_t columns)
{
	struct picture *picture = named_at(slot);
	struct buffer text;
	if (!picture || label >= picture->view->label_count)
		return NULL;
	buffer_init(&text);
	picture_short_label(picture, label, columns, &text);
	return kept(&text);
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
	return kept(&text);
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

static struct page_box shown_box(const struct picture *picture, const struct flame_box *box)
{
	const struct tree_pair *pair = picture->pair;
	bool is_marked = picture->marks && box->label != PROFILE_NONE && picture->marks[box->label];
	bool is_changed = pair && pair->significant && pair->significant[box->node];
	bool is_tail = picture->is_of_view && view_is_tail(picture->view, box->node);
	return (struct page_box){
		.start = (double)box->start,
		.weight = (double)box->weight,
		.own = (double)box->own,
		.first = pair ? (double)pair->weight[0][box->node] * (double)pair->interval[0] : 0,
		.other = pair ? (double)pair->weight[1][box->node] * (double)pair->interval[1] : 0,
		.node = box->node,
		.label = box->label,
		.depth = box->depth,
		.flags = (is_marked ? BOX_MARKED : 0) | (is_changed ? BOX_CHANGED : 0) | (is_tail ? BOX_TAIL : 0),
	};
}

/* The total of the second one of a pair in gticks; 0: there is none. */
double EXPORTED(page_other_total)(unsigned slot)
{
	const struct picture *picture = picture_at(slot);
	const struct tree_pair *pair = picture ? picture->pair : NULL;
	return pair ? (double)pair->total[1] * (double)pair->interval[1] : 0;
}

/* Finds the boxes of a window; page_boxes_at has them. Returns their number. */
int EXPORTED(page_boxes)(unsigned slot, uint32_t node, double from, double to, double smallest, uint32_t depths)
{
	const struct picture *picture = picture_at(slot);
	if (!picture || from < 0 || to < from)
		return -1;
	const struct flame_window window = { .node = node,
					     .from = (uint64_t)from,
					     .to = (uint64_t)to,
					     .smallest = (uint64_t)smallest,
					     .depths = depths };
	int64_t found = flame_visible(picture->flame, &window, boxes, BOXES_MAX);
	size_t count = found < BOXES_MAX ? (size_t)found : BOXES_MAX;
	for (size_t i = 0; found > 0 && i < count; i++)
		shown[i] = shown_box(picture, &boxes[i]);
	return found < 0 ? -1 : (int)count;
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

/* Describes one box, as page_boxes does. Returns its address, or 0. */
const struct page_box *EXPORTED(page_box)(unsigned slot, uint32_t node)
{
	static struct page_box described;
	const struct picture *picture = picture_at(slot);
	struct flame_box box;
	if (!picture || flame_box(picture->flame, node, &box) < 0)
		return NULL;
	described = shown_box(picture, &box);
	return &described;
}

/* Marks the labels that contain a text. Returns the hits of the samples with such a label, or -1. */
double EXPORTED(page_search)(unsigned slot, const char *text)
{
	uint64_t hits = 0;
	if (!picture_at(slot) || picture_search(&pictures[slot], text, &hits) < 0)
		return -1;
	return (double)hits;
}

/* Counts hits over time. Returns the address of [threads x periods] doubles, or 0. */
const double *EXPORTED(page_timeline)(const char *request, size_t periods)
{
	failure = (struct error){ 0 };
	timeline_free(timeline);
	timeline = periods > 0 ? engine_timeline(&engine, request, periods, &timeline_side, &failure) : NULL;
	if (!timeline)
		return NULL;
	/* A double takes the place of each number. */
	for (size_t i = 0; i < timeline->thread_count * periods; i++) {
		double hits = (double)timeline->hits[i];
		memcpy(&timeline->hits[i], &hits, sizeof(hits));
	}
	return (const double *)(const void *)timeline->hits;
}

/* Returns 1 if a hit of the resource has a time and a thread, 0 if none has, or -1. */
int EXPORTED(page_has_times)(const char *request)
{
	failure = (struct error){ 0 };
	int has_times = engine_has_times(&engine, request, &failure);
	return has_times < 0 ? -1 : has_times;
}

/* The ends of the last timeline in seconds: 0 the first, 1 the last; 2: the hits outside of it. */
double EXPORTED(page_timeline_end)(int which)
{
	const double ns_per_s = 1e9;
	if (!timeline)
		return 0;
	return which == 0   ? (double)timeline->from_ns / ns_per_s
	       : which == 1 ? (double)timeline->to_ns / ns_per_s
			    : (double)timeline->outside;
}

/* The path that created a thread of the last timeline, as "main;start_workers;pthread_create"; "": it is not known. */
const char *EXPORTED(page_thread_path)(size_t thread)
{
	if (!timeline || thread >= timeline->thread_count || !timeline_side)
		return NULL;
	failure = (struct error){ 0 };
	free(answered);
	answered = engine_creator(timeline_side, timeline->marks[thread], &failure);
	return answered;
}

/* --- the events of a trace --- */

/* Reads the events from `bytes`, which it frees. */
int EXPORTED(page_load_events)(void *bytes, size_t size)
{
	failure = (struct error){ 0 };
	int status = engine_load_events(&engine, bytes, size, &failure);
	free(bytes);
	return status < 0 ? -1 : 0;
}

/* The number of lanes; 0: the page has no events. */
unsigned EXPORTED(page_lane_count)(void)
{
	return engine.lanes ? (unsigned)engine.lanes->lane_count : 0;
}

/* The end of the last event in ns, or the number of calls and marks that the page does not contain. */
double EXPORTED(page_lanes_end)(void)
{
	return engine.lanes ? (double)engine.lanes->end_ns : 0;
}

double EXPORTED(page_lanes_left_out)(void)
{
	return engine.lanes ? (double)engine.lanes->left_out : 0;
}

enum lane_fact { LANE_PROCESS, LANE_THREAD, LANE_DEPTHS };

double EXPORTED(page_lane)(unsigned lane, int fact)
{
	if (!engine.lanes || lane >= engine.lanes->lane_count)
		return 0;
	const struct lane *of = &engine.lanes->lanes[lane];
	const double facts[] = {
		[LANE_PROCESS] = of->process, [LANE_THREAD] = of->thread, [LANE_DEPTHS] = (double)of->depth_count
	};
	return fact >= 0 && (size_t)fact < sizeof(facts) / sizeof(*facts) ? facts[fact] : 0;
}

/* The calls (0) or the marks (1) of a lane in a range of time. */
double EXPORTED(page_lane_count_within)(unsigned lane, double from, double to, int of_marks)
{
	size_t calls, marks;
	if (!engine.lanes || lane >= engine.lanes->lane_count || from < 0 || to < from)
		return 0;
	lanes_count(&engine.lanes->lanes[lane], (uint64_t)from, (uint64_t)to, &calls, &marks);
	return (double)(of_marks ? marks : calls);
}

const char *EXPORTED(page_lane_name)(uint32_t name)
{
	return engine.lanes && name < engine.lanes->name_count ? engine.lanes->names[name] : NULL;
}

/* The same name in at most `columns`. */
const char *EXPORTED(page_short_lane_name)(uint32_t name, uint32_t columns)
{
	struct buffer text;
	if (!engine.lanes || name >= engine.lanes->name_count)
		return NULL;
	buffer_init(&text);
	engine_short_lane_name(&engine, name, columns, &text);
	return kept(&text);
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

/* Finds the boxes of a range of time of a lane; page_lane_boxes_at has them. Returns their number. */
unsigned EXPORTED(page_lane_boxes)(unsigned lane, double from, double to, double narrow)
{
	if (!engine.lanes || lane >= engine.lanes->lane_count || from < 0 || to < from)
		return 0;
	size_t found = lanes_visible(&engine.lanes->lanes[lane], (uint64_t)from, (uint64_t)to, (uint64_t)narrow,
				     lane_boxes, LANE_BOXES_MAX);
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
