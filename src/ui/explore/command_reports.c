/* Commands that print a report, once for each chosen resource. */
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/buffer.h"
#include "base/quote.h"
#include "reports/report.h"
#include "ui/explore/command.h"
#include "ui/explore/words.h"

/* The state of one report that is being printed. */
struct printing {
	struct report_request request;
	struct render_document document;
	struct buffer notes;  /* one line for each resource without the requested data */
	struct error missing; /* the error of the first of them */
};

void explore_report_command(const struct report *report, struct explore_command *command)
{
	static const struct {
		const char *arguments;
		enum explore_words words;
	} rows[] = {
		[REPORT_TAKES_NOTHING] = { "", WORDS_NONE },
		[REPORT_TAKES_FUNCTION] = { "FUNCTION", WORDS_FUNCTION },
		[REPORT_TAKES_SUBTREE] = { "[FUNCTION]", WORDS_FUNCTION },
		[REPORT_TAKES_KEY] = { "[KEY]", WORDS_NONE },
		[REPORT_TAKES_PATH] = { "PATH", WORDS_TERMS },
		[REPORT_TAKES_TERMS] = { "PATH=FACTOR...", WORDS_TERMS },
	};
	*command = (struct explore_command){
		.name = report->command ? report->command : report->name,
		.arguments = rows[report->argument].arguments,
		.summary = report->summary,
		.detail = report->detail,
		.words = rows[report->argument].words,
		.report = report,
	};
}

/* --- requests --- */

static const struct view *view_of_session(void *context, const struct view_options *options, struct error *error)
{
	return session_view_of(context, options, error);
}

static int roots_of_session(void *context, const struct view *view, const char *name, struct label_set *roots,
			    struct error *error)
{
	return session_labels(context, view, name, roots, error);
}

/* Refuses a selection that the report does not accept. */
static int check_selection(const struct session *session, const struct explore_command *command, struct error *error)
{
	const struct view_options *selection = &session->settings.view;
	const struct {
		bool is_set;
		unsigned options;
		const char *name;
	} rows[] = {
		{ selection->thread != VIEW_ANY, SETTING_THREAD, "thread" },
		{ selection->processes, SETTING_PROCESS | SETTING_CGROUP, "process" },
		{ selection->label_sets, SETTING_LABEL, "label" },
		{ selection->from_ns || selection->to_ns, SETTING_TIME, "time" },
		{ selection->transforms, SETTING_TRANSFORM, "transform" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *reason = rows[i].is_set ? report_refuses(command->report, rows[i].options) : NULL;
		if (reason)
			return error_set(error, ERROR_USAGE, "%s cannot be combined with a %s: %s ('%s all')",
					 command->name, rows[i].name, reason, rows[i].name);
	}
	return 0;
}

/* Copies the chosen resources, or all of them if the report chooses and the user has not. */
static int copy_resources(struct report_request *request, const struct session *session, struct error *error)
{
	const struct profile *profile = session->profile;
	bool all = request->report->choose && !session->resources_named;
	request->resource_count = all ? profile->resource_count : session->settings.resource_count;
	request->resources = calloc(request->resource_count + 1, sizeof(*request->resources));
	if (!request->resources)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < request->resource_count; i++)
		request->resources[i] = all ? (uint32_t)i : session->settings.resources[i];
	return 0;
}

/* --- results --- */

static int print_result(struct printing *printing, const struct result *result, struct error *error)
{
	const struct view *view = result->view;
	FILE *out = printing->document.out;
	if (result->missing.code) {
		buffer_printf(&printing->notes, "%s: %s\n", profile_string(view->profile, view->resource->name),
			      result->missing.message);
		printing->missing = printing->missing.code ? printing->missing : result->missing;
		return 0;
	}
	printing->document.absent_count = 0;
	int status = render_result(&printing->document, result, error);
	if (status == 0 && printing->document.absent_count > 0) {
		fputs("cannot show the text of '", out);
		render_safe_text(out, printing->document.absent);
		fprintf(out, "': %s\n", render_absence(&printing->document));
	}
	if (status == 0 && result->note)
		fprintf(out, "%s\n", result->note);
	return status;
}

