#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/array.h"
#include "cmd/call_graph.h"
#include "cmd/message.h"
#include "cmd/modes.h"
#include "cmd/rows.h"
#include "gprof/truth.h"

enum {
	OPTION_TREE = OPTION_MODE_END,
	OPTION_SOURCE,
	OPTION_PAGES,
	OPTION_BY_LABEL,
	OPTION_CALL_GRAPH,
	OPTION_COUNTS,
	OPTION_GROUPS,
	OPTION_LEXICAL,
};

/* One resource's part of the report, or of it one group of labels. */
struct part {
	struct view *view;      /* owned */
	struct label_set roots; /* owned; empty: no root is asked for, or it has no hits here */
	int kind;               /* as the report's */
	bool is_section;
	struct label_group section; /* the labels that all of it has */
	size_t sections_left_out;   /* behind the last section of a resource: how many there are not */
};

struct report {
	struct invocation *invocation;
	struct view_request request;
	int kind;          /* the option's id: one of the modes, or of those above */
	const char *root;  /* the function's name, or NULL */
	const char *group; /* pattern, or NULL */
	bool by_label;
	uint32_t label_key; /* a string of the profile, or LABEL_EVERY_KEY */
	struct part *parts; /* [part_count] */
	size_t part_count, part_capacity;
	struct error not_found; /* of the first part that has hits, but none of the root */
};

/* Reports that are not lists of entries take no options about these. */
static int check_fit(const struct report *report)
{
	static const struct {
		int kind;
		const char *what;
		struct {
			int id;
			const char *name;
		} unfit[10];
	} rules[] = {
		{ OPTION_COUNTS,
		  "--counts shows all lines of a function, as all threads together executed them",
		  { { OPTION_THRESHOLD, "threshold" },
		    { OPTION_LIMIT, "limit" },
		    { OPTION_BY, "by" },
		    { OPTION_THREAD, "thread" },
		    { OPTION_PROCESS, "process" },
		    { OPTION_CGROUP, "cgroup" },
		    { OPTION_LABEL, "label" },
		    { OPTION_GROUP, "group" },
		    { OPTION_FROM, "from" },
		    { OPTION_TO, "to" } } },
		{ OPTION_SOURCE,
		  "--source shows all lines of a function",
		  { { OPTION_THRESHOLD, "threshold" },
		    { OPTION_LIMIT, "limit" },
		    { OPTION_BY, "by" },
		    { OPTION_GROUP, "group" } } },
		{ OPTION_TREE, "--tree shows whole paths", { { OPTION_GROUP, "group" } } },
		{ OPTION_PAGES, "--pages shows memory", { { OPTION_GROUP, "group" } } },
		{ OPTION_BY_LABEL, "--by-label alone shows labels", { { OPTION_GROUP, "group" } } },
		{ OPTION_GROUPS, "--groups shows all groups", { { OPTION_BY, "by" }, { OPTION_GROUP, "group" } } },
		{ OPTION_CALL_GRAPH,
		  "--call-graph shows all functions as gprof does",
		  { { OPTION_THRESHOLD, "threshold" },
		    { OPTION_LIMIT, "limit" },
		    { OPTION_BY, "by" },
		    { OPTION_GROUP, "group" },
		    { OPTION_FORMAT, "format" } } },
	};
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		for (size_t j = 0; j < sizeof(rules[i].unfit) / sizeof(rules[i].unfit[0]); j++)
			if (rules[i].kind == report->kind && rules[i].unfit[j].name &&
			    option_given(report->invocation, rules[i].unfit[j].id))
				return usage_error(report->invocation, "%s: --%s does not go with it", rules[i].what,
						   rules[i].unfit[j].name);
	return EXIT_DONE;
}

