/* Reports of the share of each thread or process. */
#include <inttypes.h>

#include "render/emit.h"
#include "reports/report.h"

static size_t reaching_of(const struct result *result, double threshold)
{
	const struct share_list *list = result->shares;
	size_t count = 0;
	while (count < list->count && fraction_of(list->shares[count].hits, result->view->total) >= threshold)
		count++;
	return count;
}

/* Prints "worker (thread 101 of demo 100)" or "demo (process 100)". */
static void print_owner(FILE *out, const struct profile *profile, enum share_owner of, uint32_t owner)
{
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
		render_safe_text(out, profile_string(profile, process->name));
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
		 list->of == SHARE_OF_THREAD ? "thread" : "process", raw_name(view));
	heading_print(out, result, format, options);
	if (empty_print(out, view))
		return;
	size_t reaching = reaching_of(result, options->threshold), shown = shown_entries(reaching, options);
	for (size_t i = 0; i < shown; i++) {
		fraction_print(out, view, list->shares[i].hits, options);
		row_error_print(out, result, i);
		fputc(' ', out);
		print_owner(out, view->profile, list->of, list->shares[i].owner);
		paint_on(out, PAINT_DIM, options);
		fprintf(out, " [%" PRIu64 "]", list->shares[i].hits);
		paint_off(out, options);
		fputc('\n', out);
	}
	left_out_print(out, list->count, reaching, shown, options);
}

static void print_owner_fields(struct sheet *sheet, const struct profile *profile, enum share_owner of, uint32_t owner)
{
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
	sheet_count(sheet, "pid", process->pid);
	sheet_text(sheet, of == SHARE_OF_THREAD ? "process" : "name", profile_string(profile, process->name));
}

static void print_table(struct render_document *document, const struct result *result)
{
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct share_list *list = result->shares;
	struct sheet sheet;
	sheet_open(&sheet, document, result,
		   list->of == SHARE_OF_THREAD ? "resource,tid,name,pid,process,fraction,error,hits"
					       : "resource,pid,name,fraction,error,hits");
	size_t shown = shown_entries(reaching_of(result, options->threshold), options);
	for (size_t i = 0; i < shown; i++) {
		uint64_t hits = list->shares[i].hits;
		sheet_row(&sheet);
		print_owner_fields(&sheet, view->profile, list->of, list->shares[i].owner);
		sheet_share(&sheet, result, i, hits);
		sheet_row_end(&sheet);
	}
	sheet_close(&sheet, list->count - shown);
}

const struct result_type result_shares = {
	.text = print_text,
	.table = print_table,
};

static int build_threads(const struct report_request *request, const struct label_set *roots, struct result *result,
			 struct error *error)
{
	(void)request;
	(void)roots;
	result->shares = analyze_shares(result->view->profile, &result->view->options, SHARE_OF_THREAD, error);
	return result->shares ? 0 : error->code;
}

/* The explorer has a setting named `thread`. */
const struct report report_threads = {
	.name = "threads",
	.command = "by-thread",
	.help = "The share of each thread",
	.summary = "the share of each thread",
	.refuses = { { SETTING_BY | REPORT_GROUP | SETTING_ZEROS, "it shows threads" } },
	.parts = { { "Thread Profile", &result_shares, build_threads } },
};

static int build_processes(const struct report_request *request, const struct label_set *roots, struct result *result,
			   struct error *error)
{
	(void)request;
	(void)roots;
	result->shares = analyze_shares(result->view->profile, &result->view->options, SHARE_OF_PROCESS, error);
	return result->shares ? 0 : error->code;
}

/* The explorer has a setting named `process`. */
const struct report report_processes = {
	.name = "processes",
	.command = "by-process",
	.help = "The share of each process",
	.summary = "the share of each process",
	.refuses = { { SETTING_BY | REPORT_GROUP | SETTING_ZEROS, "it shows processes" } },
	.parts = { { "Process Profile", &result_shares, build_processes } },
};
