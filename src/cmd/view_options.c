#include "cmd/view_options.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lexical.h"
#include "analyze/lookup.h"
#include "analyze/options_read.h"
#include "cmd/message.h"
#include "cmd/store_options.h"
#include "profile/companion.h"

int view_read_format(const char *text, enum render_format *format, struct error *error)
{
	for (size_t i = 0; render_format_word(i); i++) {
		if (strcmp(render_format_word(i), text) == 0) {
			*format = (enum render_format)i;
			return 0;
		}
	}
	char list[64];
	return error_set(error, ERROR_USAGE, "unknown format '%s' (%s)", text,
			 words_list(render_format_word, list, sizeof(list)));
}

word_at *view_option_words(int id)
{
	switch (id) {
	case OPTION_FORMAT:
		return render_format_word;
	case OPTION_BY:
		return view_by_word;
	case OPTION_KERNEL:
		return view_kernel_word;
	default:
		return NULL;
	}
}

word_at *document_option_words(int id)
{
	return id == OPTION_FORMAT ? render_document_word : NULL;
}

static int add_resource(struct view_request *request, const struct profile *profile, const char *name,
			struct error *error)
{
	uint32_t resource;
	int result = lookup_resource(profile, name, &resource, error);
	if (result < 0)
		return result;
	for (size_t i = 0; i < request->resource_count; i++)
		if (request->resources[i] == resource)
			return 0;
	request->resources[request->resource_count++] = resource;
	return 0;
}

static int choose_resources(struct view_request *request, const struct invocation *invocation,
			    const struct profile *profile, struct error *error)
{
	int result = 0;
	request->resources = calloc(profile->resource_count + 1, sizeof(*request->resources));
	if (!request->resources)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < invocation->use_count && result == 0; i++)
		if (invocation->uses[i].option->id == OPTION_RESOURCE)
			result = add_resource(request, profile, invocation->uses[i].value, error);
	if (result == 0 && request->resource_count == 0)
		for (uint32_t i = 0; i < profile->resource_count; i++)
			if (!companion_is(profile, i))
				request->resources[request->resource_count++] = i;
	if (result == 0 && request->resource_count == 0)
		return lookup_no_resources(profile, error);
	return result;
}

static int read_option(struct view_request *request, const struct option_use *use, const struct profile *profile,
		       struct error *error)
{
	switch (use->option->id) {
	case OPTION_THRESHOLD:
		return options_read_threshold(use->value, &request->render.threshold, error);
	case OPTION_LIMIT:
		return options_read_limit(use->value, &request->render.limit, error);
	case OPTION_BY:
		return options_read_by(use->value, &request->view.by, error);
	case OPTION_THREAD:
		return lookup_thread(profile, use->value, &request->view.thread, error);
	case OPTION_KERNEL:
		return options_read_kernel(use->value, &request->view.kernel, error);
	case OPTION_NO_INLINES:
		request->view.no_inlines = true;
		return 0;
	case OPTION_UNTRIMMED:
		request->view.untrimmed = true;
		return 0;
	case OPTION_NATIVE_FRAMES:
		request->view.native_frames = true;
		return 0;
	case OPTION_NO_STITCH:
		request->view.no_stitch = true;
		return 0;
	case OPTION_LONG:
		request->render.columns = 0;
		return 0;
	case OPTION_FORMAT:
		return view_read_format(use->value, &request->render.format, error);
	default:
		return 0; /* read elsewhere: resources, processes, labels, times, the command's own options */
	}
}

static int read_times(struct view_request *request, const struct invocation *invocation, struct error *error)
{
	const char *from = option_value(invocation, OPTION_FROM), *to = option_value(invocation, OPTION_TO);
	if (option_given(invocation, STORE_URL))
		return 0; /* the store has selected by them */
	if ((from && !*from) || (to && !*to))
		return error_set(error, ERROR_USAGE, "missing time in seconds (as 1.5 or 200ms)");
	return options_read_time(from, to, &request->view, error);
}

/* Finds the processes that the options of one kind choose. *chosen stays NULL if there is no such option. */
static int read_processes(const struct invocation *invocation, int option, const struct profile *profile, bool **chosen,
			  struct error *error)
{
	int result = 0;
	for (size_t i = 0; i < invocation->use_count && result == 0; i++) {
		const struct option_use *use = &invocation->uses[i];
		if (use->option->id != option)
			continue;
		if (!*chosen)
			*chosen = calloc(profile->process_count + 1, sizeof(**chosen));
		if (!*chosen)
			return error_set(error, ERROR_MEMORY, "out of memory");
		result = option == OPTION_PROCESS ? lookup_process(profile, use->value, *chosen, error)
						  : lookup_cgroup(profile, use->value, *chosen, error);
	}
	return result;
}

