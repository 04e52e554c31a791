#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/lookup.h"
#include "cmd/export_events.h"
#include "cmd/formats.h"
#include "cmd/message.h"
#include "cmd/rows.h"
#include "cmd/text_output.h"
#include "cmd/view_options.h"

enum { OPTION_FORMAT_NAME = OPTION_OWN, OPTION_OUTPUT, OPTION_OBJECT };

/* The resource asked for; else the first, with a word about the others. */
static int choose_resource(const struct invocation *invocation, uint32_t *resource, struct error *error)
{
	const struct profile *profile = invocation->profile;
	const char *name = option_value(invocation, OPTION_RESOURCE);
	if (name)
		return lookup_resource(profile, name, resource, error);
	if (profile->resource_count == 0)
		return error_set(error, ERROR_NOT_FOUND, "this profile has no resources");
	*resource = 0;
	char others[256] = "";
	for (size_t i = 1; i < profile->resource_count; i++) {
		size_t used = strlen(others);
		snprintf(others + used, sizeof(others) - used, "%s%s", used ? ", " : "",
			 profile_string(profile, profile->resources[i].name));
	}
	if (others[0])
		notice(invocation, "this is '%s'; with -r there is also: %s",
		       profile_string(profile, profile->resources[0].name), others);
	return 0;
}

/* `format` NULL: the events of the trace that the profile was read from. */
static int export(const struct invocation *invocation, const struct convert_format *format,
		  const struct convert_selection *selection)
{
	struct text_output output;
	struct error error = { 0 };
	if (text_output_open(&output, option_value(invocation, OPTION_OUTPUT), &error) < 0)
		return failure_of(invocation, &error);
	errno = 0;
	int result = format ? format->export(invocation->profile, selection, output.stream, &error)
			    : export_events(invocation->profile_path, output.stream, &error);
	bool hung_up = result < 0 && errno == EPIPE;
	if (result < 0)
		text_output_discard(&output);
	else
		result = text_output_commit(&output, &error);
	if (hung_up)
		return EXIT_FAILED; /* no news to who hung up */
	return result < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

/* EXIT_DONE, or that of having refused options which say nothing to the format. */
static int check_options(const struct invocation *invocation, const struct convert_format *format)
{
	static const struct {
		int id;
		const char *name;
	} of_frames[] = { { OPTION_NO_INLINES, "no-inlines" },
			  { OPTION_UNTRIMMED, "untrimmed" },
			  { OPTION_NO_STITCH, "no-stitch" } };
	const char *output = option_value(invocation, OPTION_OUTPUT);
	if (!format->is_of_object && option_given(invocation, OPTION_OBJECT))
		return usage_error(invocation, "--object says nothing to the format '%s', which holds all",
				   format->name);
	for (size_t i = 0; format->is_of_object && i < sizeof(of_frames) / sizeof(of_frames[0]); i++)
		if (option_given(invocation, of_frames[i].id))
			return usage_error(invocation, "--%s says nothing to the format '%s', which holds addresses",
					   of_frames[i].name, format->name);
	if (format->is_of_object && (!output || strcmp(output, "-") == 0) && isatty(STDOUT_FILENO))
		return usage_error(invocation, "the format '%s' is binary: name a file with -o", format->name);
	return EXIT_DONE;
}

static int run_events(const struct invocation *invocation)
{
	static const struct {
		int id;
		const char *name;
	} others[] = { { OPTION_RESOURCE, "resource" },
		       { OPTION_OBJECT, "object" },
		       { OPTION_NO_INLINES, "no-inlines" },
		       { OPTION_UNTRIMMED, "untrimmed" },
		       { OPTION_NO_STITCH, "no-stitch" } };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (option_given(invocation, others[i].id))
			return usage_error(invocation,
					   "--%s says nothing to the format '%s', which lists all of a trace",
					   others[i].name, FORMAT_EVENTS);
	return export(invocation, NULL, NULL);
}

static int run(struct invocation *invocation)
{
	const char *name = option_value(invocation, OPTION_FORMAT_NAME);
	if (name && strcmp(name, FORMAT_EVENTS) == 0)
		return run_events(invocation);
	struct error error = { 0 };
	struct convert_selection selection = {
		.no_inlines = option_given(invocation, OPTION_NO_INLINES),
		.untrimmed = option_given(invocation, OPTION_UNTRIMMED),
		.no_stitch = option_given(invocation, OPTION_NO_STITCH),
		.object = option_value(invocation, OPTION_OBJECT),
		.resource = PROFILE_NONE,
	};
	const struct convert_format *format = format_chosen(invocation, OPTION_FORMAT_NAME, DIRECTION_EXPORT);
	if (!format)
		return EXIT_WORDS;
	int status = check_options(invocation, format);
	if (status != EXIT_DONE)
		return status;
	/* What is of objects holds several resources: it knows best which of them. */
	if ((!format->is_of_object || option_given(invocation, OPTION_RESOURCE)) &&
	    choose_resource(invocation, &selection.resource, &error) < 0)
		return failure_of(invocation, &error);
	return export(invocation, format, &selection);
}

static const char *const usage[] = { "[--format FORMAT] [-r RES] [--object NAME] [-o FILE] [FILE]", NULL };

static const struct command_option options[] = {
	{ OPTION_FORMAT_NAME, 0, "format", "FORMAT",
	  "What to write: folded (lines such as 'main;f;g 12'), gmon (gmon.out), or events (of a trace, "
	  "one a line, thread after thread)",
	  "folded" },
	{ OPTION_RESOURCE, 'r', "resource", "RES", "Export resource RES", "the first" },
	{ OPTION_OBJECT, 0, "object", "NAME", "gmon: write of the program or library NAME, such as libfoo.so.1",
	  "the program" },
	{ OPTION_OUTPUT, 'o', "output", "FILE", "Write to FILE; - is standard output", "-" },
	ROWS_FRAMES,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof export --format folded | flamegraph.pl > flame.svg", "draw a flame graph" },
	{ "cpprof export --format gmon -o gmon.out && gprof a.out", "let gprof show it" },
	{ "cpprof export --format events | sort -n", "each call of a trace, by time" },
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
	.needs = NEEDS_PROFILE,
	.run = run,
};
