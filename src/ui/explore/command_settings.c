/* Commands that change the selection and settings. They print the current value, with arguments after the change. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "analyze/options_read.h"
#include "base/quote.h"
#include "profile/companion.h"
#include "ui/explore/command.h"
#include "ui/explore/totals.h"
#include "ui/explore/words.h"

static bool is_chosen(const struct session *session, uint32_t resource)
{
	for (size_t i = 0; i < session->resource_count; i++) {
		if (session->resources[i] == resource)
			return true;
	}
	return false;
}

/* Prints all resources and marks the chosen ones. */
static int show_resources(struct session *session, FILE *out, struct error *error)
{
	const struct profile *profile = session->profile;
	uint64_t *totals = totals_new(profile, error);
	if (!totals)
		return error->code;
	for (uint32_t i = 0; i < profile->resource_count; i++) {
		const struct profile_resource *resource = &profile->resources[i];
		fputs(is_chosen(session, i) ? "* " : "  ", out);
		render_safe_text(out, profile_string(profile, resource->name));
		fputs(" (", out);
		render_safe_text(out, profile_string(profile, resource->title));
		fputs("), ", out);
		totals_print(out, profile, i, totals[i]);
		if (resource->kind != RESOURCE_EXACT) {
			char interval[64];
			render_interval(interval, sizeof(interval), resource->interval,
					profile_string(profile, resource->unit));
			fprintf(out, ", one every %s", interval);
		}
		const char *note = profile_string(profile, resource->note);
		if (*note) {
			fputs(", ", out);
			render_safe_text(out, note);
		}
		fputc('\n', out);
	}
	free(totals);
	return 0;
}

/* Marks the resource, or all of them for "all". */
static int mark_resource(const struct profile *profile, const char *name, bool *marks, struct error *error)
{
	uint32_t resource;
	if (strcmp(name, "all") == 0) {
		for (uint32_t i = 0; i < profile->resource_count; i++)
			marks[i] = !companion_is(profile, i);
		return 0;
	}
	int status = lookup_resource(profile, name, &resource, error);
	if (status == 0)
		marks[resource] = true;
	return status;
}

static int choose_marked(struct session *session, const bool *marks, struct error *error)
{
	size_t total = session->profile->resource_count;
	uint32_t *chosen = calloc(total + 1, sizeof(*chosen));
	if (!chosen)
		return error_set(error, ERROR_MEMORY, "out of memory");
	size_t count = 0;
	for (uint32_t i = 0; i < total; i++) {
		if (marks[i])
			chosen[count++] = i;
	}
	int status = session_choose(session, chosen, count, error);
	session->resources_named = session->resources_named || status == 0;
	free(chosen);
	return status;
}

static int resource_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	struct words words;
	int status = words_split(&words, arguments, error);
	if (status)
		return status;
	if (words.count) {
		bool *marks = calloc(session->profile->resource_count + 1, sizeof(*marks));
		status = marks ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
		for (size_t i = 0; i < words.count && !status; i++)
			status = mark_resource(session->profile, words.items[i], marks, error);
		if (!status)
			status = choose_marked(session, marks, error);
		free(marks);
	}
	words_release(&words);
	return status ? status : show_resources(session, out, error);
}

const struct explore_command explore_resource = {
	.name = "resource",
	.arguments = "[NAME...|all]",
	.summary = "the resources; or those to report on",
	.detail = "With several chosen, each report is printed once for each of them.\n",
	.words = WORDS_RESOURCE,
	.run = resource_run,
};

static int threshold_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	int status = *arguments ? options_read_threshold(arguments, &session->render.threshold, error) : 0;
	if (status == 0)
		fprintf(out, "threshold: %g\n", session->render.threshold);
	return status;
}

const struct explore_command explore_threshold = {
	.name = "threshold",
	.arguments = "[FRACTION]",
	.summary = "show only entries that reach this usage fraction",
	.detail = "As '0.01' or '1%'; 0 shows everything.\n",
	.run = threshold_run,
};

static int limit_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	int status = *arguments ? options_read_limit(arguments, &session->render.limit, error) : 0;
	if (status == 0)
		fprintf(out, session->render.limit ? "limit: %zu\n" : "limit: %zu (all)\n", session->render.limit);
	return status;
}

const struct explore_command explore_limit = {
	.name = "limit",
	.arguments = "[N]",
	.summary = "show at most so many entries",
	.detail = "0 shows all.\n",
	.run = limit_run,
};

static int by_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	int status = *arguments ? options_read_by(arguments, &session->selection.by, error) : 0;
	if (status == 0)
		fprintf(out, "by: %s\n", view_by_name(session->selection.by));
	return status;
}

const struct explore_command explore_by = {
	.name = "by",
	.arguments = "[KIND]",
	.summary = "show frames by function, callsite, line, module or group",
	.words = WORDS_BY,
	.run = by_run,
};

