#include <stdint.h>
#include <string.h>

#include "cmd/merge.h"
#include "cmd/message.h"
#include "cmd/pager_output.h"
#include "cmd/profile_open.h"
#include "cmd/report_options.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"
#include "frames/code/disassembly.h"
#include "reports/report.h"

enum {
	OPTION_GROUP = OPTION_OWN,
	OPTION_LEXICAL,
	OPTION_RAW,
};

/* The report that the command line requests. */
struct report_choice {
	const struct report *report;
	const struct option_use *list;     /* option of a main report; NULL: none was given */
	const struct report *refining;     /* a report that changes the main one; NULL: none */
	const struct option_use *dividing; /* option that makes a section for each group of labels; NULL: none */
	const struct option_use *ranks;    /* option that requests the figures of all ranks; NULL: none */
};

/* Returns the bit with which a report can refuse an option, or 0 if none can. */
static unsigned refusable(const struct command_option *option)
{
	const struct setting *setting = view_setting(option);
	const struct report *report = report_of_option(option->id);
	if (report && (report->needs & REPORT_DIVIDES))
		return REPORT_BY_LABEL;
	return option->id == OPTION_GROUP ? REPORT_GROUP : setting ? setting->bit : 0;
}

/* Returns the report of a command line that names none: the summary; or the first of the table, if it is not for people, or has an
 * option that the summary refuses. */
static const struct report *default_report(const struct invocation *invocation)
{
	const struct report *summary = report_find("summary");
	const char *format = option_value(invocation, OPTION_FORMAT);
	bool is_for_people = !format || strcmp(format, render_format_word(RENDER_TEXT)) == 0;
	for (size_t i = 0; i < invocation->use_count && is_for_people; i++)
		is_for_people = !report_refuses(summary, refusable(invocation->uses[i].option));
	return is_for_people ? summary : reports[0];
}

static int choose(const struct invocation *invocation, struct report_choice *choice)
{
	*choice = (struct report_choice){ 0 };
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct option_use *use = &invocation->uses[i];
		const struct report *report = report_of_option(use->option->id);
		if (!report)
			continue;
		if (report->refines)
			choice->refining = report;
		else if (report->needs & REPORT_DIVIDES)
			choice->dividing = use;
		else if (report->needs & REPORT_OVER_RANKS)
			choice->ranks = use;
		else if (choice->list)
			return usage_error(invocation, "--%s cannot be combined with --%s (choose one report)",
					   choice->list->option->name, use->option->name);
		else
			choice->list = use;
	}
	const struct report *refining = choice->refining;
	const struct option_use *chosen = choice->list    ? choice->list
					  : choice->ranks ? choice->ranks
							  : choice->dividing;
	choice->report = chosen ? report_of_option(chosen->option->id) : default_report(invocation);
	if (refining && choice->report != report_find(refining->refines))
		return usage_error(invocation, "--%s needs a function (--%s FN --%s)", refining->name,
				   refining->refines, refining->name);
	if (refining)
		choice->report = refining;
	return EXIT_DONE;
}

static int check_options(const struct invocation *invocation, const struct report *report)
{
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct command_option *option = invocation->uses[i].option;
		const char *reason =
			report_of_option(option->id) == report ? NULL : report_refuses(report, refusable(option));
		if (reason)
			return usage_error(invocation, "--%s cannot be combined with --%s: %s (leave out --%s)",
					   option->name, report->name, reason, option->name);
	}
	if (option_given(invocation, OPTION_ZEROS) && option_given(invocation, OPTION_THRESHOLD))
		return usage_error(invocation,
				   "--zeros cannot be combined with --threshold: it lists all (leave out --threshold)");
	return EXIT_DONE;
}

/* Checks what a report over ranks can be combined with. */
static int check_ranks(const struct invocation *invocation, const struct report_choice *choice)
{
	const struct report *ranks = choice->ranks ? report_of_option(choice->ranks->option->id) : NULL;
	if (!ranks || choice->report == ranks)
		return EXIT_DONE;
	if (choice->refining || !report_is_list(choice->report))
		return usage_error(invocation, "--%s cannot be combined with --%s, which is no list (leave out --%s)",
				   ranks->name, choice->report->name, choice->report->name);
	return check_options(invocation, ranks);
}

