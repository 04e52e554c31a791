/* Reports of the share of each thread, of each process, and of the tree of processes. */
#include <inttypes.h>

#include "render/emit.h"
#include "reports/report.h"

/* How the rows of one kind of owner are printed. */
static const struct layout {
	const char *columns; /* of the text, behind the share */
	const char *fields;  /* of CSV, before the share */
} layouts[] = {
	[SHARE_OF_THREAD] = { "thread", "tid,name,pid,process" },
	[SHARE_OF_PROCESS] = { "process", "pid,name" },
	[SHARE_OF_PROCESS_TREE] = { "own_fraction process", "depth,selector,pid,name,processes,own_fraction,own_hits" },
};

enum { INDENTED_MAX = 40 }; /* deeper rows of the tree are not indented further */

static bool reaches(const struct result *result, size_t row, double threshold)
{
	return fraction_of(result->shares->shares[row].hits, result->view->total) >= threshold;
}

static size_t reaching_of(const struct result *result, double threshold)
{
	size_t count = 0;
	for (size_t i = 0; i < result->shares->count; i++)
		count += reaches(result, i, threshold);
	return count;
}

/* Prints "worker (thread 101 of demo 100)", "demo (process 100)" or, in the tree, "    sh (120 processes)". */
static void print_owner(FILE *out, const struct profile *profile, enum share_owner of, const struct share *share)
{
	uint32_t owner = share->owner;
	if (owner == PROFILE_NONE) {
		fputs(of == SHARE_OF_THREAD ? "[no thread]" : "[no process]", out);
		return;
	}
	const struct profile_process *process =
		&profile->processes[of == SHARE_OF_THREAD ? profile->threads[owner].process : owner];
	if (of == SHARE_OF_THREAD) {
		render_safe_text(out, profile_string(profile, profile->threads[owner].name));
		fprintf(out, " (thread %" PRIu32 " of ", profile->threads[owner].tid);
		render_safe_text(out, profile_string(profile, process->name));
		fprintf(out, " %" PRIu32 ")", process->pid);
	} else {
		fprintf(out, "%*s", (int)(share->depth < INDENTED_MAX ? share->depth : INDENTED_MAX) * 2, "");
		render_safe_text(out, profile_string(profile, process->name));
		if (share->members > 1)
			fprintf(out, " (%" PRIu32 " processes)", share->members);
		else
			fprintf(out, " (process %" PRIu32 ")", process->pid);
	}
}

static void print_text(struct render_document *document, const struct result *result)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct share_list *list = result->shares;
	char format[96];
	snprintf(format, sizeof(format), "usage_fraction %s%s [#%s]", has_errors(result) ? "±error " : "",
		 layouts[list->of].columns, raw_name(view));
	heading_print(out, result, format, options);
	if (empty_print(out, view))
		return;
	size_t reaching = reaching_of(result, options->threshold), shown = shown_entries(reaching, options);
	for (size_t i = 0, printed = 0; printed < shown; i++) {
		if (!reaches(result, i, options->threshold))
			continue;
		printed++;
		fraction_print(out, view, list->shares[i].hits, options);
		row_error_print(out, result, i);
		fputc(' ', out);
		if (list->of == SHARE_OF_PROCESS_TREE)
			fprintf(out, "%.4f ", fraction_of(list->shares[i].own, view->total));
		print_owner(out, view->profile, list->of, &list->shares[i]);
		paint_on(out, PAINT_DIM, options);
		fprintf(out, " [%" PRIu64 "]", list->shares[i].hits);
		paint_off(out, options);
		fputc('\n', out);
	}
	left_out_print(out, list->count, reaching, shown, options);
}

/* Prints the place of a row in the tree, and the value of --process that selects it and all below it. */
static void print_place(struct sheet *sheet, const struct share *share)
{
	char selector[24] = "";
	if (share->owner != PROFILE_NONE)
		snprintf(selector, sizeof(selector), "#%" PRIu32 "+", share->owner + 1);
	sheet_count(sheet, "depth", share->depth);
	sheet_text(sheet, "selector", selector);
}