/* Prints "thread: 4711 (worker)", or "thread: all" if `index` is VIEW_ANY. */
static void show_row(FILE *out, const char *what, uint32_t index, uint32_t number, const char *name)
{
	if (index == VIEW_ANY) {
		fprintf(out, "%s: all\n", what);
		return;
	}
	fprintf(out, "%s: %" PRIu32 " (", what, number);
	render_safe_text(out, name);
	fputs(")\n", out);
}

/* Returns a copy of the text without the quotes around it, or NULL if memory is exhausted. */
static char *unquoted(const char *text, struct error *error)
{
	size_t length;
	text = quote_strip(text, strlen(text), &length);
	char *copy = strndup(text, length);
	if (!copy)
		error_set(error, ERROR_MEMORY, "out of memory");
	return copy;
}

static int thread_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	const struct profile *profile = session->profile;
	char *name = *arguments ? unquoted(arguments, error) : NULL;
	if (*arguments && !name)
		return ERROR_MEMORY;
	int status = name ? lookup_thread(profile, name, &session->selection.thread, error) : 0;
	free(name);
	if (status)
		return status;
	uint32_t index = session->selection.thread;
	const struct profile_thread *thread = index == VIEW_ANY ? NULL : &profile->threads[index];
	show_row(out, "thread", index, thread ? thread->tid : 0, thread ? profile_string(profile, thread->name) : "");
	return 0;
}

const struct explore_command explore_thread = {
	.name = "thread",
	.arguments = "[TID|NAME|all]",
	.summary = "select one thread",
	.words = WORDS_THREAD,
	.run = thread_run,
};

typedef int choose_processes(const struct profile *profile, const char *text, bool *chosen, struct error *error);

/* Selects the processes that the text means, or all for "all". */
static int select_processes(struct session *session, choose_processes *choose, const char *arguments,
			    struct error *error)
{
	char *name = unquoted(arguments, error);
	if (!name)
		return ERROR_MEMORY;
	bool all = strcmp(name, "all") == 0;
	bool *chosen = all ? NULL : calloc(session->profile->process_count + 1, sizeof(*chosen));
	int status = 0;
	if (!all)
		status = chosen ? choose(session->profile, name, chosen, error)
				: error_set(error, ERROR_MEMORY, "out of memory");
	free(name);
	if (status) {
		free(chosen);
		return status;
	}
	free(session->processes);
	session->selection.processes = session->processes = chosen;
	return 0;
}

/* Prints "process: 4711 (worker)", "process: 3 of 12" or "process: all". */
static void show_processes(FILE *out, const struct session *session)
{
	const struct profile *profile = session->profile;
	size_t count = 0;
	uint32_t last = VIEW_ANY;
	for (uint32_t i = 0; session->processes && i < profile->process_count; i++) {
		count += session->processes[i];
		last = session->processes[i] ? i : last;
	}
	if (count > 1)
		fprintf(out, "process: %zu of %zu\n", count, profile->process_count);
	else
		show_row(out, "process", last, count ? profile->processes[last].pid : 0,
			 count ? profile_string(profile, profile->processes[last].name) : "");
}

static int process_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	int status = *arguments ? select_processes(session, lookup_process, arguments, error) : 0;
	if (status == 0)
		show_processes(out, session);
	return status;
}

const struct explore_command explore_process = {
	.name = "process",
	.arguments = "[PID|NAME|all]",
	.summary = "select one process, or those of one name",
	.words = WORDS_PROCESS,
	.run = process_run,
};

static int cgroup_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	int status = *arguments ? select_processes(session, lookup_cgroup, arguments, error) : 0;
	if (status == 0)
		show_processes(out, session);
	return status;
}

const struct explore_command explore_cgroup = {
	.name = "cgroup",
	.arguments = "[PATTERN|all]",
	.summary = "select the processes of control groups",
	.detail = "A path, with all below it, or a pattern: 'cgroup /system.slice', 'cgroup *docker*'.\n",
	.run = cgroup_run,
};

/* Selects the label sets that the words mean, or all for "all". */
static int select_labels(struct session *session, const char *arguments, struct error *error)
{
	const struct profile *profile = session->profile;
	struct words words;
	int status = words_split(&words, arguments, error);
	if (status)
		return status;
	bool all = words.count == 1 && strcmp(words.items[0], "all") == 0;
	char *text = all ? NULL : strdup(arguments);
	bool *chosen = all ? NULL : calloc(profile->label_set_count, sizeof(*chosen));
	if (!all && (!text || !chosen))
		status = error_set(error, ERROR_MEMORY, "out of memory");
	else if (!all)
		status = lookup_label_sets(profile, (const char *const *)words.items, words.count, chosen, error);
	words_release(&words);
	if (status) {
		free(text);
		free(chosen);
		return status;
	}
	free(session->label_sets);
	free(session->label_words);
	session->selection.label_sets = session->label_sets = chosen;
	session->label_words = text;
	return 0;
}

