#include "reports/summary.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/hot_path.h"
#include "base/columns.h"
#include "render/emit.h"
#include "render/info.h"

enum {
	ROW_BYTES = 64,
	SHARE_WIDTH = 14,
	AMOUNT_WIDTH = 11,
	PERIOD_MOST = 16,
	ROWS_LEAST = 3,
	INDENT = 2,
	BRANCH_PART = 3,   /* of all rows, the part that branches may have */
	BRANCH_COLUMNS = 2 /* of the mark before a branch */
};

static const double BRANCH_SHARE = 0.05;

/* --- figures --- */

static void print_right(FILE *out, size_t width, const char *text)
{
	size_t columns = text_columns(text, strlen(text));
	fprintf(out, "%*s%s", (int)(columns < width ? width - columns : 0), "", text);
}

void figures_print(FILE *out, const struct view *view, uint64_t hits, const uint64_t *error,
		   const struct render_options *options)
{
	char text[ROW_BYTES];
	double share = fraction_of(hits, view->total);
	bool is_painted = share >= RENDER_SHARE_WARM;
	if (is_painted)
		paint_on(out, share >= RENDER_SHARE_HOT ? PAINT_HOT : PAINT_WARM, options);
	print_right(out, SHARE_WIDTH, render_share(text, sizeof(text), view, hits, error, "±"));
	if (is_painted)
		paint_off(out, options);
	double gticks = (double)hits * (double)view->resource->interval;
	fputc(' ', out);
	print_right(out, AMOUNT_WIDTH,
		    render_amount(text, sizeof(text), gticks, profile_string(view->profile, view->resource->unit)));
	fputs("  ", out);
}

/* --- which rows --- */

bool summary_is_part(const struct view *view)
{
	return view->total != info_resource_sum(view->profile, view->options.resource).hits;
}

uint64_t summary_selected_ns(const struct view *view)
{
	const struct view_options *options = &view->options;
	uint64_t end_ns = profile_duration_ns(view->profile);
	if (options->to_ns > 0 && options->to_ns < end_ns)
		end_ns = options->to_ns;
	return end_ns > options->from_ns ? end_ns - options->from_ns : 0;
}

bool summary_has_own(const struct result *result)
{
	return result->own->charged_count > 0 && result->own->library_count > 0;
}

bool summary_has_waits(const struct result *result)
{
	return result->kernel->waits > 0;
}

bool summary_has_kernel(const struct result *result)
{
	static const double share_min = 0.05;
	return fraction_of(result->kernel->hits, result->view->total) >= share_min;
}

/* --- the rows of the hot path --- */

static int find_frames(struct hot_path_rows *path, const struct view *view)
{
	for (uint32_t node = hot_path_next(view, 0); node != PROFILE_NONE; node = hot_path_next(view, node))
		path->frames++;
	size_t room = path->frames + 1; /* malloc(0) may return NULL */
	path->nodes = malloc(room * sizeof(*path->nodes));
	path->labels = malloc(room * sizeof(*path->labels));
	path->rows = malloc(room * sizeof(*path->rows));
	if (!path->nodes || !path->labels || !path->rows)
		return ERROR_MEMORY;
	uint32_t node = 0;
	for (size_t i = 0; i < path->frames; i++) {
		node = hot_path_next(view, node);
		path->nodes[i] = node;
		path->labels[i] = view->label[node];
	}
	return 0;
}

static int compare_branches(const void *left, const void *right, void *context)
{
	const struct view *view = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	if (view->weight[a] != view->weight[b])
		return view->weight[a] < view->weight[b] ? 1 : -1;
	return (a > b) - (a < b);
}

static int find_branches(struct hot_path_rows *path, const struct view *view)
{
	uint32_t last = path->frames > 0 ? path->nodes[path->frames - 1] : 0;
	uint32_t first = view->child_start[last], end = view->child_start[last + 1];
	path->branches = malloc((size_t)(end - first + 1) * sizeof(*path->branches));
	if (!path->branches)
		return ERROR_MEMORY;
	for (uint32_t i = first; i < end; i++)
		if (fraction_of(view->weight[view->child[i]], view->total) >= BRANCH_SHARE)
			path->branches[path->branch_count++] = view->child[i];
	if (path->branch_count > 0)
		qsort_r(path->branches, path->branch_count, sizeof(*path->branches), compare_branches, (void *)view);
	return 0;
}

/* Finds the cycle of at most PERIOD_MOST frames that begins at a frame and, repeated without a gap, covers most frames. Sets *period.
 * Returns the number of covered frames, at least twice the period; or 0. */