/* Several files are added up, as the ranks of a job. */
static int check_files(const struct invocation *invocation, const struct report_choice *choice)
{
	if (invocation->argument_count == 0)
		return EXIT_DONE;
	if (!choice->ranks || option_given(invocation, STORE_URL))
		return usage_error(invocation, "one argument too many: '%s'", invocation->arguments[0]);
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct command_option *option = invocation->uses[i].option;
		const struct setting *setting = view_setting(option);
		if (setting && (setting->bit & SETTING_HITS & ~SETTING_LABEL))
			return usage_error(invocation,
					   "--%s cannot be combined with several files: their sum has no times, "
					   "threads and processes "
					   "(leave out --%s)",
					   option->name, option->name);
	}
	return EXIT_DONE;
}

static int check(const struct invocation *invocation)
{
	struct report_choice choice;
	int status = choose(invocation, &choice);
	if (status == EXIT_DONE)
		status = check_options(invocation, choice.report);
	if (status == EXIT_DONE)
		status = check_ranks(invocation, &choice);
	return status == EXIT_DONE ? check_files(invocation, &choice) : status;
}

static bool takes_sums(const struct invocation *invocation)
{
	struct report_choice choice;
	return choose(invocation, &choice) == EXIT_DONE &&
	       !(choice.report->needs & (REPORT_NEEDS_OWNERS | REPORT_NEEDS_ADDRESSES)) && view_takes_sums(invocation);
}

static int print(const struct invocation *invocation, const struct render_options *options, const struct report *report,
		 const struct results *results)
{
	struct render_document document;
	struct pager_output page;
	struct error error = { 0 };
	int status = 0;
	if (pager_output_open(&page, options, !option_given(invocation, OPTION_NO_PAGER), &error) < 0)
		return failure_of(invocation, &error);
	render_begin(&document, page.stream, options,
		     &(struct render_envelope){
			     .command = "report", .report = report->name, .profile = invocation->profile });
	for (size_t i = 0; i < results->count && status == 0; i++) {
		if (results->items[i].note)
			notice(invocation, "%s", results->items[i].note);
		status = render_result(&document, &results->items[i], &error);
	}
	if (status == 0)
		render_end(&document);
	if (pager_output_close(&page, status == 0 ? &error : NULL) < 0)
		status = status < 0 ? status : error.code;
	if (status < 0)
		return failure_of(invocation, &error);
	if (document.absent_count > 0)
		notice(invocation, "cannot show the text of '%s'%s: %s", document.absent,
		       document.absent_count > 1 ? " and others" : "", render_absence(&document));
	return EXIT_DONE;
}

static int build_and_print(const struct invocation *invocation, const struct report_choice *choice,
			   const struct view_request *view)
{
	struct results results = { 0 };
	struct error error = { 0 };
	struct report_request request = {
		.report = choice->report,
		.profile = invocation->profile,
		.view = view->settings.view,
		.resources = view->settings.resources,
		.resource_count = view->settings.resource_count,
		.resources_named = option_given(invocation, OPTION_RESOURCE),
		.root = choice->list ? choice->list->value : NULL,
		.group = option_value(invocation, OPTION_GROUP),
		.is_raw = option_given(invocation, OPTION_RAW),
		.is_divided = (choice->list || choice->ranks) && choice->dividing,
		.over_ranks = choice->ranks,
		.key = choice->dividing ? choice->dividing->value : NULL,
		.code = &code_of_files,
		.threshold = view->settings.threshold,
		.limit = view->settings.limit,
	};
	int result = report_prepare(&request, &error);
	if (result == 0)
		result = report_build(&request, &results, &error);
	int status = result < 0 ? failure_of(invocation, &error)
				: print(invocation, &view->render, choice->report, &results);
	results_release(&results);
	return status;
}

