#include <inttypes.h>

#include "cmd/foreign.h"
#include "cmd/formats.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/progress.h"
#include "profile/quality.h"
#include "profile_file/writer.h"

enum { OPTION_FORMAT_NAME = 1, OPTION_OUTPUT, OPTION_IMAGE };

static int write_profile(struct writer *writer, const struct profile *profile, struct error *error)
{
	progress_begin("writing the profile", PROGRESS_AFTER_MS);
	int result = writer_finish(writer, profile, error);
	if (result == 0)
		result = writer_publish(writer, error);
	progress_end();
	return result;
}

static int import(const struct invocation *invocation, const struct foreign_request *request, const char *output)
{
	struct error error = { 0 };
	/* Opens the output first, so that a failure is reported before a long input is read. */
	struct writer *writer = writer_open(output, &error);
	if (!writer)
		return failure_of(invocation, &error);
	int status = EXIT_DONE;
	struct profile *profile = foreign_read(request, &error);
	if (!profile || write_profile(writer, profile, &error) < 0) {
		status = failure_of(invocation, &error);
	} else {
		struct quality quality = quality_of(profile);
		size_t paths = profile->node_count - 1;
		notice(invocation, "%" PRIu64 " sample%s, %zu call path%s, %" PRIu64 " bytes written to %s",
		       quality.samples, quality.samples == 1 ? "" : "s", paths, paths == 1 ? "" : "s",
		       writer_size(writer), output);
		status = EXIT_DONE;
	}
	profile_free(profile);
	writer_free(writer);
	return status;
}

static int run(struct invocation *invocation)
{
	struct foreign_request request = { .path = invocation->arguments[0],
					   .image = option_value(invocation, OPTION_IMAGE) };
	struct error error = { 0 };
	if (option_value(invocation, OPTION_FORMAT_NAME)) {
		request.format = format_chosen(invocation, OPTION_FORMAT_NAME, DIRECTION_IMPORT);
		if (!request.format)
			return EXIT_WORDS;
		if (foreign_check_image(&request, request.format, &error) < 0)
			return failure_of(invocation, &error);
	}
	const char *output = option_value(invocation, OPTION_OUTPUT);
	return import(invocation, &request, output ? output : PROFILE_FILE_DEFAULT);
}

static bool format_takes(const char *format, const struct command_option *option)
{
	return option->id != OPTION_IMAGE || (format_find(format)->needs & FORMAT_NEEDS_IMAGE);
}

static const char *const usage[] = { "[--format FORMAT] [-o FILE] [--image FILE] INPUT|-", NULL };

static const struct command_option options[] = {
	{ OPTION_FORMAT_NAME, 0, "format", "FORMAT", "Read this format", "recognised" },
	{ OPTION_IMAGE, 0, "image", "FILE", "The program or library that was run", NULL },
	{ OPTION_OUTPUT, 'o', "output", "FILE", "Write the profile to FILE; an older one is kept as FILE.old",
	  PROFILE_FILE_DEFAULT },
	ROWS_LIMITS,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof import perf.data", "the file of perf record; its copied stacks are unwound" },
	{ "cpprof import profile.pb.gz", "a profile of Go or of a service; the format is recognised" },
	{ "cpprof import callgrind.out.4711", "the costs that Valgrind counted" },
	{ "cpprof import --format folded stacks.txt", "read the input of a flame graph" },
	{ "cpprof import --format gmon --image ./a.out gmon.out", "the file that a program built with -pg wrote" },
	{ "cpprof import -o run.data - < stacks.txt", "the same from standard input" },
	{ 0 },
};

const struct command command_import = {
	.name = "import",
	.task = TASK_EXCHANGE,
	.summary = "make a profile of another tool's file",
	.usage = usage,
	.options = options,
	.examples = examples,
	.formats = format_imported,
	.format_takes = format_takes,
	.argument_min = 1,
	.argument_max = 1,
	.run = run,
};