static size_t find_cycle(const struct hot_path_rows *path, size_t at, size_t *period)
{
	const uint32_t *labels = path->labels + at;
	size_t left = path->frames - at, best = 0;
	for (size_t tried = 1; tried <= PERIOD_MOST && 2 * tried <= left; tried++) {
		size_t equal = 0;
		while (tried + equal < left && labels[equal] == labels[tried + equal])
			equal++;
		size_t covered = tried + equal / tried * tried;
		if (equal < tried || covered <= best)
			continue;
		best = covered;
		*period = tried;
	}
	return best;
}

/* Returns the end of the chain of frames from `at` on that have equal weights and in which no cycle begins. */
static size_t end_of_chain(const struct hot_path_rows *path, const struct view *view, size_t at)
{
	size_t end = at + 1, period;
	while (end < path->frames && view->weight[path->nodes[end]] == view->weight[path->nodes[at]] &&
	       find_cycle(path, end, &period) == 0)
		end++;
	return end;
}

static void add_row(struct hot_path_rows *path, size_t first, size_t frames, size_t period)
{
	path->rows[path->count++] = (struct hot_path_row){ (uint32_t)first, (uint32_t)frames, (uint32_t)period };
}

/* Adds the frames from `first` to before `end`: one as it is, more as a number. */
static void add_counted(struct hot_path_rows *path, size_t first, size_t end)
{
	if (end > first)
		add_row(path, first, end - first, end - first == 1);
}

/* Returns the last frame of own code before the end of a chain, unless the chain's last frame or none is own code: then its first. */
static size_t last_own(const struct hot_path_rows *path, size_t first, size_t end)
{
	size_t at = end - 1;
	if (path->is_own[path->labels[at]])
		return first;
	while (at > first && !path->is_own[path->labels[at]])
		at--;
	return at;
}

/* Adds a chain of frames of equal weight. */
static void add_chain(struct hot_path_rows *path, size_t first, size_t end)
{
	size_t own = last_own(path, first, end);
	add_row(path, first, 1, 1);
	if (own > first) {
		add_counted(path, first + 1, own);
		add_row(path, own, 1, 1);
	}
	if (end - 1 > own) {
		add_counted(path, own + 1, end - 1);
		add_row(path, end - 1, 1, 1);
	}
}

int hot_path_rows_init(struct hot_path_rows *path, const struct view *view, const bool *is_own)
{
	*path = (struct hot_path_rows){ .is_own = is_own };
	if (find_frames(path, view) < 0 || find_branches(path, view) < 0)
		return ERROR_MEMORY;
	for (size_t at = 0, end, period; at < path->frames; at = end) {
		size_t covered = find_cycle(path, at, &period);
		end = covered > 0 ? at + covered : end_of_chain(path, view, at);
		if (covered > 0)
			add_row(path, at, covered, period);
		else
			add_chain(path, at, end);
	}
	return 0;
}

void hot_path_rows_release(struct hot_path_rows *path)
{
	free(path->nodes);
	free(path->labels);
	free(path->rows);
	free(path->branches);
	*path = (struct hot_path_rows){ 0 };
}

/* --- print --- */

/* Prints "expr → term → factor, 12 times". */
static void print_cycle(const struct hot_path_rows *path, const struct hot_path_row *row, struct name_printer *names,
			size_t used)
{
	char times[ROW_BYTES];
	int length = snprintf(times, sizeof(times), ", %u times", row->frames / row->period);
	path_print(names, path->labels + row->first, row->period, " → ", name_room(names, used + (size_t)length));
	fputs(times, names->out);
}

static void print_row(const struct hot_path_rows *path, const struct hot_path_row *row, size_t depth,
		      struct name_printer *names, const struct render_options *options)
{
	const struct view *view = names->view;
	size_t indent = depth * INDENT;
	if (row->period == 0) {
		fprintf(names->out, "%*s... %u frame%s\n", (int)(FIGURES_WIDTH + indent), "", row->frames,
			row->frames == 1 ? "" : "s");
		return;
	}
	/* The errors of corrected resources belong to functions, not to nodes: without them. */
	figures_print(names->out, view, view->weight[path->nodes[row->first]], NULL, options);
	fprintf(names->out, "%*s", (int)indent, "");
	if (row->frames > row->period)
		print_cycle(path, row, names, FIGURES_WIDTH + indent);
	else
		name_print(names, path->labels[row->first], name_room(names, FIGURES_WIDTH + indent));
	fputc('\n', names->out);
}

/* The rows to print: those before `head`, `own`, and those from `tail` on. */
struct shown_rows {
	size_t head, own, tail; /* own: in head ... tail; tail: none */
};

