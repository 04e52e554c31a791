#include "cmd/text_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void release(struct text_output *output)
{
	file_place_release(&output->place);
	free(output->temporary);
	free(output->path);
	*output = (struct text_output){ .place.folder = -1 };
}

/* New files can be read by their owner only. This sets the mode of the old file, or the mode that a new file usually
 * gets. */
static void set_mode(int fd, const struct stat *old)
{
	mode_t mask = umask(0);
	umask(mask);
	if (fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask) < 0)
		return; /* a file system without modes */
}

static int cannot_write(const char *path, struct error *error)
{
	return error_set_errno(error, "cannot write '%s'", path);
}

/* Opens a regular file under a temporary name, and anything else as it is. */
static int open_in_place(struct text_output *output, struct error *error)
{
	const struct file_place *place = &output->place;
	const char *name = place->name[0] ? place->name : ".";
	struct stat old;
	bool exists = fstatat(place->folder, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
	if (exists && faccessat(place->folder, name, W_OK, 0) < 0)
		return cannot_write(place->path, error);
	bool is_file = !exists || S_ISREG(old.st_mode);
	int fd = is_file ? file_place_create_temporary(place, O_WRONLY, &output->temporary)
			 : openat(place->folder, name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return cannot_write(place->path, error);
	if (is_file)
		set_mode(fd, exists ? &old : NULL);
	output->stream = fdopen(fd, "w");
	if (!output->stream)
		close(fd);
	return output->stream ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

static int open_named(struct text_output *output, const char *path, struct error *error)
{
	output->path = strdup(path);
	if (!output->path)
		return error_set(error, ERROR_MEMORY, "out of memory");
	if (file_place_is_descriptor(path)) {
		output->stream = fopen(path, "we");
		return output->stream ? 0 : cannot_write(path, error);
	}
	int result = file_place_find(&output->place, path, error);
	return result < 0 ? result : open_in_place(output, error);
}

int text_output_open(struct text_output *output, const char *path, struct error *error)
{
	*output = (struct text_output){ .stream = stdout, .place.folder = -1 };
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
		result = cannot_write(output->path, error);
	output->stream = NULL;
	if (result == 0 && output->temporary) {
		const struct file_place *place = &output->place;
		if (renameat(place->folder, output->temporary, place->folder, place->name) < 0)
			result = cannot_write(output->path, error);
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
		unlinkat(output->place.folder, output->temporary, 0);
	release(output);
}