static int choose_kind(struct report *report)
{
	const struct option_use *chosen = NULL;
	const struct invocation *invocation = report->invocation;
	report->kind = OPTION_FUNCTIONS;
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct option_use *use = &invocation->uses[i];
		if (use->option->id < OPTION_OWN || use->option->id == OPTION_BY_LABEL ||
		    use->option->id == OPTION_GROUP || use->option->id == OPTION_LEXICAL ||
		    use->option->id == OPTION_COUNTS)
			continue;
		if (chosen)
			return usage_error(invocation, "--%s and --%s do not go together", chosen->option->name,
					   use->option->name);
		chosen = use;
		report->kind = use->option->id;
		report->root = use->value;
	}
	if (option_given(invocation, OPTION_COUNTS) && report->kind != OPTION_SOURCE)
		return usage_error(invocation, "--counts shows the lines of a function: --source FN --counts");
	if (option_given(invocation, OPTION_COUNTS))
		report->kind = OPTION_COUNTS;
	report->by_label = option_given(invocation, OPTION_BY_LABEL);
	if (report->by_label && !chosen)
		report->kind = OPTION_BY_LABEL;
	report->group = option_value(invocation, OPTION_GROUP);
	if (report->kind == OPTION_PAGES && (report->by_label || option_given(invocation, OPTION_LABEL)))
		return usage_error(invocation, "touched memory has no labels: --pages and --%s do not go together",
				   report->by_label ? "by-label" : "label");
	return check_fit(report);
}

/* The root's labels in one view. A resource without any hits has no functions
 * and is reported as empty; the others must know the function somewhere. */
static int find_root(struct report *report, struct part *part)
{
	struct error error = { 0 };
	if (!report->root || part->view->total == 0)
		return 0;
	int result = lookup_functions(part->view, report->root, &part->roots, &error);
	if (result == ERROR_NOT_FOUND) {
		if (!report->not_found.code)
			report->not_found = error;
		return 0;
	}
	if (result < 0)
		failure_of(report->invocation, &error);
	return result;
}

/* Keeps the resources whose samples carry addresses; one that was asked for by name
 * must. */
static int choose_paged(struct report *report)
{
	struct view_request *request = &report->request;
	const struct profile *profile = report->invocation->profile;
	size_t kept = 0;
	for (size_t i = 0; i < request->resource_count; i++) {
		uint32_t resource = request->resources[i];
		if (pages_are_known(profile, resource))
			request->resources[kept++] = resource;
		else if (option_given(report->invocation, OPTION_RESOURCE))
			return failure(report->invocation,
				       "no addresses were recorded with '%s': record with -r page-faults",
				       profile_string(profile, profile->resources[resource].name));
	}
	request->resource_count = kept;
	request->view.keep_places = true;
	return kept ? EXIT_DONE
		    : failure(report->invocation, "no touched addresses were recorded: record with -r page-faults");
}

/* A call graph is about time, unless it is said of what else. */
static void choose_graphed(struct report *report)
{
	uint32_t resource = truth_resource(report->invocation->profile);
	if (option_given(report->invocation, OPTION_RESOURCE) || resource == PROFILE_NONE)
		return;
	report->request.resources[0] = resource;
	report->request.resource_count = 1;
}

/* Of all resources it is the executions of lines that are shown. */
static int choose_counted(struct report *report)
{
	struct view_request *request = &report->request;
	const struct profile *profile = report->invocation->profile;
	uint32_t lines = profile_find_resource(profile, "lines");
	if (lines == PROFILE_NONE)
		return failure(
			report->invocation,
			"no executions of lines were counted: compile with -g -fsanitize-coverage=trace-pc (gcc) or "
			"-fsanitize-coverage=trace-pc-guard,pc-table,no-prune (clang; link without it), and record "
			"with "
			"--instrumented=blocks");
	if (profile->resources[lines].total == 0)
		return failure(
			report->invocation,
			"no executions of lines are known: no block with a hook was executed, or the program was "
			"compiled without -g");
	if (option_given(report->invocation, OPTION_RESOURCE) &&
	    (request->resource_count != 1 || request->resources[0] != lines))
		return usage_error(report->invocation,
				   "--counts shows executions: no --resource but 'lines' goes with it");
	request->resources[0] = lines;
	request->resource_count = 1;
	return EXIT_DONE;
}

