#include "base/text_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void release(struct text_output *output)
{
	file_place_release(&output->place);
	free(output->path);
	*output = (struct text_output){ .place.folder = -1 };
}

static int cannot_write(const char *path, struct error *error)
{
	return error_set_errno(error, "cannot write '%s'", path);
}

static int open_named(struct text_output *output, const char *path, mode_t mode, struct error *error)
{
	output->path = strdup(path);
	if (!output->path)
		return error_memory(error);
	int fd = file_place_open(&output->place, path, mode, &output->temporary, error);
	if (fd < 0)
		return fd;
	output->stream = fdopen(fd, "w");
	if (!output->stream)
		close(fd);
	return output->stream ? 0 : error_memory(error);
}

int text_output_open(struct text_output *output, const char *path, mode_t mode, struct error *error)
{
	*output = (struct text_output){ .stream = stdout, .place.folder = -1 };
	if (!path || strcmp(path, "-") == 0)
		return 0;
	output->stream = NULL;
	int result = open_named(output, path, mode, error);
	if (result < 0)
		text_output_discard(output);
	return result;
}

int text_output_commit(struct text_output *output, struct error *error)
{
	int result = 0;
	if (!output->path) {
		release(output);
		return 0; /* the dispatcher checks standard output at the end */
	}
	bool failed = ferror(output->stream);
	errno = 0;
	if (fclose(output->stream) != 0 || failed)
		result = cannot_write(output->path, error);
	output->stream = NULL;
	if (result == 0 && file_place_publish(&output->place, &output->temporary) < 0)
		result = cannot_write(output->path, error);
	text_output_discard(output);
	return result;
}

void text_output_discard(struct text_output *output)
{
	if (output->path && output->stream)
		fclose(output->stream);
	file_place_discard(&output->place, &output->temporary);
	release(output);
}
