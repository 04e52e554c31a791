#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/quote.h"
#include "cmd/formats.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/progress.h"
#include "collect/count/tally.h"
#include "formats/import_stream.h"
#include "frames/frames.h"
#include "profile/quality.h"
#include "profile_file/reader.h"
#include "profile_file/writer.h"

enum { OPTION_FORMAT_NAME = 1, OPTION_OUTPUT, OPTION_IMAGE };

/* The words of the command. */
struct request {
	const struct invocation *invocation;
	const struct format *format; /* NULL: the recognised format */
	const char *path, *image;
};

static const char *shown_name(const struct request *request)
{
	return strcmp(request->path, "-") == 0 ? "standard input" : request->path;
}

/* Sets the error about an input that is in no format. */
static void refuse_unknown(const struct request *request, struct error *error)
{
	const char *mark = quote_mark(shown_name(request));
	char names[256] = "";
	size_t length = 0;
	for (size_t i = 0; formats[i]; i++)
		if (formats[i]->import && length < sizeof(names))
			length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s", length ? ", " : "",
						   formats[i]->name);
	error_set(error, ERROR_FORMAT, "cannot import %s%s%s: its format is unknown (known formats: %s)", mark,
		  shown_name(request), mark, names);
}

/* Returns the requested format, or else the format of the input; or NULL, and then sets the error. */
static const struct format *format_of(const struct request *request, const struct import_stream *stream,
				      struct error *error)
{
	const struct format *format = request->format;
	if (!format)
		format = format_recognise(stream->start, stream->start_bytes);
	if (!format && stream->code) /* any importer reports the failure of reading */
		return format_find("folded");
	if (!format)
		refuse_unknown(request, error);
	return format;
}

/* Returns 0, or sets the error. */
static int check_image(const struct request *request, const struct format *format, struct error *error)
{
	bool needs_image = format->needs & FORMAT_NEEDS_IMAGE;
	if (needs_image && !request->image)
		return error_set(error, ERROR_USAGE, "--format %s needs the program that ran (--image ./a.out)",
				 format->name);
	if (!needs_image && request->image)
		return error_set(error, ERROR_USAGE, "--image cannot be combined with --format %s (leave out --image)",
				 format->name);
	return 0;
}

static struct profile *import_input(const struct request *request, struct import_stream *stream, struct error *error)
{
	const char *mark = quote_mark(shown_name(request));
	if (reader_is_profile(stream->start, stream->start_bytes) || tally_is(stream->start, stream->start_bytes)) {
		error_set(error, ERROR_FORMAT,
			  "cannot import %s%s%s: it is a cpprof profile already (cpprof report %s)", mark,
			  shown_name(request), mark, request->path);
		return NULL;
	}
	const struct format *format = format_of(request, stream, error);
	if (format && check_image(request, format, error) < 0)
		return NULL;
	struct profile *profile =
		!format ? NULL : format->import(stream->in, shown_name(request), request->image, error);
	if (!profile && stream->packing && stream->code == EBADMSG)
		error_set(error, ERROR_CORRUPT, "cannot read %s%s%s: its %s data are damaged or end too early", mark,
			  shown_name(request), mark, stream->packing->name);
	return profile;
}

static struct profile *import_file(const struct request *request, FILE *file, struct error *error)
{
	struct import_stream *stream = malloc(sizeof(*stream));
	struct profile *profile = NULL;
	if (!stream || import_stream_open(stream, file) < 0) {
		error_set(error, ERROR_MEMORY, "cannot read '%s': out of memory", shown_name(request));
	} else {
		profile = import_input(request, stream, error);
		import_stream_close(stream);
	}
	free(stream);
	if (profile && !profile->symbolized &&
	    frames_name_profile(profile, &(struct frames_options){ .download = progress_download }, error) < 0) {
		profile_free(profile);
		profile = NULL;
	}
	return profile;
}

/* Returns the profile, or NULL with the exit status. */
static struct profile *read_input(const struct request *request, int *status)
{
	bool is_standard = strcmp(request->path, "-") == 0;
	struct error error = { 0 };
	int fd = is_standard ? STDIN_FILENO : path_open_input(request->path, &error);
	FILE *in = is_standard ? stdin : fd < 0 ? NULL : fdopen(fd, "r");
	if (!in && fd >= 0) {
		error_set_errno(&error, "cannot read '%s'", request->path);
		close(fd);
	}
	if (!in) {
		*status = failure_of(request->invocation, &error);
		return NULL;
	}
	char what[96];
	snprintf(what, sizeof(what), "reading %s", shown_name(request));
	progress_begin(what, PROGRESS_AFTER_MS);
	struct profile *profile = import_file(request, in, &error);
	progress_end();
	if (!profile)
		*status = failure_of(request->invocation, &error);
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

static int import(const struct request *request, const char *output)
{
	const struct invocation *invocation = request->invocation;
	struct error error = { 0 };
	/* Opens the output first, so that a failure is reported before a long input is read. */
	struct writer *writer = writer_open(output, &error);
	if (!writer)
		return failure_of(invocation, &error);
	int status = EXIT_FAILED;
	struct profile *profile = read_input(request, &status);
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
	struct request request = { .invocation = invocation,
				   .path = invocation->arguments[0],
				   .image = option_value(invocation, OPTION_IMAGE) };
	struct error error = { 0 };
	if (option_value(invocation, OPTION_FORMAT_NAME)) {
		request.format = format_chosen(invocation, OPTION_FORMAT_NAME, DIRECTION_IMPORT);
		if (!request.format)
			return EXIT_WORDS;
		if (check_image(&request, request.format, &error) < 0)
			return failure_of(invocation, &error);
	}
	const char *output = option_value(invocation, OPTION_OUTPUT);
	return import(&request, output ? output : PROFILE_FILE_DEFAULT);
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
