#include "ui/explore/explore.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_limit.h"
#include "ui/explore/command.h"
#include "ui/explore/io.h"
#include "ui/explore/session.h"
#include "ui/explore/words.h"

/* Prints the first line: "cpprof.data: process_db 100000; cpu 2676 samples, page-faults 311 samples; type help". */
static int print_first_line(struct session *session, struct error *error)
{
	const struct profile *profile = session->profile;
	FILE *out = session->options->out;
	uint64_t *totals = totals_new(profile, error);
	if (!totals)
		return error->code;
	render_safe_text(out, session->options->file);
	const char *command = profile_note(profile, "command");
	if (command && *command) {
		fputs(": ", out);
		render_safe_text(out, command);
	}
	fputs(command && *command ? "; " : ": ", out);
	for (uint32_t i = 0; i < profile->resource_count; i++) {
		fputs(i ? ", " : "", out);
		render_safe_text(out, profile_string(profile, profile->resources[i].name));
		fputc(' ', out);
		totals_print(out, profile, i, totals[i]);
	}
	fputs(profile->resource_count ? "; type help\n" : "no resources; type help\n", out);
	free(totals);
	return 0;
}

/* Prints the error of a line, after the output so far. */
static void complain(struct session *session, const struct input *input, struct error *error)
{
	const struct explore_options *options = session->options;
	session->failed++;
	fflush(options->out);
	memory_limit_explain(error);
	if (options->interactive || !input->number)
		fputs("cpprof: ", options->err);
	else
		fprintf(options->err, "cpprof: line %" PRIu64 ": ", input->number);
	render_safe_text(options->err, error->message);
	fputc('\n', options->err);
	session_print_candidates(session, options->err);
	fflush(options->err);
}

/* Runs one command. Returns 0 or a negative error. Sets *gone if the reader of the output has gone away. */
static int run_line(struct session *session, char *line, bool *gone, struct error *error)
{
	struct line_parts parts = line_split(line);
	if (!*parts.command && !parts.shell)
		return 0;
	const struct explore_command *command = explore_command_find(parts.command, error);
	if (!command)
		return error->code;
	struct output output;
	int columns = parts.shell || session->settings.is_long ? 0 : session->options->columns;
	int status = explore_output_open(&output, session->options->out, parts.shell, columns, error);
	if (status)
		return status;
	session->render.colour = session->options->colour && !output.is_pipe;
	session->render.columns = columns;
	session->render.threshold = session->settings.threshold;
	session->render.limit = session->settings.limit;
	status = explore_command_run(command, session, parts.arguments, output.stream, error);
	struct error closing = { 0 };
	if (explore_output_close(&output, gone, &closing) && status == 0) {
		*error = closing;
		status = closing.code;
	}
	return status;
}

/* ^C may have ended a report within a line, or within a coloured word. */
static void end_cut_report(const struct explore_options *options)
{
	fputs(options->colour ? "\x1b[0m\n" : "\n", options->out);
	fflush(options->out);
}

/* Reads and runs lines until the end. */
static void loop(struct session *session, struct input *input)
{
	bool gone = false;
	while (!session->quit && !gone) {
		struct error error = { 0 };
		char *line = NULL;
		explore_clear_interrupt();
		int status = input_next(input, &line, &error);
		if (status == INPUT_END) {
			fputs(session->options->interactive ? "\n" : "", session->options->out);
			break;
		}
		if (status == INPUT_INTERRUPTED) {
			fputc('\n', session->options->out);
			continue;
		}
		if (status == INPUT_LINE)
			status = run_line(session, line, &gone, &error);
		if (explore_interrupted())
			end_cut_report(session->options);
		if (status < 0)
			complain(session, input, &error);
	}
}

int explore_run(struct profile *profile, const struct explore_options *options, struct error *error)
{
	struct error own = { 0 };
	error = error ? error : &own;
	struct session session;
	int status = session_init(&session, profile, options, error);
	if (status)
		return status;
	struct explore_signals signals;
	explore_signals_catch(&signals, options->interactive);
	status = print_first_line(&session, error);
	if (status == 0) {
		struct input input;
		input_init(&input, &session);
		loop(&session, &input);
		input_release(&input);
	}
	if (status == 0 && !options->interactive)
		status = session.failed > INT32_MAX ? INT32_MAX : (int)session.failed;
	explore_signals_restore(&signals);
	session_release(&session);
	return status;
}
