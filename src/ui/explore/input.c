#include "ui/explore/io.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const char prompt[] = "cpprof> ";

void input_init(struct input *input, struct session *session)
{
	const struct explore_options *options = session->options;
	*input = (struct input){ .in = options->in };
	buffer_init(&input->line);
	if (!options->interactive)
		return;
	input->editor = editor_new(session, prompt);
	if (!input->editor)
		input->prompt_out = options->out;
}

void input_release(struct input *input)
{
	editor_free(input->editor);
	buffer_release(&input->line);
}

/* Reads up to the newline and drops bytes beyond the limit. Returns false at the end of the input. */
static bool read_plain(struct input *input, bool *too_long, bool *has_nul)
{
	int byte = getc(input->in);
	if (byte == EOF)
		return false;
	for (; byte != EOF && byte != '\n'; byte = getc(input->in)) {
		*has_nul |= byte == '\0';
		if (input->line.size < INPUT_LINE_MAX)
			buffer_append_byte(&input->line, (uint8_t)byte);
		else
			*too_long = true;
	}
	return true;
}

static int next_plain(struct input *input, struct error *error)
{
	bool too_long = false;
	bool has_nul = false;
	if (input->prompt_out) {
		fputs(prompt, input->prompt_out);
		fflush(input->prompt_out);
	}
	bool got = read_plain(input, &too_long, &has_nul);
	if (explore_interrupted()) {
		clearerr(input->in);
		return INPUT_INTERRUPTED;
	}
	if (!got && ferror(input->in) && !input->failed) {
		input->failed = true; /* reported once; the next call returns INPUT_END */
		return error_set_errno(error, "cannot read the commands");
	}
	if (!got)
		return INPUT_END;
	input->number++;
	if (too_long)
		return error_set(error, ERROR_LIMIT, "a line of over %d bytes; ignored", INPUT_LINE_MAX);
	if (has_nul)
		return error_set(error, ERROR_FORMAT, "a NUL byte in the line; ignored");
	return INPUT_LINE;
}

static int next_edited(struct input *input)
{
	const char *text = editor_read(input->editor);
	if (explore_interrupted())
		return INPUT_INTERRUPTED;
	if (!text)
		return INPUT_END;
	input->number++;
	buffer_append_string(&input->line, text);
	return INPUT_LINE;
}

int input_next(struct input *input, char **line, struct error *error)
{
	buffer_clear(&input->line);
	int status = input->editor ? next_edited(input) : next_plain(input, error);
	if (status != INPUT_LINE)
		return status;
	buffer_append_byte(&input->line, 0);
	if (buffer_error(&input->line))
		return error_set(error, ERROR_MEMORY, "out of memory");
	*line = (char *)input->line.bytes;
	return INPUT_LINE;
}
