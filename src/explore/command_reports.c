/* Commands that print a profile: once for each chosen resource. */
#include <stdlib.h>

#include "analyze/analyses.h"
#include "base/buffer.h"
#include "explore/command.h"
#include "explore/selection.h"
#include "explore/subtree.h"
#include "explore/words.h"

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

typedef void render_function(FILE *out, const char *heading, const struct view *view, const struct path_list *list,
			     const struct render_options *options);

/* Renders the list and frees it. */
static int print_list(struct session *session, render_function *render, const char *heading, const struct view *view,
		      struct path_list *list, FILE *out, const struct error *error)
{
	if (!list)
		return error->code;
	render(out, heading, view, list, &session->render);
	if (!list->count && view->total)
		fputs("no hits of it in this selection\n", out);
	path_list_free(list);
	return 0;
}

static int functions_report(struct session *session, const struct view *view, const char *arguments, FILE *out,
			    struct error *error)
{
	(void)arguments;
	return print_list(session, render_names, "Function Profile", view, analyze_functions(view, error), out, error);
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
	return print_list(session, render_names, "Body Profile", view, analyze_body(view, error), out, error);
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
	uint32_t label;
	int status = session_label(session, view, arguments, &label, error);
	if (status)
		return status;
	return print_list(session, render_paths, "Downward Call Path Profile", view, analyze_down(view, label, error),
			  out, error);
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
	uint32_t label;
	int status = session_label(session, view, arguments, &label, error);
	if (status)
		return status;
	return print_list(session, render_paths, "Upward Call Path Profile", view, analyze_up(view, label, error), out,
			  error);
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
	if (!*arguments) {
		render_tree(out, view, &session->render);
		return 0;
	}
	uint32_t label;
	int status = session_label(session, view, arguments, &label, error);
	if (status)
		return status;
	struct view *below = subtree_new(view, label, error);
	if (!below)
		return ERROR_MEMORY;
	render_tree(out, below, &session->render);
	if (below->node_count == 1 && view->total)
		fputs("no hits of it in this selection\n", out);
	subtree_free(below);
	return 0;
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
	uint32_t label;
	int status = session_label(session, view, arguments, &label, error);
	if (status)
		return status;
	struct line_list *lines = analyze_lines(view, label, error);
	if (!lines)
		return error->code;
	char path[256];
	size_t missing = render_lines(out, view->labels[label].text, view, lines, &session->render, path, sizeof(path));
	line_list_free(lines);
	if (missing) {
		fputs("source not found: ", out);
		render_safe_text(out, path);
		fputc('\n', out);
	}
	return 0;
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

static int whatif_report(struct session *session, const struct view *view, const char *arguments, FILE *out,
			 struct error *error)
{
	struct words terms;
	int status = words_split_terms(&terms, arguments, error);
	if (status)
		return status;
	struct selection_what_if what_if;
	status = selection_what_if_init(&what_if, view, (const char *const *)terms.items, terms.count, error);
	words_release(&terms);
	if (status)
		return status;
	struct what_if_result result = { 0 };
	status = analyze_what_if(view, what_if.paths, what_if.count, &result, error);
	if (status == 0) {
		render_what_if(out, view, what_if.paths, what_if.count, &result, &session->render);
		free(result.affected);
	}
	selection_what_if_release(&what_if);
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