/* Chooses processes. If options of both kinds are given, chooses the processes that match both. */
static int choose_processes(struct view_request *request, const struct invocation *invocation,
			    const struct profile *profile, struct error *error)
{
	bool *grouped = NULL, any = false;
	int result = read_processes(invocation, OPTION_PROCESS, profile, &request->processes, error);
	if (result == 0)
		result = read_processes(invocation, OPTION_CGROUP, profile, &grouped, error);
	if (result == 0 && request->processes && grouped) {
		for (size_t i = 0; i < profile->process_count; i++) {
			request->processes[i] = request->processes[i] && grouped[i];
			any = any || request->processes[i];
		}
		if (!any)
			result = error_set(error, ERROR_NOT_FOUND, "no selected process is in that control group");
	} else if (result == 0 && grouped) {
		request->processes = grouped;
		grouped = NULL;
	}
	free(grouped);
	request->view.processes = request->processes;
	return result;
}

static int choose_labels(struct view_request *request, const struct invocation *invocation,
			 const struct profile *profile, struct error *error)
{
	if (!option_given(invocation, OPTION_LABEL))
		return 0;
	const char **words = calloc(invocation->use_count, sizeof(*words));
	request->label_sets = calloc(profile->label_set_count, sizeof(*request->label_sets));
	size_t count = 0;
	for (size_t i = 0; words && i < invocation->use_count; i++)
		if (invocation->uses[i].option->id == OPTION_LABEL)
			words[count++] = invocation->uses[i].value;
	int result = words && request->label_sets ? lookup_label_sets(profile, words, count, request->label_sets, error)
						  : error_set(error, ERROR_MEMORY, "out of memory");
	free(words);
	request->view.label_sets = request->label_sets;
	return result;
}

/* A selection that begins behind the recording is empty. Tables in CSV and JSON do not show the reason. */
static void warn_of_empty_range(const struct view_request *request, const struct invocation *invocation,
				const struct profile *profile)
{
	const double ns_per_s = 1e9;
	uint64_t duration_ns = profile_duration_ns(profile);
	if (request->view.from_ns > 0 && request->view.from_ns >= duration_ns)
		warning(invocation, "--from %s selects nothing: the recording lasts %g s",
			option_value(invocation, OPTION_FROM), (double)duration_ns / ns_per_s);
}

int view_request_init(struct view_request *request, const struct invocation *invocation, const struct profile *profile,
		      struct error *error)
{
	*request = (struct view_request){
		.view = { .thread = VIEW_ANY },
		.render = { .threshold = OPTIONS_THRESHOLD_DEFAULT,
			    .limit = OPTIONS_LIMIT_DEFAULT,
			    .colour = wants_colour(),
			    .columns = terminal_columns(),
			    .lines = terminal_lines(),
			    .hint = "--threshold 0 --limit 0 shows all" },
	};
	int result = 0;
	for (size_t i = 0; i < invocation->use_count && result == 0; i++)
		result = read_option(request, &invocation->uses[i], profile, error);
	if (result == 0)
		result = read_times(request, invocation, error);
	if (result == 0 && profile)
		result = choose_processes(request, invocation, profile, error);
	if (result == 0 && profile)
		result = choose_labels(request, invocation, profile, error);
	if (result == 0 && profile)
		result = choose_resources(request, invocation, profile, error);
	if (result < 0)
		view_request_release(request);
	else if (profile)
		warn_of_empty_range(request, invocation, profile);
	return result;
}

void view_request_release(struct view_request *request)
{
	free(request->resources);
	free(request->processes);
	free(request->label_sets);
	*request = (struct view_request){ 0 };
}

int view_make_lexical(struct invocation *invocation)
{
	int64_t moved = lexical_has_pairs(invocation->profile) ? lexical_paths(invocation->profile) : ERROR_NOT_FOUND;
	if (moved == ERROR_NOT_FOUND)
		return failure(
			invocation,
			"cannot use --lexical: the profile does not record where addresses of functions are "
			"taken (compile with cpprof cc, and record with --instrumented), and no function is nested "
			"in another one");
	return moved < 0 ? failure(invocation, "%s", error_text((int)moved)) : EXIT_DONE;
}
