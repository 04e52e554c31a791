/* Prints the first report: one screen that answers what the program used, where, and which report answers the next question. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "profile/companion.h"
#include "profile/findings.h"
#include "profile/quality.h"
#include "render/info.h"
#include "render/names.h"
#include "reports/report.h"
#include "reports/summary.h"

/* Shows the first resource that has hits, if the user named none. */
static int choose(struct report_request *request, struct error *error)
{
	const struct profile *profile = request->profile;
	uint32_t chosen = PROFILE_NONE;
	if (request->resources_named || request->resource_count == 0)
		return 0;
	bool *has_hits = calloc(profile->resource_count, sizeof(*has_hits));
	if (!has_hits)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < profile->hit_count; i++)
		has_hits[profile->hits[i].resource] = true;
	for (size_t i = 0; i < request->resource_count && chosen == PROFILE_NONE; i++)
		if (has_hits[request->resources[i]])
			chosen = request->resources[i];
	free(has_hits);
	request->resources[0] = chosen != PROFILE_NONE ? chosen : request->resources[0];
	request->resource_count = 1;
	return 0;
}

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	const struct view *view = result->view;
	(void)request;
	(void)roots;
	result->paths = analyze_body_and_waits(view, error);
	result->shares = analyze_shares(view->profile, &view->options, SHARE_OF_PROGRAM, error);
	result->own = analyze_own_code(view, error);
	result->kernel = analyze_kernel_work(view, error);
	bool has_own = result->own && result->own->charged_count > 0;
	result->lines = has_own ? analyze_hot_own_lines(view, error) : analyze_hot_lines(view, error);
	bool has_all = result->paths && result->shares && result->lines && result->own && result->kernel;
	return has_all ? 0 : error->code;
}

enum {
	LINES_USUAL = 40,    /* of a screen whose height is not known */
	LINES_SPACIOUS = 32, /* from here on, a blank line separates the parts */
	ROW_BYTES = 64
};

static const double HUNDRED = 100, SHARE_VISIBLE = 0.0005; /* below, a share is printed as 0.0 % */

/* The data that the parts print. */
struct summary {
	FILE *out;
	const struct render_options *options;
	const struct result *result;
	struct name_printer names;
	struct hot_path_rows path;
	struct next_commands next;
};

/* --- rows --- */

static void print_title(FILE *out, const char *title, const struct render_options *options)
{
	paint_on(out, PAINT_HEADING, options);
	fputs(title, out);
	paint_off(out, options);
	fputc('\n', out);
}

/* --- the parts: how many rows each can print, and those rows --- */

static bool is_visible(const struct summary *summary, uint64_t hits)
{
	return fraction_of(hits, summary->result->view->total) >= SHARE_VISIBLE;
}

static size_t count_own_code(const struct summary *summary)
{
	const struct own_code *own = summary->result->own;
	size_t count = 0;
	while (summary_has_own(summary->result) && count < own->charged_count &&
	       is_visible(summary, own->charged[count].hits))
		count++;
	return count;
}

/* Prints the hottest functions of own code, each with the library function in which most of its hits are: "main: 12.1 % in malloc". */
static void print_own_code(struct summary *summary, size_t rows)
{
	struct name_printer *names = &summary->names;
	const struct view *view = summary->result->view;
	for (size_t i = 0; i < rows; i++) {
		const struct own_entry *entry = &summary->result->own->charged[i];
		size_t room = name_room(names, FIGURES_WIDTH);
		char share[ROW_BYTES];
		snprintf(share, sizeof(share), ": %.1f %% in ", HUNDRED * fraction_of(entry->other_hits, view->total));
		figures_print(summary->out, view, entry->hits, NULL, summary->options);
		if (entry->other != PROFILE_NONE && is_visible(summary, entry->other_hits))
			names_print_pair(names, entry->label, share, entry->other, room);
		else
			name_print(names, entry->label, room);
		fputc('\n', summary->out);
	}
}

static size_t count_bodies(const struct summary *summary)
{
	const struct path_list *list = summary->result->paths;
	size_t count = 0;
	while (count < list->count && (count == 0 || is_visible(summary, list->entries[count].hits)))
		count++;
	return count;
}