/* A part of what `request.view` selects now; `section` NULL: it is no section. */
static int add_part(struct report *report, const struct label_group *section)
{
	struct error error = { 0 };
	if (ARRAY_RESERVE(report->parts, report->part_capacity, report->part_count + 1) < 0)
		return failure(report->invocation, "out of memory");
	struct part *part = &report->parts[report->part_count];
	*part = (struct part){ .kind = report->kind, .is_section = section };
	if (section)
		part->section = *section;
	part->view = view_new(report->invocation->profile, &report->request.view, &error);
	if (!part->view)
		return failure_of(report->invocation, &error);
	report->part_count++;
	int result = find_root(report, part);
	return result == 0 ? EXIT_DONE : result == ERROR_USAGE ? EXIT_WORDS : EXIT_FAILED;
}

/* A section for each of the first `count` groups. */
static int add_groups(struct report *report, const struct label_group_list *list, size_t count)
{
	static const struct label_group none = { 0 };
	struct view_options *options = &report->request.view;
	int status = EXIT_DONE;
	if (count == 0) /* it still says that there is nothing */
		status = add_part(report, &none);
	for (size_t i = 0; i < count && status == EXIT_DONE; i++) {
		struct error error = { 0 };
		bool *sets = label_group_sets(list, i, report->invocation->profile, report->request.label_sets, &error);
		if (!sets)
			return failure_of(report->invocation, &error);
		options->label_sets = sets;
		status = add_part(report, &list->groups[i]);
		options->label_sets = report->request.label_sets;
		free(sets);
	}
	if (status == EXIT_DONE)
		report->parts[report->part_count - 1].sections_left_out = list->count - count;
	return status;
}

/* A resource's sections, of which threshold and limit keep back some as they do entries. */
static int add_sections(struct report *report)
{
	struct error error = { 0 };
	size_t reaching;
	struct view *view = view_new(report->invocation->profile, &report->request.view, &error);
	struct label_group_list *list = view ? analyze_label_groups(view, report->label_key, &error) : NULL;
	int status = list ? add_groups(report, list,
				       render_label_groups_shown(view, list, &report->request.render, &reaching))
			  : failure_of(report->invocation, &error);
	label_group_list_free(list);
	view_free(view);
	return status;
}

/* What each group used, with and without what it called. */
static int add_group_parts(struct report *report)
{
	static const int kinds[] = { OPTION_FUNCTIONS, OPTION_BODY };
	int status = EXIT_DONE;
	report->request.view.by = VIEW_GROUP;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && status == EXIT_DONE; i++) {
		status = add_part(report, NULL);
		if (status == EXIT_DONE)
			report->parts[report->part_count - 1].kind = kinds[i];
	}
	return status;
}

static int make_parts(struct report *report)
{
	struct view_request *request = &report->request;
	bool found = false;
	int status = EXIT_DONE;
	for (size_t i = 0; i < request->resource_count && status == EXIT_DONE; i++) {
		request->view.resource = request->resources[i];
		status = report->by_label && report->kind != OPTION_BY_LABEL ? add_sections(report)
			 : report->kind == OPTION_GROUPS                     ? add_group_parts(report)
									     : add_part(report, NULL);
	}
	for (size_t i = 0; i < report->part_count; i++)
		found = found || report->parts[i].roots.count > 0;
	if (status == EXIT_DONE && report->not_found.code && !found)
		return failure_of(report->invocation, &report->not_found);
	return status;
}

static int choose_label_key(struct report *report)
{
	const char *key = option_value(report->invocation, OPTION_BY_LABEL);
	const struct profile *profile = report->invocation->profile;
	struct error error = { 0 };
	report->label_key = LABEL_EVERY_KEY;
	/* Of a profile without labels it is said so, whatever was asked for. */
	if (report->by_label && (key || profile->label_count == 0) &&
	    lookup_label_key(profile, key ? key : "", &report->label_key, &error) < 0)
		return failure_of(report->invocation, &error);
	return EXIT_DONE;
}

