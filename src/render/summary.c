/* Prints the first report: one screen that answers what the program used, where, and which report answers the next question. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/hot_path.h"
#include "base/path.h"
#include "profile/companion.h"
#include "profile/findings.h"
#include "profile/quality.h"
#include "render/info.h"
#include "render/names.h"
#include "render/summary_next.h"

enum {
	BODIES = 7,
	OWN_ROWS = 5,
	PATH_FRAMES = 8,
	LINES = 4,
	PROCESSES = 4,
	KERNEL_ROWS = 4,
	ROW_BYTES = 64,
	SHARE_WIDTH = 14,
	AMOUNT_WIDTH = 11,
	FIGURES_WIDTH = 28
};

static const double HUNDRED = 100;

/* --- rows --- */

static void print_title(FILE *out, const char *title, const struct render_options *options)
{
	fputc('\n', out);
	paint_on(out, PAINT_HEADING, options);
	fputs(title, out);
	paint_off(out, options);
	fputc('\n', out);
}

static void print_right(FILE *out, int width, const char *text)
{
	int columns = 0;
	for (const char *at = text; *at; at++)
		columns += ((unsigned char)*at & 0xc0) != 0x80;
	fprintf(out, "%*s%s", columns < width ? width - columns : 0, "", text);
}

/* Prints "  67.1 % ±1.8     1.2 s  ". */
static void print_figures(FILE *out, const struct view *view, uint64_t hits, const uint64_t *error,
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

/* Whether own code and library code both have hits: else all rows would repeat those of the bodies. */
static bool has_own_rows(const struct result *result)
{
	return result->own->charged_count > 0 && result->own->library_count > 0;
}

/* Prints the hottest functions of own code, each with the library function in which most of its hits are: "main: 12.1 % in malloc". */
static void print_own_code(struct name_printer *names, const struct result *result,
			   const struct render_options *options)
{
	const struct own_code *own = result->own;
	if (!has_own_rows(result))
		return;
	print_title(names->out, "hottest in the program's own code, with what it calls in libraries", options);
	for (size_t i = 0; i < own->charged_count && i < OWN_ROWS; i++) {
		const struct own_entry *entry = &own->charged[i];
		size_t room = name_room(names, FIGURES_WIDTH);
		char share[ROW_BYTES];
		snprintf(share, sizeof(share), ": %.1f %% in ",
			 HUNDRED * fraction_of(entry->other_hits, result->view->total));
		print_figures(names->out, result->view, entry->hits, NULL, options);
		if (entry->other != PROFILE_NONE)
			names_print_pair(names, entry->label, share, entry->other, room);
		else
			name_print(names, entry->label, room);
		fputc('\n', names->out);
	}
}

/* A library function is followed by the function of own code that most of its hits are charged to. */
static void print_bodies(struct name_printer *names, const struct result *result, const struct render_options *options)
{
	const struct view *view = result->view;
	const struct path_list *list = result->paths;
	bool has_libraries = has_own_rows(result);
	print_title(names->out, "hottest functions, by their own use", options);
	for (size_t i = 0; i < list->count && i < (has_libraries ? OWN_ROWS : BODIES); i++) {
		const struct path_entry *entry = &list->entries[i];
		uint32_t label = path_labels(list, entry)[0];
		const struct own_entry *library = has_libraries ? own_code_library(result->own, label) : NULL;
		size_t room = name_room(names, FIGURES_WIDTH);
		print_figures(names->out, view, entry->hits, result->errors ? &result->errors[i] : NULL, options);
		if (library && library->other != PROFILE_NONE)
			names_print_pair(names, label, " from ", library->other, room);
		else
			name_print(names, label, room);
		fputc('\n', names->out);
	}
}

/* Prints the functions that entered the kernel, each with what the kernel mostly did for it: "write: tcp_sendmsg". */
static void print_kernel_work(struct name_printer *names, const struct result *result,
			      const struct render_options *options)
{
	static const double share_min = 0.05;
	const struct kernel_work *work = result->kernel;
	if (work->count == 0 || fraction_of(work->hits, result->view->total) < share_min)
		return;
	print_title(names->out, "in the kernel, by the function that entered it, and where most of it is", options);
	for (size_t i = 0; i < work->count && i < KERNEL_ROWS; i++) {
		const struct kernel_entry *entry = &work->entries[i];
		size_t room = name_room(names, FIGURES_WIDTH);
		print_figures(names->out, result->view, entry->hits, NULL, options);
		if (entry->label != PROFILE_NONE && entry->work != PROFILE_NONE)
			names_print_pair(names, entry->label, ": ", entry->work, room);
		else
			name_print(names, entry->label != PROFILE_NONE ? entry->label : entry->work, room);
		fputc('\n', names->out);
	}
}

static void print_node(struct name_printer *names, uint32_t node, int depth, const struct render_options *options)
{
	const struct view *view = names->view;
	/* The errors of corrected resources belong to functions, not to nodes: without them. */
	print_figures(names->out, view, view->weight[node], NULL, options);
	fprintf(names->out, "%*s", depth * 2, "");
	name_print(names, view->label[node], name_room(names, (size_t)FIGURES_WIDTH + (size_t)depth * 2));
	fputc('\n', names->out);
}

/* Returns the last node of the hot path's part that begins with this node and has its weight everywhere. Sets *between to the number of
 * nodes between the two. */
static uint32_t end_of_chain(const struct view *view, uint32_t node, size_t *between)
{
	size_t length = 0;
	for (uint32_t next;
	     (next = hot_path_next(view, node)) != PROFILE_NONE && view->weight[next] == view->weight[node]; length++)
		node = next;
	*between = length > 0 ? length - 1 : 0;
	return node;
}

/* Prints the path. Frames between the first and the last of those with equal hits are only counted: mostly, they pass calls on. */
static void print_hot_path(struct name_printer *names, const struct render_options *options)
{
	const struct view *view = names->view;
	FILE *out = names->out;
	uint32_t node = hot_path_next(view, 0);
	int depth = 0;
	if (node == PROFILE_NONE)
		return;
	print_title(out, "the hot path", options);
	for (size_t rows = 0; node != PROFILE_NONE && rows < PATH_FRAMES; rows++) {
		size_t between;
		uint32_t last = end_of_chain(view, node, &between);
		print_node(names, node, depth++, options);
		if (between > 1)
			fprintf(out, "%*s... %zu frames\n", FIGURES_WIDTH + depth * 2, "", between);
		if (between > 1) {
			print_node(names, last, ++depth, options);
			depth++;
			node = last;
			rows++;
		}
		node = hot_path_next(view, node);
	}
}

static bool has_lines(const struct line_list *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		if (lines->entries[i].line > 0)
			return true;
	return false;
}

/* Prints "FILE:LINE  text" in one row. */
static void print_hot_line(FILE *out, const struct profile *profile, const struct line_entry *entry, const char *text,
			   const struct render_options *options)
{
	char *row = NULL;
	if (asprintf(&row, "%s:%" PRIu32 "%s%s", path_basename(profile_string(profile, entry->file)), entry->line,
		     *text ? "  " : "", text) < 0) {
		render_failed(options);
		return;
	}
	for (char *at = row; *at; at++)
		*at = *at == '\t' ? ' ' : *at;
	rest_print(out, row, FIGURES_WIDTH, options);
	fputc('\n', out);
	free(row);
}

static void print_hot_lines(FILE *out, const struct result *result, const struct render_options *options)
{
	const struct profile *profile = result->view->profile;
	struct opened_sources opened = { 0 };
	size_t printed = 0;
	if (!has_lines(result->lines))
		return;
	print_title(out,
		    has_own_rows(result) ? "hot lines of the program's own code, with what they call in libraries"
					 : "hot lines",
		    options);
	for (size_t i = 0; i < result->lines->count && printed < LINES; i++) {
		const struct line_entry *entry = &result->lines->entries[i];
		if (entry->line == 0)
			continue; /* of functions without debug information */
		print_figures(out, result->view, entry->body, NULL, options);
		print_hot_line(out, profile, entry,
			       line_text(&opened, profile, profile_string(profile, entry->file), entry->line), options);
		printed++;
	}
	if (opened.failed)
		render_failed(options);
	opened_sources_release(&opened);
}

static void print_processes(FILE *out, const struct result *result, const struct render_options *options)
{
	const struct profile *profile = result->view->profile;
	const struct share_list *list = result->shares;
	if (list->count < 2)
		return;
	print_title(out, "processes", options);
	for (size_t i = 0; i < list->count && i < PROCESSES; i++) {
		print_figures(out, result->view, list->shares[i].hits, NULL, options);
		if (list->shares[i].owner == PROFILE_NONE) {
			fputs("[no process]\n", out);
			continue;
		}
		const struct profile_process *process = &profile->processes[list->shares[i].owner];
		render_safe_text(out, profile_string(profile, process->name));
		fprintf(out, " (%" PRIu32 ")\n", process->pid);
	}
	if (list->count > PROCESSES)
		fprintf(out, "%*s... %zu more\n", FIGURES_WIDTH, "", list->count - PROCESSES);
}

/* --- what was recorded --- */

static void print_recorded(FILE *out, const struct result *result, const struct render_options *options)
{
	const struct view *view = result->view;
	const struct profile *profile = view->profile;
	const char *command = profile_note(profile, "command"),
		   *backend = profile_string(profile, view->resource->backend);
	char text[ROW_BYTES];
	double gticks = (double)view->total * (double)view->resource->interval;
	paint_on(out, PAINT_HEADING, options);
	render_safe_text(out, profile_string(profile, view->resource->title));
	paint_off(out, options);
	fprintf(out, ": %s", render_amount(text, sizeof(text), gticks, profile_string(profile, view->resource->unit)));
	if (profile_duration_ns(profile))
		fprintf(out, " in %s", render_amount(text, sizeof(text), (double)profile_duration_ns(profile), "ns"));
	if (command) {
		fputs(" of ", out);
		render_safe_text(out, command);
	}
	fputc('\n', out);
	samples_print(out, view);
	const struct quality quality = quality_of(profile);
	const struct quality_shares shares = quality_shares_of(&quality);
	if (quality.stacks > 0)
		fprintf(out, "stacks: %.1f %% whole, %.1f %% partly guessed, %.1f %% broken; %" PRIu64 " lost",
			shares.whole, shares.guessed, shares.broken, profile->lost);
	if (quality.stacks > 0 && backend[0]) {
		fputs("; by ", out);
		render_safe_text(out, backend);
	}
	if (quality.stacks > 0)
		fputc('\n', out);
}

/* Prints "also recorded: page-faults 700 faults, calls 120012 calls (-r NAME)". */
static void print_others(FILE *out, const struct view *view)
{
	const struct profile *profile = view->profile;
	size_t printed = 0;
	for (uint32_t i = 0; i < profile->resource_count; i++) {
		struct resource_sum sum = info_resource_sum(profile, i);
		const struct profile_resource *resource = &profile->resources[i];
		char amount[ROW_BYTES];
		if (i == view->options.resource || companion_is(profile, i) || sum.hits == 0)
			continue;
		fputs(printed++ ? ", " : "\nalso recorded: ", out);
		render_safe_text(out, profile_string(profile, resource->name));
		fprintf(out, " %s",
			render_amount(amount, sizeof(amount), (double)sum.hits * (double)resource->interval,
				      profile_string(profile, resource->unit)));
	}
	if (printed)
		fputs(" (-r NAME)\n", out);
}

int print_summary_result(struct render_document *document, const struct result *result, struct error *error)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	if (options->format != RENDER_TEXT)
		return error_set(error, ERROR_USAGE, "the summary is text: the other reports are also JSON and CSV");
	print_recorded(out, result, options);
	if (!empty_print(out, result->view)) {
		struct name_printer names;
		name_printer_init(&names, out, result->view, options);
		print_own_code(&names, result, options);
		print_bodies(&names, result, options);
		print_kernel_work(&names, result, options);
		print_hot_path(&names, options);
		name_printer_release(&names);
		print_hot_lines(out, result, options);
		print_processes(out, result, options);
	}
	print_others(out, result->view);
	if (result->view->total > 0) {
		print_title(out, "next", options);
		summary_next_print(out, result, options);
	}
	return 0;
}