/* A library function is followed by the function of own code that most of its hits are charged to. */
static void print_bodies(struct summary *summary, size_t rows)
{
	const struct result *result = summary->result;
	bool has_libraries = summary_has_own(result);
	for (size_t i = 0; i < rows; i++) {
		const struct path_entry *entry = &result->paths->entries[i];
		uint32_t label = path_labels(result->paths, entry)[0];
		const struct own_entry *library = has_libraries ? own_code_library(result->own, label) : NULL;
		size_t room = name_room(&summary->names, FIGURES_WIDTH);
		figures_print(summary->out, result->view, entry->hits, result->errors ? &result->errors[i] : NULL,
			      summary->options);
		if (library && library->other != PROFILE_NONE)
			names_print_pair(&summary->names, label, " from ", library->other, room);
		else
			name_print(&summary->names, label, room);
		fputc('\n', summary->out);
	}
}

static size_t count_path(const struct summary *summary)
{
	return summary->path.count + summary->path.branch_count;
}

static void print_path(struct summary *summary, size_t rows)
{
	hot_path_rows_print(&summary->path, rows, &summary->names, summary->options);
}

static size_t count_kernel_work(const struct summary *summary)
{
	const struct kernel_work *work = summary->result->kernel;
	size_t count = 0;
	while (summary_has_kernel(summary->result) && count < work->count &&
	       (count == 0 || is_visible(summary, work->entries[count].hits)))
		count++;
	return count;
}

/* Prints the functions that entered the kernel, each with what the kernel mostly did for it: "write: tcp_sendmsg". */
static void print_kernel_work(struct summary *summary, size_t rows)
{
	struct name_printer *names = &summary->names;
	for (size_t i = 0; i < rows; i++) {
		const struct kernel_entry *entry = &summary->result->kernel->entries[i];
		size_t room = name_room(names, FIGURES_WIDTH);
		figures_print(summary->out, summary->result->view, entry->hits, NULL, summary->options);
		if (entry->label != PROFILE_NONE && entry->work != PROFILE_NONE)
			names_print_pair(names, entry->label, ": ", entry->work, room);
		else
			name_print(names, entry->label != PROFILE_NONE ? entry->label : entry->work, room);
		fputc('\n', summary->out);
	}
}

/* Whether a line is listed: a line of a function with debug information. */
static bool is_listed(const struct summary *summary, const struct line_entry *entry)
{
	return entry->line > 0 && is_visible(summary, entry->body);
}

