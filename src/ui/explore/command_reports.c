/* Commands that print a profile: once for each chosen resource. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "analyze/label_groups.h"
#include "analyze/lookup.h"
#include "base/buffer.h"
#include "base/quote.h"
#include "ui/explore/command.h"
#include "analyze/subtree.h"
#include "ui/explore/words.h"

/* One report over one view. `arguments` as in explore_command.run. */
typedef int report_function(struct session *session, const struct view *view, const char *arguments, FILE *out,
			    struct error *error);

static const char *resource_name(const struct session *session, uint32_t resource)
{
	return profile_string(session->profile, session->profile->resources[resource].name);
}

/* The report for each chosen resource, an empty line between two. A name that
 * one resource does not have (a call site without a hit of it) is only an
 * error if none has it; otherwise it is noted at the end. */
static int for_each_resource(struct session *session, report_function *report, const char *arguments, FILE *out,
			     struct error *error)
{
	if (!session->resource_count)
		return error_set(error, ERROR_NOT_FOUND, "the profile has no resources");
	size_t done = 0;
	int status = 0;
	struct buffer notes;
	buffer_init(&notes);
	for (size_t i = 0; i < session->resource_count && !status; i++) {
		uint32_t resource = session->resources[i];
		const struct view *view = session_view(session, resource, error);
		if (!view) {
			status = error->code;
			break;
		}
		if (done)
			fputc('\n', out);
		status = report(session, view, arguments, out, error);
		done += status == 0;
		if (status == ERROR_NOT_FOUND) {
			buffer_printf(&notes, "%s: %s\n", resource_name(session, resource), error->message);
			status = 0;
		}
	}
	if (!status && !done)
		status = error->code;
	if (!status && notes.size)
		fwrite(notes.bytes, 1, notes.size, out);
	buffer_release(&notes);
	return status;
}

static int no_arguments(const char *name, const char *arguments, struct error *error)
{
	return *arguments ? error_set(error, ERROR_USAGE, "%s takes no argument", name) : 0;
}

/* Renders the list, of bare names or of paths that start or end at `root`, and frees it. */
static int print_list(struct session *session, const char *heading, const char *root, const struct view *view,
		      struct path_list *list, FILE *out, const struct error *error)
{
	if (!list)
		return error->code;
	if (root)
		render_paths(out, heading, root, view, list, &session->render);
	else
		render_names(out, heading, view, list, &session->render);
	path_list_free(list);
	return 0;
}

/* A profile of the paths at a function. */
static int print_paths(struct session *session, const char *heading, const struct view *view, const char *name,
		       struct path_list *(*analyze)(const struct view *view, const struct label_set *roots,
						    struct error *error),
		       FILE *out, struct error *error)
{
	struct label_set roots;
	int status = session_labels(session, view, name, &roots, error);
	if (status)
		return status;
	status = print_list(session, heading, roots.name, view, analyze(view, &roots, error), out, error);
	label_set_release(&roots);
	return status;
}

static int functions_report(struct session *session, const struct view *view, const char *arguments, FILE *out,
			    struct error *error)
{
	(void)arguments;
	return print_list(session, "Function Profile", NULL, view, analyze_functions(view, error), out, error);
}

static int functions_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	int status = no_arguments("functions", arguments, error);
	return status ? status : for_each_resource(session, functions_report, arguments, out, error);
}

const struct explore_command explore_functions = {
	.name = "functions",
	.arguments = "",
	.summary = "each function with what it calls",
	.run = functions_run,
};

static int body_report(struct session *session, const struct view *view, const char *arguments, FILE *out,
		       struct error *error)
{
	(void)arguments;
	return print_list(session, "Body Profile", NULL, view, analyze_body(view, error), out, error);
}

static int body_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	int status = no_arguments("body", arguments, error);
	return status ? status : for_each_resource(session, body_report, arguments, out, error);
}

const struct explore_command explore_body = {
	.name = "body",
	.arguments = "",
	.summary = "each function without what it calls",
	.run = body_run,
};

static int down_report(struct session *session, const struct view *view, const char *arguments, FILE *out,
		       struct error *error)
{
	return print_paths(session, "Downward Call Path Profile", view, arguments, analyze_down, out, error);
}

static int down_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	return for_each_resource(session, down_report, arguments, out, error);
}

const struct explore_command explore_down = {
	.name = "down",
	.arguments = "FUNCTION",
	.summary = "the call paths that start at a function",
	.detail = "The function's name is the rest of the line: 'down ns::f(int, char)'. Enough of\n"
		  "it to be unique will do: 'f', 'ns::f'. '#2' is the second of the last list.\n",
	.words = WORDS_FUNCTION,
	.run = down_run,
};

static int up_report(struct session *session, const struct view *view, const char *arguments, FILE *out,
		     struct error *error)
{
	return print_paths(session, "Upward Call Path Profile", view, arguments, analyze_up, out, error);
}

static int up_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	return for_each_resource(session, up_report, arguments, out, error);
}

const struct explore_command explore_up = {
	.name = "up",
	.arguments = "FUNCTION",
	.summary = "the call paths that end at a function",
	.detail = "Names are as for 'down'.\n",
	.words = WORDS_FUNCTION,
	.run = up_run,
};