static int run(struct invocation *invocation)
{
	struct report_choice choice;
	struct view_request view;
	struct error error = { 0 };
	int status = choose(invocation, &choice);
	if (status == EXIT_DONE && invocation->argument_count > 0)
		status = merge_ranks(invocation);
	if (status == EXIT_DONE && option_given(invocation, OPTION_LEXICAL))
		status = view_make_lexical(invocation);
	if (status != EXIT_DONE)
		return status;
	if (view_request_init(&view, invocation, invocation->profile, &error) < 0)
		return failure_of(invocation, &error);
	if (strcmp(invocation->profile_path, PROFILE_FILE_DEFAULT) != 0)
		view.render.file = invocation->profile_path;
	if (view.render.lines > message_rows())
		view.render.lines -= message_rows();
	status = build_and_print(invocation, &choice, &view);
	view_request_release(&view);
	return status;
}

static const char *const usage[] = { "[REPORT] [OPTION]... [FILE]", "--ranks [REPORT] [OPTION]... FILE...", NULL };

static const struct command_option own_options[] = {
	{ OPTION_GROUP, 0, "group", "GROUP",
	  "List only functions of this group, and paths that lead to them; with * and ?", NULL },
	{ OPTION_LEXICAL, 0, "lexical", NULL,
	  "Show a function whose address is taken, as qsort's comparator, below the function that takes it", NULL },
	ROW_RESOURCES("all"),
	{ OPTION_RAW, 0, "raw", NULL, "Report times as measured, with the time that probes take", NULL },
	ROW_THRESHOLD,
	ROW_LIMIT,
	ROW_ZEROS,
	ROW_BY,
	ROWS_SELECTION,
	ROWS_STORE,
	ROWS_FRAMES,
	ROW_FORMAT,
	ROWS_TERMINAL,
	ROWS_LIMITS,
	{ 0 },
};

static bool is_any(const struct report *report)
{
	(void)report;
	return true;
}

static const struct command_option *make_options(void)
{
	static struct command_option rows[REPORT_OPTION_ROWS(own_options)];
	return report_options_fill(rows, is_any, "Each function with what it calls", own_options);
}

static const struct command_example examples[] = {
	{ "cpprof report", "one screen: what was recorded, the hottest functions and path, what to ask next" },
	{ "cpprof report --functions", "each function with what it calls" },
	{ "cpprof report perf.data", "the same of another tool's file that 'cpprof import' reads" },
	{ "cpprof report --down main", "which call paths below main cost most" },
	{ "cpprof report --up qsort -r page-faults", "for which callers qsort took its page faults" },
	{ "cpprof report --tree --threshold 5%", "the tree of calls, without what is below 5 %" },
	{ "cpprof report --tree --transform focus=parse --transform merge=malloc",
	  "the calls of parse, with what malloc uses in its callers" },
	{ "cpprof report --pages -r page-faults", "which mappings the page faults were in, and who touched them" },
	{ "cpprof report --source parse --counts", "how often each line of parse was executed" },
	{ "cpprof report --groups", "what each group of functions uses, by the groups of the source" },
	{ "cpprof report --by-label tenant", "which tenants cost most, as the program labels its threads" },
	{ "cpprof report --by-label=tenant --down main", "the call paths of each tenant apart" },
	{ "cpprof report --ranks job.*.data",
	  "which call paths the ranks of a parallel job share unequally, the dearest first" },
	{ "cpprof report --ranks --body job.*.data", "the same for each function without what it calls" },
	{ "cpprof report --call-graph | gprof2dot | dot -Tsvg > calls.svg", "a picture of all calls" },
	{ "cpprof report --body --from 1.5 --to 2", "where half a second of the run was spent" },
	{ "cpprof report --format json --limit 0 --threshold 0 run.data", "everything, for a program" },
	{ 0 },
};

const struct command command_report = {
	.name = "report",
	.task = TASK_READ,
	.summary = "print which functions, call paths or lines cost most",
	.usage = usage,
	.make_options = make_options,
	.examples = examples,
	.words = view_option_words,
	.needs = NEEDS_PROFILE,
	.argument_max = SIZE_MAX,
	.check = check,
	.takes_sums = takes_sums,
	.run = run,
};