static size_t count_lines(const struct summary *summary)
{
	const struct line_list *lines = summary->result->lines;
	size_t count = 0;
	for (size_t i = 0; i < lines->count; i++)
		count += is_listed(summary, &lines->entries[i]);
	return count;
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

static void print_lines(struct summary *summary, size_t rows)
{
	const struct result *result = summary->result;
	const struct profile *profile = result->view->profile;
	struct opened_sources opened = { 0 };
	size_t printed = 0;
	for (size_t i = 0; i < result->lines->count && printed < rows; i++) {
		const struct line_entry *entry = &result->lines->entries[i];
		if (!is_listed(summary, entry))
			continue;
		figures_print(summary->out, result->view, entry->body, NULL, summary->options);
		print_hot_line(summary->out, profile, entry,
			       line_text(&opened, profile, profile_string(profile, entry->file), entry->line),
			       summary->options);
		printed++;
	}
	if (opened.failed)
		render_failed(summary->options);
	opened_sources_release(&opened);
}

static size_t count_processes(const struct summary *summary)
{
	size_t count = summary->result->shares->count;
	return count > 1 ? count : 0;
}

/* Processes of one name are one row. The last row is "... 12 more" if there are more rows. */
static void print_processes(struct summary *summary, size_t rows)
{
	FILE *out = summary->out;
	const struct result *result = summary->result;
	const struct profile *profile = result->view->profile;
	const struct share_list *list = result->shares;
	size_t named = list->count > rows ? rows - 1 : rows;
	for (size_t i = 0; i < named; i++) {
		figures_print(out, result->view, list->shares[i].hits, NULL, summary->options);
		if (list->shares[i].owner == PROFILE_NONE) {
			fputs("[no process]\n", out);
			continue;
		}
		const struct profile_process *process = &profile->processes[list->shares[i].owner];
		render_safe_text(out, profile_string(profile, process->name));
		if (list->shares[i].members > 1)
			fprintf(out, " (%" PRIu32 " processes)\n", list->shares[i].members);
		else
			fprintf(out, " (%" PRIu32 ")\n", process->pid);
	}
	if (list->count > named)
		fprintf(out, "%*s... %zu more\n", FIGURES_WIDTH, "", list->count - named);
}

static size_t count_next(const struct summary *summary)
{
	return summary->next.count;
}

static void print_next(struct summary *summary, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		fputs(summary->next.texts[i], summary->out);
}

/* In the order in which they are printed. */
enum { PART_OWN, PART_BODIES, PART_PATH, PART_LINES, PART_KERNEL, PART_PROCESSES, PART_NEXT, PARTS };

static const struct part {
	const char *title;
	bool (*is_other)(
		const struct result *result); /* of this result the title is `other_title`; NULL: it never is */
	const char *other_title;
	size_t least, most; /* numbers of rows; least: before another part gets more */
	size_t (*count)(const struct summary *summary);
	void (*print)(struct summary *summary, size_t rows);
} part_rows[PARTS] = {
	[PART_OWN] = { "hottest in the program's own code, with what it calls in libraries", NULL, NULL, 2, 5,
		       count_own_code, print_own_code },
	[PART_BODIES] = { "hottest functions, by their own use", summary_has_waits,
			  "hottest functions, by their own use and waits", 2, 7, count_bodies, print_bodies },
	[PART_PATH] = { "the hot path", NULL, NULL, 5, 9, count_path, print_path },
	[PART_LINES] = { "hot lines", summary_has_own,
			 "hot lines of the program's own code, with what they call in libraries", 2, 4, count_lines,
			 print_lines },
	[PART_KERNEL] = { "in the kernel, by the function that entered it, and where most of it is", NULL, NULL, 1, 4,
			  count_kernel_work, print_kernel_work },
	[PART_PROCESSES] = { "processes", NULL, NULL, 2, 5, count_processes, print_processes },
	[PART_NEXT] = { "next", NULL, NULL, 2, 4, count_next, print_next },
};

/* The lines that a small screen has room for, before all others. */
static const unsigned char importance[PARTS] = { PART_OWN,   PART_PATH,      PART_NEXT,  PART_BODIES,
						 PART_LINES, PART_PROCESSES, PART_KERNEL };

static void print_parts(struct summary *summary, size_t gap, size_t lines)
{
	struct plan_part plan[PARTS];
	for (size_t i = 0; i < PARTS; i++) {
		size_t rows = part_rows[i].count(summary);
		plan[i] = (struct plan_part){ .rows = rows < part_rows[i].most ? rows : part_rows[i].most,
					      .least = part_rows[i].least };
	}
	plan[PART_NEXT].heights = summary->next.heights;
	plan_rows(plan, importance, PARTS, gap, lines);
	for (size_t i = 0; i < PARTS; i++) {
		const struct part *part = &part_rows[i];
		if (plan[i].shown == 0)
			continue;
		if (gap > 0)
			fputc('\n', summary->out);
		bool is_other = part->is_other && part->is_other(summary->result);
		print_title(summary->out, is_other ? part->other_title : part->title, summary->options);
		part->print(summary, plan[i].shown);
	}
}

/* --- what was recorded --- */

/* Prints the rest of a row after `column` columns, and ends the row. Without a terminal's width, all of it. */
static void __attribute__((format(printf, 4, 5)))
end_row(FILE *out, const struct render_options *options, size_t column, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL;
		render_failed(options);
	}
	va_end(arguments);
	if (text)
		rest_print(out, text, column, options);
	fputc('\n', out);
	free(text);
}