static const char *root_name(const struct report *report, const struct part *part)
{
	return part->roots.name ? part->roots.name : report->root;
}

static int print_lines(struct report *report, const struct part *part, struct error *error)
{
	struct line_list empty = { 0 }, *lines = &empty;
	char missing[256];
	bool counts = report->kind == OPTION_COUNTS;
	if (part->roots.count > 0)
		lines = counts ? analyze_line_counts(part->view, &part->roots, error)
			       : analyze_lines(part->view, &part->roots, error);
	if (!lines)
		return error->code;
	if (counts && lines->count == 0) {
		if (lines != &empty)
			line_list_free(lines);
		return error_set(error, ERROR_NOT_FOUND,
				 "no lines of '%s' were counted: its code has no hooks at its blocks, or no line table",
				 root_name(report, part));
	}
	size_t absent = (counts ? render_line_counts : render_lines)(stdout, root_name(report, part), part->view, lines,
								     &report->request.render, missing, sizeof(missing));
	if (lines != &empty)
		line_list_free(lines);
	if (absent > 0)
		notice(report->invocation, "source file '%s'%s not found: run this where its path leads to it", missing,
		       absent > 1 ? " and others were" : " was");
	return 0;
}

static int print_pages(struct report *report, const struct part *part, struct error *error)
{
	struct page_list *list = analyze_pages(part->view, error);
	if (!list)
		return error->code;
	int result = render_pages(stdout, part->view, list, &report->request.render);
	page_list_free(list);
	return result < 0 ? error_set(error, result, "%s", error_text(result)) : 0;
}

static int print_labels(struct report *report, const struct part *part, struct error *error)
{
	struct label_group_list *list = analyze_label_groups(part->view, report->label_key, error);
	if (!list)
		return error->code;
	render_labels(stdout, part->view, list, &report->request.render);
	label_group_list_free(list);
	return 0;
}

/* Without gprof's explanations, as no report has any. */
static int print_call_graph(const struct report *report, const struct part *part)
{
	enum { INDEX_WIDTH = 80 };
	static const struct print_options print = { .brief = true, .width = INDEX_WIDTH };
	return call_graph_print(report->invocation, part->view->profile, &part->view->options, &print, false);
}

static int print_part(struct report *report, const struct part *part)
{
	struct error error = { 0 };
	const struct mode *mode = mode_find(part->kind);
	int result;
	if (report->kind == OPTION_CALL_GRAPH)
		return print_call_graph(report, part);
	struct mode shown = mode ? *mode : (struct mode){ 0 };
	if (report->kind == OPTION_GROUPS)
		shown.heading = part->kind == OPTION_BODY ? "Group Body Profile" : "Group Profile";
	if (mode)
		result = mode_report(&shown, part->view, &part->roots, root_name(report, part), report->group,
				     &report->request.render, &error);
	else if (report->kind == OPTION_SOURCE || report->kind == OPTION_COUNTS)
		result = print_lines(report, part, &error);
	else if (report->kind == OPTION_PAGES)
		result = print_pages(report, part, &error);
	else if (report->kind == OPTION_BY_LABEL)
		result = print_labels(report, part, &error);
	else if ((result = render_tree(stdout, NULL, part->view, &report->request.render)) < 0)
		error_set(&error, result, "%s", error_text(result));
	return result < 0 ? failure_of(report->invocation, &error) : EXIT_DONE;
}