/* A row that counts frames has no place beside the row that counts the frames left out. */
static struct shown_rows cut(const struct hot_path_rows *path, size_t head, size_t tail)
{
	head -= path->rows[head - 1].period == 0;
	tail += path->rows[tail].period == 0;
	return (struct shown_rows){ head, tail, tail };
}

/* Chooses at most `most` of more rows: the first and mostly the last rows, and if these are all of libraries, the last row of own code. */
static struct shown_rows choose_rows(const struct hot_path_rows *path, size_t most)
{
	enum { HEAD_PART = 3, ROWS_WITH_OWN = 5 };
	struct shown_rows shown = cut(path, most / HEAD_PART, path->count - (most - most / HEAD_PART - 1));
	size_t own = path->count;
	while (own > 0 && (path->rows[own - 1].period == 0 || !path->is_own[path->labels[path->rows[own - 1].first]]))
		own--;
	if (most < ROWS_WITH_OWN || own <= shown.head || own > shown.tail)
		return shown;
	/* The row of own code and another number of frames left out take two rows. */
	size_t rest = most - 3, head = rest / HEAD_PART > 0 ? rest / HEAD_PART : 1;
	shown = cut(path, head, path->count - (rest - head));
	shown.own = own - 1 < shown.head || own - 1 > shown.tail ? shown.tail : own - 1;
	return shown;
}

static void print_between(const struct hot_path_rows *path, size_t first, size_t end, size_t *depth,
			  struct name_printer *names, const struct render_options *options)
{
	struct hot_path_row between = { 0 };
	for (size_t i = first; i < end; i++)
		between.frames += path->rows[i].frames;
	if (between.frames > 0)
		print_row(path, &between, (*depth)++, names, options);
}

/* Returns how many of `most` rows are branches: a part of them, and those that the path leaves. */
static size_t count_branches(const struct hot_path_rows *path, size_t most)
{
	size_t part = most / BRANCH_PART < most - ROWS_LEAST ? most / BRANCH_PART : most - ROWS_LEAST;
	size_t left = most > path->count ? most - path->count : 0, room = left > part ? left : part;
	return path->branch_count < room ? path->branch_count : room;
}

/* Prints the first `count` branches below the last row. */
static void print_branches(const struct hot_path_rows *path, size_t count, size_t depth, struct name_printer *names,
			   const struct render_options *options)
{
	size_t indent = depth * INDENT;
	for (size_t i = 0; i < count; i++) {
		uint32_t node = path->branches[i];
		figures_print(names->out, names->view, names->view->weight[node], NULL, options);
		fprintf(names->out, "%*s%s ", (int)indent, "", i + 1 < count ? "├" : "└");
		name_print(names, names->view->label[node], name_room(names, FIGURES_WIDTH + indent + BRANCH_COLUMNS));
		fputc('\n', names->out);
	}
}

void hot_path_rows_print(const struct hot_path_rows *path, size_t most, struct name_printer *names,
			 const struct render_options *options)
{
	most = most < ROWS_LEAST ? ROWS_LEAST : most;
	size_t branches = count_branches(path, most);
	most -= branches;
	struct shown_rows shown = { path->count, path->count, path->count };
	size_t depth = 0;
	if (path->count > most)
		shown = choose_rows(path, most);
	for (size_t i = 0; i < shown.head; i++)
		print_row(path, &path->rows[i], depth++, names, options);
	print_between(path, shown.head, shown.own, &depth, names, options);
	if (shown.own < shown.tail) {
		print_row(path, &path->rows[shown.own], depth++, names, options);
		print_between(path, shown.own + 1, shown.tail, &depth, names, options);
	}
	for (size_t i = shown.tail; i < path->count; i++)
		print_row(path, &path->rows[i], depth++, names, options);
	print_branches(path, branches, depth, names, options);
}

/* --- the lines of a screen --- */

/* Gives a part one row more if that fits. Returns whether it did. */
static bool extend_part(struct plan_part *part, size_t gap, size_t *lines)
{
	if (part->shown >= part->rows)
		return false;
	size_t height = part->heights ? part->heights[part->shown] : 1;
	if (part->shown == 0)
		height += 1 + gap;
	if (height > *lines)
		return false;
	*lines -= height;
	part->shown++;
	return true;
}

void plan_rows(struct plan_part *parts, const unsigned char *order, size_t count, size_t gap, size_t lines)
{
	for (size_t i = 0; i < count; i++) {
		struct plan_part *part = &parts[order[i]];
		part->shown = 0;
		while (part->shown < part->least && extend_part(part, gap, &lines))
			;
	}
	for (bool is_growing = true; is_growing;) {
		is_growing = false;
		for (size_t i = 0; i < count; i++)
			is_growing |= parts[order[i]].shown > 0 && extend_part(&parts[order[i]], gap, &lines);
	}
}