/* Prints at most three lines. Returns their number. */
static size_t print_recorded(FILE *out, const struct result *result, const struct render_options *options)
{
	const struct view *view = result->view;
	const struct profile *profile = view->profile;
	const char *command = profile_note(profile, "command"), *title = profile_string(profile, view->resource->title),
		   *backend = profile_string(profile, view->resource->backend);
	char amount[ROW_BYTES], duration[ROW_BYTES];
	uint64_t duration_ns = summary_selected_ns(view);
	render_amount(amount, sizeof(amount), (double)view->total * (double)view->resource->interval,
		      profile_string(profile, view->resource->unit));
	render_amount(duration, sizeof(duration), (double)duration_ns, "ns");
	paint_on(out, PAINT_HEADING, options);
	render_safe_text(out, title);
	paint_off(out, options);
	end_row(out, options, strlen(title), ": %s%s%s%s%s", amount, duration_ns ? " in " : "",
		duration_ns ? duration : "", command ? " of " : "", command ? command : "");
	samples_print(out, view);
	const struct quality quality = quality_of(profile);
	const struct quality_shares shares = quality_shares_of(&quality);
	if (quality.stacks == 0)
		return 2;
	end_row(out, options, 0, "stacks: %.1f %% whole, %.1f %% partly guessed, %.1f %% broken; %" PRIu64 " lost%s%s",
		shares.whole, shares.guessed, shares.broken, profile->lost, backend[0] ? "; by " : "", backend);
	return 3;
}

/* Prints "also recorded: page-faults 700 faults, calls 120012 calls (-r NAME)", as one line. Returns the number of printed lines. */
static size_t print_others(FILE *out, const struct view *view, const struct render_options *options)
{
	const struct profile *profile = view->profile;
	struct buffer text;
	buffer_init(&text);
	for (uint32_t i = 0; i < profile->resource_count; i++) {
		struct resource_sum sum = info_resource_sum(profile, i);
		const struct profile_resource *resource = &profile->resources[i];
		char amount[ROW_BYTES];
		if (i == view->options.resource || companion_is(profile, i) || sum.hits == 0)
			continue;
		buffer_append_string(&text, text.size               ? ", "
					    : summary_is_part(view) ? "also recorded, in all of the recording: "
								    : "also recorded: ");
		buffer_append_string(&text, profile_string(profile, resource->name));
		buffer_append_string(&text, " ");
		buffer_append_string(&text, render_amount(amount, sizeof(amount),
							  (double)sum.hits * (double)resource->interval,
							  profile_string(profile, resource->unit)));
	}
	bool has_others = text.size > 0;
	buffer_append_byte(&text, 0);
	if (buffer_error(&text) < 0)
		render_failed(options);
	else if (has_others)
		end_row(out, options, 0, "%s (-r NAME)", (const char *)text.bytes);
	buffer_release(&text);
	return has_others;
}

/* Returns the number of lines that the summary may have: a terminal's next prompt needs one. */
static size_t lines_of_screen(const struct render_options *options)
{
	return options->lines > 0 ? (size_t)options->lines - 1 : LINES_USUAL;
}

static void print(struct render_document *document, const struct result *result)
{
	const struct render_options *options = &document->options;
	struct summary summary = { .out = document->out, .options = options, .result = result };
	size_t lines = lines_of_screen(options), used = print_recorded(summary.out, result, options);
	used += print_others(summary.out, result->view, options);
	if (empty_print(summary.out, result->view))
		return;
	name_printer_init(&summary.names, summary.out, result->view, options);
	if (hot_path_rows_init(&summary.path, result->view, result->own->has) < 0 ||
	    next_commands_init(&summary.next, result, options, "   ") < 0)
		render_failed(options);
	else
		print_parts(&summary, lines >= LINES_SPACIOUS, lines > used ? lines - used : 0);
	next_commands_release(&summary.next);
	hot_path_rows_release(&summary.path);
	name_printer_release(&summary.names);
}

static const struct result_type type = {
	.text = print,
	.table = summary_print_table,
};

const struct report report_summary = {
	.name = "summary",
	.summary = "what was recorded, what is hot, and what to ask next",
	.needs = REPORT_NEEDS_OWNERS,
	.refuses = { { SETTING_THRESHOLD | SETTING_LIMIT | SETTING_BY | REPORT_GROUP | SETTING_ZEROS,
		       "it is one screen" } },
	.fixes_by = true,
	.by = VIEW_FUNCTION,
	.choose = choose,
	.parts = { { "Summary", &type, build } },
};