static void print_owner_fields(struct sheet *sheet, const struct view *view, enum share_owner of,
			       const struct share *share)
{
	const struct profile *profile = view->profile;
	uint32_t owner = share->owner;
	static const struct profile_thread no_thread = { .process = PROFILE_NONE };
	static const struct profile_process no_process;
	const struct profile_thread *thread =
		of == SHARE_OF_THREAD && owner != PROFILE_NONE ? &profile->threads[owner] : &no_thread;
	uint32_t index = of == SHARE_OF_THREAD ? thread->process : owner;
	const struct profile_process *process = index != PROFILE_NONE ? &profile->processes[index] : &no_process;
	if (of == SHARE_OF_THREAD) {
		sheet_count(sheet, "tid", thread->tid);
		sheet_text(sheet, "name", profile_string(profile, thread->name));
	}
	if (of == SHARE_OF_PROCESS_TREE)
		print_place(sheet, share);
	sheet_count(sheet, "pid", share->members > 1 ? 0 : process->pid);
	sheet_text(sheet, of == SHARE_OF_THREAD ? "process" : "name", profile_string(profile, process->name));
	if (of == SHARE_OF_PROCESS_TREE) {
		sheet_count(sheet, "processes", share->members);
		sheet_amount(sheet, "own_fraction", fraction_of(share->own, view->total));
		sheet_count(sheet, "own_hits", share->own);
	}
}

static void print_table(struct render_document *document, const struct result *result)
{
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct share_list *list = result->shares;
	struct sheet sheet;
	char fields[128];
	snprintf(fields, sizeof(fields), "resource,%s,fraction,error,hits", layouts[list->of].fields);
	sheet_open(&sheet, document, result, fields);
	size_t shown = shown_entries(reaching_of(result, options->threshold), options);
	for (size_t i = 0, printed = 0; printed < shown; i++) {
		if (!reaches(result, i, options->threshold))
			continue;
		printed++;
		sheet_row(&sheet);
		print_owner_fields(&sheet, view, list->of, &list->shares[i]);
		sheet_share(&sheet, result, i, list->shares[i].hits);
		sheet_row_end(&sheet);
	}
	sheet_close(&sheet, list->count - shown);
}

const struct result_type result_shares = {
	.text = print_text,
	.table = print_table,
};

static int build(const struct result *result, enum share_owner of, struct share_list **shares, struct error *error)
{
	*shares = analyze_shares(result->view->profile, &result->view->options, of, error);
	return *shares ? 0 : error->code;
}

static int build_threads(const struct report_request *request, const struct label_set *roots, struct result *result,
			 struct error *error)
{
	(void)request;
	(void)roots;
	return build(result, SHARE_OF_THREAD, &result->shares, error);
}

/* The explorer has a setting named `thread`. */
const struct report report_threads = {
	.name = "threads",
	.command = "by-thread",
	.help = "The share of each thread",
	.summary = "the share of each thread",
	.needs = REPORT_NEEDS_OWNERS,
	.refuses = { { SETTING_BY | REPORT_GROUP | SETTING_ZEROS, "it shows threads" } },
	.parts = { { "Thread Profile", &result_shares, build_threads } },
};

static int build_processes(const struct report_request *request, const struct label_set *roots, struct result *result,
			   struct error *error)
{
	(void)request;
	(void)roots;
	return build(result, SHARE_OF_PROCESS, &result->shares, error);
}

/* The explorer has a setting named `process`. */
const struct report report_processes = {
	.name = "processes",
	.command = "by-process",
	.help = "The share of each process",
	.summary = "the share of each process",
	.needs = REPORT_NEEDS_OWNERS,
	.refuses = { { SETTING_BY | REPORT_GROUP | SETTING_ZEROS, "it shows processes" } },
	.parts = { { "Process Profile", &result_shares, build_processes } },
};

static int build_tree(const struct report_request *request, const struct label_set *roots, struct result *result,
		      struct error *error)
{
	(void)request;
	(void)roots;
	return build(result, SHARE_OF_PROCESS_TREE, &result->shares, error);
}

const struct report report_process_tree = {
	.name = "process-tree",
	.help = "The share of each process with the processes that it started; equal names below one parent are one "
		"row",
	.summary = "the share of each process with those that it started",
	.needs = REPORT_NEEDS_OWNERS,
	.refuses = { { SETTING_BY | REPORT_GROUP | SETTING_ZEROS, "it shows processes" } },
	.parts = { { "Process Tree", &result_shares, build_tree } },
};