/* If only some resources do not have a name (for instance, a call site without hits), that is printed at the end. If
 * none has it, it is an error. */
static int print_all(struct printing *printing, struct error *error)
{
	const struct report_request *request = &printing->request;
	int status = 0;
	if (request->resource_count == 0)
		return lookup_no_resources(error);
	for (size_t i = 0; i < request->resource_count && status == 0; i++) {
		struct results results = { 0 };
		status = report_build_resource(request, request->resources[i], &results, error);
		for (size_t k = 0; k < results.count && status == 0; k++)
			status = print_result(printing, &results.items[k], error);
		results_release(&results);
	}
	if (status == 0 && printing->document.count == 0) {
		*error = printing->missing;
		return error->code;
	}
	if (status == 0 && printing->notes.size)
		fwrite(printing->notes.bytes, 1, printing->notes.size, printing->document.out);
	return status;
}

static int run_request(struct session *session, const struct report_request *asked, FILE *out, struct error *error)
{
	const struct report_source source = { view_of_session, roots_of_session, session };
	struct report_request request = *asked;
	request.source = &source;
	int status = copy_resources(&request, session, error);
	if (status == 0)
		status = report_prepare(&request, error);
	if (status == 0) {
		struct printing printing = { .request = request };
		buffer_init(&printing.notes);
		render_begin(&printing.document, out, &session->render,
			     &(struct render_envelope){ .command = "explore", .report = request.report->name });
		status = print_all(&printing, error);
		buffer_release(&printing.notes);
	}
	free(request.resources);
	return status;
}

/* --- arguments --- */

static int run_terms(struct session *session, struct report_request *request, const char *arguments, FILE *out,
		     struct error *error)
{
	struct words terms;
	int status = words_split_terms(&terms, arguments, error);
	if (status)
		return status;
	request->terms = (const char *const *)terms.items;
	request->term_count = terms.count;
	status = run_request(session, request, out, error);
	words_release(&terms);
	return status;
}

static int run_key(struct session *session, struct report_request *request, const char *arguments, FILE *out,
		   struct error *error)
{
	size_t length;
	arguments = quote_strip(arguments, strlen(arguments), &length);
	char *key = strndup(arguments, length);
	if (!key)
		return error_set(error, ERROR_MEMORY, "out of memory");
	request->key = *key ? key : NULL;
	int status = run_request(session, request, out, error);
	free(key);
	return status;
}

int explore_report_run(const struct explore_command *command, struct session *session, const char *arguments, FILE *out,
		       struct error *error)
{
	enum report_argument argument = command->report->argument;
	struct report_request request = {
		.report = command->report,
		.profile = session->profile,
		.view = session->settings.view,
		.resources_named = session->resources_named,
		.threshold = session->settings.threshold,
		.limit = session->settings.limit,
		.code = session->options->code,
	};
	int status = check_selection(session, command, error);
	if (status)
		return status;
	if (argument == REPORT_TAKES_NOTHING && *arguments)
		return error_set(error, ERROR_USAGE, "%s takes no argument", command->name);
	if (argument == REPORT_TAKES_FUNCTION && !*arguments)
		return error_set(error, ERROR_USAGE, "missing function name");
	if (argument == REPORT_TAKES_PATH && !*arguments)
		return error_set(error, ERROR_USAGE, "missing call path (as main;read_db;qsort)");
	if (argument == REPORT_TAKES_TERMS)
		return run_terms(session, &request, arguments, out, error);
	if (argument == REPORT_TAKES_KEY)
		return run_key(session, &request, arguments, out, error);
	if (*arguments)
		request.root = arguments;
	return run_request(session, &request, out, error);
}