static int tree_report(struct session *session, const struct view *view, const char *arguments, FILE *out,
		       struct error *error)
{
	int status;
	if (!*arguments) {
		status = render_tree(out, NULL, view, &session->render);
		return status ? error_set(error, status, "out of memory") : 0;
	}
	struct label_set roots;
	status = session_labels(session, view, arguments, &roots, error);
	if (status)
		return status;
	struct view *below = subtree_new(view, &roots, error);
	status = below ? render_tree(out, roots.name, below, &session->render) : ERROR_MEMORY;
	subtree_free(below);
	label_set_release(&roots);
	return status ? error_set(error, status, "out of memory") : 0;
}

static int tree_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	return for_each_resource(session, tree_report, arguments, out, error);
}

const struct explore_command explore_tree = {
	.name = "tree",
	.arguments = "[FUNCTION]",
	.summary = "the sample tree, or what of it hangs below a function",
	.detail = "Below a function: its outermost calls are taken together as one tree; fractions\n"
		  "are of the whole selection. Names are as for 'down'.\n",
	.words = WORDS_FUNCTION,
	.run = tree_run,
};

/* Lines belong to functions, however the other reports show frames. */
static int source_report(struct session *session, const struct view *shown, const char *arguments, FILE *out,
			 struct error *error)
{
	struct view_options options = shown->options;
	options.by = VIEW_FUNCTION;
	const struct view *view = session_view_of(session, &options, error);
	if (!view)
		return error->code;
	struct label_set function;
	int status = session_labels(session, view, arguments, &function, error);
	if (status)
		return status;
	char path[256];
	size_t missing = 0;
	struct line_list *lines = analyze_lines(view, &function, error);
	if (lines)
		missing = render_lines(out, function.name, view, lines, &session->render, path, sizeof(path));
	else
		status = error->code;
	line_list_free(lines);
	label_set_release(&function);
	if (missing) {
		fputs("source not found: ", out);
		render_safe_text(out, path);
		fputc('\n', out);
	}
	return status;
}

static int source_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	return for_each_resource(session, source_report, arguments, out, error);
}

const struct explore_command explore_source = {
	.name = "source",
	.arguments = "FUNCTION",
	.summary = "the source lines of a function and their hits",
	.detail = "Names are as for 'down'.\n",
	.words = WORDS_FUNCTION,
	.run = source_run,
};

/* Only of resources whose samples carry addresses. */
static int pages_report(struct session *session, const struct view *shown, const char *arguments, FILE *out,
			struct error *error)
{
	(void)arguments;
	uint32_t resource = shown->options.resource;
	if (!pages_are_known(session->profile, resource))
		return error_set(error, ERROR_NOT_FOUND,
				 "no addresses were recorded with '%s': record with -r page-faults",
				 resource_name(session, resource));
	struct view_options options = shown->options;
	options.keep_places = true;
	const struct view *view = session_view_of(session, &options, error);
	struct page_list *list = view ? analyze_pages(view, error) : NULL;
	if (!list)
		return error->code;
	int status = render_pages(out, view, list, &session->render);
	page_list_free(list);
	return status < 0 ? error_set(error, status, "%s", error_text(status)) : 0;
}

static int pages_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	int status = no_arguments("pages", arguments, error);
	return status ? status : for_each_resource(session, pages_report, arguments, out, error);
}

const struct explore_command explore_pages = {
	.name = "pages",
	.arguments = "",
	.summary = "which memory page faults touched, and on which paths",
	.run = pages_run,
};

/* The share of each value of the key `arguments`, or of each label set. */
static int labels_report(struct session *session, const struct view *view, const char *arguments, FILE *out,
			 struct error *error)
{
	uint32_t key = LABEL_EVERY_KEY;
	/* Of a profile without labels it is said so. */
	if (*arguments || session->profile->label_count == 0) {
		int status = lookup_label_key(session->profile, arguments, &key, error);
		if (status)
			return status;
	}
	struct label_group_list *list = analyze_label_groups(view, key, error);
	if (!list)
		return error->code;
	render_labels(out, view, list, &session->render);
	label_group_list_free(list);
	return 0;
}

static int labels_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	size_t length;
	arguments = quote_strip(arguments, strlen(arguments), &length);
	char *key = strndup(arguments, length);
	int status = key ? for_each_resource(session, labels_report, key, out, error)
			 : error_set(error, ERROR_MEMORY, "out of memory");
	free(key);
	return status;
}

const struct explore_command explore_labels = {
	.name = "labels",
	.arguments = "[KEY]",
	.summary = "the share of each value of a label, or of each set of labels",
	.run = labels_run,
};

static int whatif_report(struct session *session, const struct view *view, const char *arguments, FILE *out,
			 struct error *error)
{
	struct words terms;
	int status = words_split_terms(&terms, arguments, error);
	if (status)
		return status;
	struct lookup_what_if what_if;
	status = lookup_what_if_init(&what_if, view, (const char *const *)terms.items, terms.count, error);
	words_release(&terms);
	if (status)
		return status;
	struct what_if_result result = { 0 };
	status = analyze_what_if(view, what_if.paths, what_if.count, &result, error);
	if (status == 0) {
		render_what_if(out, view, what_if.paths, what_if.count, &result, &session->render);
		free(result.affected);
	}
	lookup_what_if_release(&what_if);
	return status;
}

static int whatif_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	return for_each_resource(session, whatif_report, arguments, out, error);
}

const struct explore_command explore_whatif = {
	.name = "whatif",
	.arguments = "PATH=FACTOR...",
	.summary = "the total if call paths cost less",
	.detail = "A path is function names joined by ';', outermost first, and FACTOR what its cost\n"
		  "is multiplied by: 'whatif main;qsort=0 main;read_db=50%'.\n",
	.words = WORDS_TERMS,
	.run = whatif_run,
};
