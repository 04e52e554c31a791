#include "gprof/gmon_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_place.h"
#include "base/path.h"
#include "gprof/from_profile.h"
#include "gprof/gmon.h"

struct writing {
	const struct profile *profile;
	const char *directory;
	struct buffer *names; /* may be NULL */
	struct error *error;
	uint32_t program;
	bool *counted; /* owned, per module */
	int written;
};

static const char *base_of(const struct writing *writing, uint32_t module)
{
	return path_basename(profile_string(writing->profile, writing->profile->modules[module].path));
}

/* Returns how many files of modules before this one have its name. */
static unsigned namesakes(const struct writing *writing, uint32_t module)
{
	unsigned count = 0;
	for (uint32_t i = 0; i < module; i++)
		count += writing->counted[i] && i != writing->program &&
			 strcmp(base_of(writing, i), base_of(writing, module)) == 0;
	return count;
}

/* Returns a path that the caller frees, or NULL if there is no memory. */
static char *path_of(const struct writing *writing, uint32_t module)
{
	char *path;
	int length;
	unsigned before = namesakes(writing, module);
	if (module == writing->program)
		length = asprintf(&path, "%s/gmon.out", writing->directory);
	else if (before == 0)
		length = asprintf(&path, "%s/gmon.out.%s", writing->directory, base_of(writing, module));
	else
		length = asprintf(&path, "%s/gmon.out.%s.%u", writing->directory, base_of(writing, module), before + 1);
	return length < 0 ? NULL : path;
}

/* Writes and closes the stream of the file. Returns 0 or a negative error. */
static int write_stream(const struct gmon *gmon, FILE *out, struct error *error)
{
	struct sink sink;
	sink_init(&sink, out);
	int code = gmon_write(gmon, &sink, error);
	if (fclose(out) != 0 && code == 0)
		code = error_set_errno(error, "cannot write gmon.out");
	return code;
}

static int write_in_place(const struct gmon *gmon, const struct file_place *place, struct error *error)
{
	char *temporary;
	int fd = file_place_create_temporary(place, O_WRONLY, &temporary);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		error_set_errno(error, "cannot write '%s'", place->path);
		if (fd >= 0) {
			close(fd);
			unlinkat(place->folder, temporary, 0);
			free(temporary);
		}
		return error->code;
	}
	struct error why = { 0 };
	int code = write_stream(gmon, out, &why);
	if (code < 0)
		error_set(error, code, "'%s': %s", place->path, why.message);
	else if (file_place_publish(place, &temporary) < 0)
		code = error_set_errno(error, "cannot write '%s'", place->path);
	file_place_discard(place, &temporary);
	return code;
}

static int write_to(const struct gmon *gmon, const char *path, struct error *error)
{
	struct file_place place;
	int code = file_place_find(&place, path, error);
	if (code < 0)
		return code;
	code = write_in_place(gmon, &place, error);
	file_place_release(&place);
	return code;
}

static int write_module(struct writing *writing, uint32_t module)
{
	struct gmon gmon;
	gmon_init(&gmon);
	char *path = path_of(writing, module);
	int code = path ? gmon_from_profile(writing->profile, module, PROFILE_NONE, &gmon, writing->error)
			: error_memory(writing->error);
	if (code == 0)
		code = write_to(&gmon, path, writing->error);
	if (code == 0 && writing->names) {
		if (writing->written > 0)
			buffer_append_string(writing->names, ", ");
		buffer_append_string(writing->names, path);
	}
	writing->written += code == 0;
	free(path);
	gmon_release(&gmon);
	return code;
}

int gmon_files_write(const struct profile *profile, const char *directory, struct buffer *names, struct error *error)
{
	struct writing writing = { .profile = profile, .directory = directory, .names = names, .error = error };
	writing.counted = calloc(profile->module_count + 1, sizeof(*writing.counted));
	if (!writing.counted)
		return error_memory(error);
	gmon_counted(profile, writing.counted);
	writing.program = gmon_program(profile);
	int code = 0;
	for (uint32_t i = 0; i < profile->module_count && code == 0; i++)
		if (writing.counted[i])
			code = write_module(&writing, i);
	free(writing.counted);
	return code < 0 ? code : writing.written;
}
