/* export, info, help, quit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/narrow.h"
#include "analyze/transform.h"
#include "base/quote.h"
#include "base/text_output.h"
#include "formats/format.h"
#include "ui/explore/command.h"
#include "ui/explore/words.h"

/* Returns whether `export` can write the format. The session has a profile, but no trace. */
static bool is_written_here(const struct format *format)
{
	return format->export && !(format->needs & FORMAT_NEEDS_TRACE);
}

static const struct format *find_format(const char *name, struct error *error)
{
	const struct format *format = format_find(name);
	if (format && is_written_here(format))
		return format;
	char names[256] = "";
	size_t length = 0;
	for (size_t i = 0; formats[i]; i++) {
		if (!is_written_here(formats[i]) || length >= sizeof(names))
			continue;
		length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s", length ? ", " : "",
					   formats[i]->name);
	}
	error_set(error, ERROR_NOT_FOUND, "unknown format %s (%s)", QUOTE(name), names);
	return NULL;
}

/* Returns whether writing to `path` would overwrite the profile that is being read. */
static bool is_own_file(const struct session *session, const char *path)
{
	struct stat own, other;
	return stat(session->options->file, &own) == 0 && stat(path, &other) == 0 && own.st_dev == other.st_dev &&
	       own.st_ino == other.st_ino;
}

static int export_to(struct session *session, const struct format *format, FILE *out, struct error *error)
{
	struct view_options options = session->settings.view;
	uint32_t resource = session->settings.resource_count == 1 ? session->settings.resources[0] : PROFILE_NONE;
	options.resource = format->has_several ? PROFILE_NONE : resource;
	struct profile narrow;
	struct transformed *transformed;
	int status = transformed_get(session->profile, &options, &transformed, error);
	if (status)
		return status;
	status = narrow_init(&narrow, transformed ? transformed_profile(transformed) : session->profile, &options,
			     error);
	if (status) {
		transformed_drop(transformed);
		return status;
	}
	struct format_input input = {
		.profile = &narrow,
		.view = { .resource = resource,
			  .thread = VIEW_ANY,
			  .kernel = options.kernel,
			  .no_inlines = options.no_inlines,
			  .untrimmed = options.untrimmed,
			  .native_frames = options.native_frames,
			  .no_tail_calls = options.no_tail_calls,
			  .no_stitch = options.no_stitch },
	};
	struct sink sink;
	sink_init(&sink, out);
	status = format_export(format, &input, &sink, error);
	narrow_release(&narrow);
	transformed_drop(transformed);
	return status;
}

static int export_to_file(struct session *session, const struct format *format, const char *path, struct error *error)
{
	if (is_own_file(session, path))
		return error_set(error, ERROR_USAGE, "%s is the profile being read", QUOTE(path));
	struct text_output output;
	int status = text_output_open(&output, path, TEXT_OUTPUT_PRIVATE, error);
	if (status < 0)
		return status;
	status = export_to(session, format, output.stream, error);
	if (status == 0)
		return text_output_commit(&output, error);
	text_output_discard(&output);
	return status;
}

static int export_words(struct session *session, const struct words *words, FILE *out, struct error *error)
{
	if (words->count != 2)
		return error_set(error, ERROR_USAGE, "export takes a format and a file, as 'export folded out.folded'");
	const struct format *format = find_format(words->items[0], error);
	if (!format)
		return error->code;
	if (session->settings.resource_count != 1 && !format->has_several)
		return error_set(error, ERROR_USAGE, "export writes one resource; choose it with 'resource NAME'");
	if (strcmp(words->items[1], "-") == 0)
		return export_to(session, format, out, error);
	return export_to_file(session, format, words->items[1], error);
}

static int export_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	struct words words;
	int status = words_split(&words, arguments, error);
	if (status)
		return status;
	status = export_words(session, &words, out, error);
	words_release(&words);
	return status;
}

const struct explore_command explore_export = {
	.name = "export",
	.arguments = "FORMAT FILE",
	.summary = "write the selection for another tool",
	.detail = "Writes the hits of the chosen resource, thread, process and time range; functions\n"
		  "are always shown by name. '-' prints. An existing file is overwritten.\n",
	.words = WORDS_FORMAT,
	.run = export_run,
};

static int info_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	if (*arguments)
		return error_set(error, ERROR_USAGE, "info takes no argument");
	if (render_info(out, session->profile, session->options->file, session->options->file_bytes, &session->render) <
	    0)
		return error_set(error, ERROR_MEMORY, "out of memory");
	return 0;
}

const struct explore_command explore_info = {
	.name = "info",
	.arguments = "",
	.summary = "what was recorded, and its quality",
	.run = info_run,
};

static void print_formats(FILE *out)
{
	for (size_t i = 0; formats[i]; i++)
		if (is_written_here(formats[i]))
			fprintf(out, "  %-10s %s\n", formats[i]->name, formats[i]->summary);
}

static int help_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	(void)session;
	if (!*arguments) {
		commands_print(out);
		fputs("\nA command may be shortened: 'd main'. 'COMMAND | less' pipes a report through a "
		      "program.\n'help COMMAND' describes it. Commands may also come from a file or a pipe: the "
		      "exit\nstatus is then 1 if any of them failed.\n",
		      out);
		return 0;
	}
	const struct explore_command *command = explore_command_find(arguments, error);
	if (!command)
		return error->code;
	fprintf(out, "%s%s%s: %s\n", command->name, *command->arguments ? " " : "", command->arguments,
		command->summary);
	if (command->detail)
		fputs(command->detail, out);
	if (command->words == WORDS_FORMAT)
		print_formats(out);
	return 0;
}

const struct explore_command explore_help = {
	.name = "help",
	.alias = "?",
	.arguments = "[COMMAND]",
	.summary = "this list, or more about one command",
	.words = WORDS_COMMAND,
	.run = help_run,
};

static int quit_run(struct session *session, const char *arguments, FILE *out, struct error *error)
{
	(void)arguments, (void)out, (void)error;
	session->quit = true;
	return 0;
}

const struct explore_command explore_quit = {
	.name = "quit",
	.alias = "exit",
	.arguments = "",
	.summary = "leave; so does the end of the input",
	.run = quit_run,
};