static int label_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	int status = *arguments ? select_labels(session, arguments, error) : 0;
	if (status)
		return status;
	fputs("label: ", out);
	render_safe_text(out, session->label_words ? session->label_words : "all");
	fputc('\n', out);
	return 0;
}

const struct explore_command explore_label = {
	.name = "label",
	.arguments = "[KEY=VALUE...|all]",
	.summary = "select the hits with these labels",
	.detail = "As the program set them: 'label tenant=acme kind=new'; 'label tenant' is any tenant. Of\n"
		  "several values of one key any will do, of several keys all must hold.\n",
	.run = label_run,
};

static int time_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	struct words words;
	int status = words_split(&words, arguments, error);
	if (status)
		return status;
	bool all = words.count == 1 && strcmp(words.items[0], "all") == 0;
	if (words.count > 2 || (words.count == 1 && !all))
		status = error_set(error, ERROR_USAGE, "time takes FROM and TO in seconds, or 'all'");
	else if (words.count)
		status = options_read_time(all ? NULL : words.items[0],
					   all || strcmp(words.items[1], "end") == 0 ? NULL : words.items[1],
					   &session->selection, error);
	words_release(&words);
	if (status)
		return status;
	const struct view_options *selection = &session->selection;
	if (selection->to_ns)
		fprintf(out, "time: %g s to %g s\n", (double)selection->from_ns / 1e9, (double)selection->to_ns / 1e9);
	else if (selection->from_ns)
		fprintf(out, "time: %g s to the end\n", (double)selection->from_ns / 1e9);
	else
		fputs("time: all\n", out);
	return 0;
}

const struct explore_command explore_time = {
	.name = "time",
	.arguments = "[FROM TO|all]",
	.summary = "select a range of seconds",
	.detail = "Seconds since the recording began: 'time 1.5 2', 'time 200ms end'.\n",
	.run = time_run,
};

/* Sets and prints a switch, which is on unless `*off`. */
static int switch_run(const char *name, bool *off, const char *arguments, FILE *out, struct error *error)
{
	bool on = !*off;
	int status = *arguments ? options_read_switch(arguments, &on, error) : 0;
	if (status)
		return status;
	*off = !on;
	fprintf(out, "%s: %s\n", name, on ? "on" : "off");
	return 0;
}

static int inlines_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	return switch_run("inlines", &session->selection.no_inlines, arguments, out, error);
}

const struct explore_command explore_inlines = {
	.name = "inlines",
	.arguments = "[on|off]",
	.summary = "inlined functions as frames of their own, or not",
	.words = WORDS_SWITCH,
	.run = inlines_run,
};

static int kernel_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	enum view_kernel *kernel = &session->selection.kernel;
	int status = *arguments ? options_read_kernel(arguments, kernel, error) : 0;
	if (status == 0)
		fprintf(out, "kernel: %s\n", view_kernel_word(*kernel));
	return status;
}

const struct explore_command explore_kernel = {
	.name = "kernel",
	.arguments = "[show|hide|only]",
	.summary = "show the kernel's functions, leave them out, or show nothing else",
	.words = WORDS_KERNEL,
	.run = kernel_run,
};

static int trim_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	return switch_run("trim", &session->selection.untrimmed, arguments, out, error);
}

static int native_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	bool off = !session->selection.native_frames;
	int status = switch_run("native", &off, arguments, out, error);
	session->selection.native_frames = !off;
	return status;
}

const struct explore_command explore_native = {
	.name = "native",
	.arguments = "[on|off]",
	.summary = "show the interpreter's own frames above the functions that it interprets",
	.words = WORDS_SWITCH,
	.run = native_run,
};

const struct explore_command explore_trim = {
	.name = "trim",
	.arguments = "[on|off]",
	.summary = "leave out the frames of the C library above main",
	.words = WORDS_SWITCH,
	.run = trim_run,
};

static int stitch_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	return switch_run("stitch", &session->selection.no_stitch, arguments, out, error);
}

const struct explore_command explore_stitch = {
	.name = "stitch",
	.arguments = "[on|off]",
	.summary = "threads below the path that started them, or apart",
	.words = WORDS_SWITCH,
	.run = stitch_run,
};

static int long_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	bool is_short = !session->is_long;
	int status = switch_run("long", &is_short, arguments, out, error);
	session->is_long = !is_short;
	return status;
}

const struct explore_command explore_long = {
	.name = "long",
	.arguments = "[on|off]",
	.summary = "on a terminal: names in full, a row for each frame",
	.words = WORDS_SWITCH,
	.run = long_run,
};
