#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/quote.h"
#include "cmd/formats.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/progress.h"
#include "cmd/rows.h"
#include "collect/count/tally.h"
#include "frames/frames.h"
#include "profile/quality.h"
#include "profile_file/reader.h"
#include "profile_file/writer.h"

enum { OPTION_FORMAT_NAME = 1, OPTION_OUTPUT, OPTION_IMAGE };

/* Peeks at the first bytes. */
static bool is_cpprof_file(FILE *in)
{
	unsigned char start[8];
	size_t count = 0;
	for (int c; count < sizeof(start) && (c = getc(in)) != EOF; count++)
		start[count] = (unsigned char)c;
	for (size_t i = count; i > 0; i--)
		ungetc(start[i - 1], in); /* the C library on Linux takes back 8 bytes and more */
	clearerr(in);                     /* the importer meets the same error, and reports it */
	return reader_is_profile(start, count) || tally_is(start, count);
}

static struct profile *import_input(const struct invocation *invocation, const struct format *format, FILE *in,
				    const char *name, struct error *error)
{
	bool is_standard = strcmp(name, "-") == 0;
	if (is_cpprof_file(in)) {
		error_set(error, ERROR_FORMAT, "cannot import %s: it is a cpprof profile already (cpprof report %s)",
			  is_standard ? "standard input" : QUOTE(name), name);
		return NULL;
	}
	return format->import(in, is_standard ? "standard input" : name, option_value(invocation, OPTION_IMAGE), error);
}

static struct profile *read_input(const struct invocation *invocation, const struct format *format, const char *path)
{
	bool is_standard = strcmp(path, "-") == 0;
	struct error error = { 0 };
	FILE *in = is_standard ? stdin : fopen(path, "re");
	if (!in) {
		error_set_errno(&error, "cannot read '%s'", path);
		failure_of(invocation, &error);
		return NULL;
	}
	char what[96];
	snprintf(what, sizeof(what), "reading %s", path);
	progress_begin(what, PROGRESS_AFTER_MS);
	struct profile *profile = import_input(invocation, format, in, path, &error);
	if (profile && !profile->symbolized &&
	    frames_name_profile(profile, &(struct frames_options){ .download = progress_download }, &error) < 0) {
		profile_free(profile);
		profile = NULL;
	}
	progress_end();
	if (!profile)
		failure_of(invocation, &error);
	if (!is_standard)
		fclose(in);
	return profile;
}

static int write_profile(struct writer *writer, const struct profile *profile, struct error *error)
{
	progress_begin("writing the profile", PROGRESS_AFTER_MS);
	int result = writer_finish(writer, profile, error);
	if (result == 0)
		result = writer_publish(writer, error);
	progress_end();
	return result;
}

static int import(const struct invocation *invocation, const struct format *format, const char *input,
		  const char *output)
{
	struct error error = { 0 };
	/* Opens the output first, so that a failure is reported before a long input is read. */
	struct writer *writer = writer_open(output, &error);
	if (!writer)
		return failure_of(invocation, &error);
	int status = EXIT_FAILED;
	struct profile *profile = read_input(invocation, format, input);
	if (profile && write_profile(writer, profile, &error) < 0) {
		status = failure_of(invocation, &error);
	} else if (profile) {
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
	const struct format *format = format_chosen(invocation, OPTION_FORMAT_NAME, DIRECTION_IMPORT);
	if (!format)
		return EXIT_WORDS;
	const char *image = option_value(invocation, OPTION_IMAGE);
	bool needs_image = format->needs & FORMAT_NEEDS_IMAGE;
	if (needs_image && !image)
		return usage_error(invocation, "--format %s needs the program that ran (--image ./a.out)",
				   format->name);
	if (!needs_image && image)
		return usage_error(invocation, "--image cannot be combined with --format %s (leave out --image)",
				   format->name);
	const char *output = option_value(invocation, OPTION_OUTPUT);
	return import(invocation, format, invocation->arguments[0], output ? output : PROFILE_FILE_DEFAULT);
}

static bool format_takes(const char *format, int id)
{
	return id != OPTION_IMAGE || (format_find(format)->needs & FORMAT_NEEDS_IMAGE);
}

static const char *const usage[] = { "[--format FORMAT] [-o FILE] [--image FILE] INPUT|-", NULL };

static const struct command_option options[] = {
	{ OPTION_FORMAT_NAME, 0, "format", "FORMAT", "Read this format", "folded" },
	{ OPTION_IMAGE, 0, "image", "FILE", "The program or library that was run", NULL },
	{ OPTION_OUTPUT, 'o', "output", "FILE", "Write the profile to FILE; an older one is kept as FILE.old",
	  PROFILE_FILE_DEFAULT },
	ROW_MEMORY,
	{ 0 },
};

static const struct command_example examples[] = {
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
