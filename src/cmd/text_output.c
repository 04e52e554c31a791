#include "cmd/text_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void release(struct text_output *output)
{
	free(output->path);
	free(output->temporary);
	*output = (struct text_output){ 0 };
}

/* mkstemp makes files that only the owner can read. This sets the mode of the old file, or the mode that a new file
 * usually gets. */
static void set_mode(int fd, const struct stat *old)
{
	mode_t mask = umask(0);
	umask(mask);
	if (fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask) < 0)
		return; /* a file system without modes */
}

static int open_temporary(struct text_output *output, const struct stat *old, struct error *error)
{
	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		return error_set(error, ERROR_MEMORY, "out of memory");
	}
	int fd = mkstemp(output->temporary);
	if (fd < 0) {
		free(output->temporary);
		output->temporary = NULL;
		return error_set_errno(error, "cannot write '%s'", output->path);
	}
	set_mode(fd, old);
	output->stream = fdopen(fd, "w");
	if (!output->stream)
		close(fd);
	return output->stream ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

static int open_named(struct text_output *output, const char *path, struct error *error)
{
	struct stat old;
	bool exists = stat(path, &old) == 0;
	/* Replaces the target of a symbolic link, not the link. */
	output->path = exists ? realpath(path, NULL) : strdup(path);
	if (!output->path)
		return error_set_errno(error, "cannot write '%s'", path);
	if (exists && access(path, W_OK) < 0)
		return error_set_errno(error, "cannot write '%s'", path);
	if (!exists || S_ISREG(old.st_mode))
		return open_temporary(output, exists ? &old : NULL, error);
	output->stream = fopen(path, "we");
	return output->stream ? 0 : error_set_errno(error, "cannot write '%s'", path);
}

int text_output_open(struct text_output *output, const char *path, struct error *error)
{
	*output = (struct text_output){ .stream = stdout };
	if (!path || strcmp(path, "-") == 0)
		return 0;
	output->stream = NULL;
	int result = open_named(output, path, error);
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
		result = error_set_errno(error, "cannot write '%s'", output->path);
	output->stream = NULL;
	if (result == 0 && output->temporary) {
		if (rename(output->temporary, output->path) < 0)
			result = error_set_errno(error, "cannot write '%s'", output->path);
		else
			output->temporary[0] = 0;
	}
	text_output_discard(output);
	return result;
}

void text_output_discard(struct text_output *output)
{
	if (output->path && output->stream)
		fclose(output->stream);
	if (output->temporary && output->temporary[0])
		unlink(output->temporary);
	release(output);
}