static int print_parts(struct report *report)
{
	size_t count = report->part_count;
	struct render_options *render = &report->request.render;
	enum render_format format = render->format;
	for (size_t i = 0; i < count; i++) {
		const struct part *part = &report->parts[i];
		render->no_header = i > 0;
		render->section = part->is_section ? &part->section : NULL;
		render->sections_left_out = part->sections_left_out;
		render_separate(stdout, format, i, count);
		int status = print_part(report, part);
		if (status != EXIT_DONE)
			return status;
		render_sections_left_out(stdout, render);
	}
	render_separate(stdout, format, count, count);
	return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
	struct report report = { .invocation = invocation };
	struct error error = { 0 };
	int status = choose_kind(&report);
	if (status != EXIT_DONE)
		return status;
	if (option_given(invocation, OPTION_LEXICAL) && (status = view_make_lexical(invocation)) != EXIT_DONE)
		return status;
	if (view_request_init(&report.request, invocation, invocation->profile, &error) < 0)
		return failure_of(invocation, &error);
	if (report.kind == OPTION_COUNTS)
		status = choose_counted(&report);
	if (report.kind == OPTION_PAGES)
		status = choose_paged(&report);
	if (report.kind == OPTION_CALL_GRAPH)
		choose_graphed(&report);
	if (status == EXIT_DONE)
		status = choose_label_key(&report);
	if (status == EXIT_DONE)
		status = make_parts(&report);
	if (status == EXIT_DONE)
		status = print_parts(&report);
	for (size_t i = 0; i < report.part_count; i++) {
		view_free(report.parts[i].view);
		label_set_release(&report.parts[i].roots);
	}
	free(report.parts);
	view_request_release(&report.request);
	return status;
}

static const char *const usage[] = {
	"[--functions|--body|--down FN|--up FN|--tree|--pages|--call-graph] [OPTION]... [FILE]",
	"--groups [OPTION]... [FILE]", "--source FN [--counts] [OPTION]... [FILE]",
	"--by-label[=KEY] [--functions|--body|--down FN|--up FN|--tree] [OPTION]... [FILE]", NULL
};

static const struct command_option options[] = {
	ROWS_MODES("Each function with what it calls; this is the default"),
	{ OPTION_TREE, 'T', "tree", NULL, "The tree of all call paths", NULL },
	{ OPTION_SOURCE, 's', "source", "FN", "The source lines of function FN, with the hits beside each", NULL },
	{ OPTION_COUNTS, 0, "counts", NULL, "With --source: how often each line was executed, of all threads", NULL },
	{ OPTION_PAGES, 'P', "pages", NULL, "Which memory page faults touched, and on which paths", NULL },
	{ OPTION_CALL_GRAPH, 'g', "call-graph", NULL,
	  "Each function between its callers and what it called, as gprof prints it, with the times of the call paths",
	  NULL },
	{ OPTION_BY_LABEL, 0, "by-label", "[KEY]",
	  "The share of each value of label KEY, or of each set of labels; with another report, that one for each",
	  NULL },
	{ OPTION_GROUPS, 0, "groups", NULL,
	  "Each group of functions that the source tells of, with what it calls and without", NULL },
	ROW_GROUP,
	{ OPTION_LEXICAL, 0, "lexical", NULL,
	  "Show a function whose address is taken, as qsort's comparator, under the one that took it", NULL },
	ROW_RESOURCES("all"),
	ROW_THRESHOLD,
	ROW_LIMIT,
	ROW_BY,
	ROWS_SELECTION,
	ROWS_FRAMES,
	ROW_FORMAT("text, json or csv"),
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof report", "which functions cost most" },
	{ "cpprof report --down main", "which call paths below main cost most" },
	{ "cpprof report --up qsort -r page-faults", "on whose behalf qsort took its page faults" },
	{ "cpprof report --tree --threshold 5%", "the tree of calls, without what is below 5 %" },
	{ "cpprof report --pages -r page-faults", "which mappings the page faults were in, and who touched them" },
	{ "cpprof report --source parse --counts", "how often each line of parse was executed" },
	{ "cpprof report --groups", "what each part of the program uses, as its source is divided" },
	{ "cpprof report --by-label tenant", "which tenants cost most, as the program labels its threads" },
	{ "cpprof report --by-label=tenant --down main", "the call paths of each tenant apart" },
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
	.options = options,
	.examples = examples,
	.needs = NEEDS_PROFILE,
	.run = run,
};
