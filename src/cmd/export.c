#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/lookup.h"
#include "base/text_output.h"
#include "cmd/formats.h"
#include "cmd/message.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"
#include "collect/count/event_source.h"
#include "profile/companion.h"

enum { OPTION_FORMAT_NAME = OPTION_OWN, OPTION_OUTPUT, OPTION_OBJECT };

/* Chooses the requested resource, or the first one and prints the names of the others. */
static int choose_resource(const struct invocation *invocation, uint32_t *resource, struct error *error)
{
	const struct profile *profile = invocation->profile;
	const char *name = option_value(invocation, OPTION_RESOURCE);
	if (name)
		return lookup_resource(profile, name, resource, error);
	if (profile->resource_count == 0)
		return lookup_no_resources(error);
	*resource = 0;
	char others[256] = "";
	for (uint32_t i = 1; i < profile->resource_count; i++) {
		if (companion_is(profile, i))
			continue;
		size_t used = strlen(others);
		snprintf(others + used, sizeof(others) - used, "%s%s", used ? ", " : "",
			 profile_string(profile, profile->resources[i].name));
	}
	if (others[0])
		notice(invocation, "exported '%s' (with -r also: %s)",
		       profile_string(profile, profile->resources[0].name), others);
	return 0;
}

static int write_output(const struct invocation *invocation, const struct format *format,
			const struct format_input *input)
{
	struct text_output output;
	struct sink sink;
	struct error error = { 0 };
	if (text_output_open(&output, option_value(invocation, OPTION_OUTPUT), TEXT_OUTPUT_PRIVATE, &error) < 0)
		return failure_of(invocation, &error);
	sink_init(&sink, output.stream);
	int result = format_export(format, input, &sink, &error);
	if (result < 0)
		text_output_discard(&output);
	else
		result = text_output_commit(&output, &error);
	if (sink.failure == EPIPE)
		return EXIT_FAILED; /* the reader has gone away: no message */
	return result < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

/* Returns whether the format accepts an option. */
static bool takes(const struct format *format, const struct command_option *option)
{
	const struct setting *setting = view_setting(option);
	unsigned bit = option->id == OPTION_OBJECT ? FORMAT_OBJECT : setting ? setting->bit : 0;
	return bit == 0 || format->options & bit;
}

static bool format_takes(const char *format, const struct command_option *option)
{
	return takes(format_find(format), option);
}

/* Returns EXIT_DONE, or the status of a usage error if the format does not accept an option. */
static int check_options(const struct invocation *invocation, const struct format *format)
{
	const char *output = option_value(invocation, OPTION_OUTPUT);
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct command_option *option = invocation->uses[i].option;
		if (!takes(format, option))
			return usage_error(invocation, "--%s cannot be combined with --format %s (leave out --%s)",
					   option->name, format->name, option->name);
	}
	if (format->is_binary && (!output || strcmp(output, "-") == 0) && isatty(STDOUT_FILENO))
		return usage_error(invocation, "cannot write the binary format '%s' to a terminal (-o FILE)",
				   format->name);
	return EXIT_DONE;
}

/* Opens the events of a trace, if the format writes them. The dispatcher has already loaded its counts, which all formats may use.
 * Returns 0 or a negative error. */
static int open_events(const struct invocation *invocation, const struct format *format, struct format_input *input,
		       struct error *error)
{
	bool needs_events = format->needs & FORMAT_NEEDS_TRACE;
	bool takes_events = format->needs & FORMAT_TAKES_TRACE && input->view.resource == PROFILE_NONE &&
			    !input->view.label_sets && !input->view.transforms;
	bool is_store = store_is_url(invocation->profile_path);
	if (!needs_events && (!takes_events || is_store))
		return 0;
	if (is_store)
		return error_set(error, ERROR_USAGE,
				 "--format %s needs a trace, and a store has no events (name a file)", format->name);
	input->events = tally_event_source_open(invocation->profile_path, error);
	return input->events || (takes_events && error->code == ERROR_FORMAT) ? 0 : error->code;
}

static int export_view(struct invocation *invocation, const struct format *format, const struct view_request *request)
{
	struct error error = { 0 };
	struct format_input input = {
		.profile = invocation->profile,
		.view = request->settings.view,
		.object = option_value(invocation, OPTION_OBJECT),
	};
	input.view.resource = PROFILE_NONE;
	if ((!format->has_several || option_given(invocation, OPTION_RESOURCE)) &&
	    choose_resource(invocation, &input.view.resource, &error) < 0)
		return failure_of(invocation, &error);
	format_set_start(invocation, format);
	if (open_events(invocation, format, &input, &error) < 0)
		return failure_of(invocation, &error);
	int status = write_output(invocation, format, &input);
	if (input.events)
		input.events->close(input.events);
	return status;
}

static int run(struct invocation *invocation)
{
	struct error error = { 0 };
	struct view_request request;
	const struct format *format = format_chosen(invocation, OPTION_FORMAT_NAME, DIRECTION_EXPORT);
	if (!format)
		return EXIT_WORDS;
	int status = format_check_resources(invocation, OPTION_RESOURCE);
	if (status == EXIT_DONE)
		status = check_options(invocation, format);
	if (status != EXIT_DONE)
		return status;
	if (view_request_init(&request, invocation, invocation->profile, &error) < 0)
		return failure_of(invocation, &error);
	status = export_view(invocation, format, &request);
	view_request_release(&request);
	return status;
}

static const char *const usage[] = { "[--format FORMAT] [-r RES] [--object NAME] [-o FILE] [FILE]", NULL };

static const struct command_option options[] = {
	{ OPTION_FORMAT_NAME, 0, "format", "FORMAT", "Write this format", "folded" },
	{ OPTION_RESOURCE, 'r', "resource", "RES", "Export only resource RES",
	  "all, or the first if the format has room for one" },
	{ OPTION_OBJECT, 0, "object", "NAME", "Write of the program or library NAME, such as libfoo.so.1",
	  "the program" },
	{ OPTION_OUTPUT, 'o', "output", "FILE", "Write to FILE; - is standard output", "-" },
	ROWS_SELECTION,
	ROWS_STORE,
	ROWS_FRAMES,
	ROWS_LIMITS,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof export --format folded | flamegraph.pl > flame.svg", "draw a flame graph" },
	{ "cpprof export --format gmon -o gmon.out && gprof a.out", "let gprof show it" },
	{ "cpprof export --format events | sort -n", "each call of a trace, by time" },
	{ "cpprof export --format pprof -o perf.pb.gz perf.data",
	  "convert another tool's file that 'cpprof import' reads" },
	{ "cpprof export --format pprof -o run.pb.gz && go tool pprof run.pb.gz", "let Go's tools show it" },
	{ "cpprof export --format llvm-profile -r calls -o calls.prof",
	  "counted calls for clang -fprofile-sample-use" },
	{ "cpprof export -r page-faults -o faults.txt run.data", "one resource of several" },
	{ 0 },
};

const struct command command_export = {
	.name = "export",
	.task = TASK_EXCHANGE,
	.summary = "write a profile in another tool's format",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = view_option_words,
	.formats = format_exported,
	.format_takes = format_takes,
	.needs = NEEDS_PROFILE,
	.run = run,
};
