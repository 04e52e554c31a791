#include <errno.h>
#include <string.h>

#include "cmd/gprof.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "gprof/file_kind.h"
#include "gprof/from_profile.h"

#define IMAGE_DEFAULT "a.out"
#define GMON_DEFAULT "gmon.out"

/* --- GMONs --- */

static void show_file(struct gprof_run *run, const char *path, const uint64_t *before)
{
	static const char *const names[] = { "histogram", "call-graph", "basic-block count" };
	printf("File `%s' (version 1) contains:\n", path);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t count = run->gmon.record_counts[i] - before[i];
		printf("\t%llu %s record%s\n", (unsigned long long)count, names[i], count == 1 ? "" : "s");
	}
	run->has_output = true;
}

static int read_gmon(struct gprof_run *run, const char *path)
{
	struct error error = { 0 };
	uint64_t before[sizeof(run->gmon.record_counts) / sizeof(run->gmon.record_counts[0])];
	memcpy(before, run->gmon.record_counts, sizeof(before));
	FILE *in = fopen(path, "re");
	if (!in && errno == ENOENT && strcmp(path, GMON_DEFAULT) == 0)
		return failure(run->invocation,
			       "cannot open '" GMON_DEFAULT "': No such file or directory (a program that is compiled "
			       "and linked with -pg writes it when it exits)");
	if (!in) {
		error_set_errno(&error, "cannot read '%s'", path);
		return failure_of(run->invocation, &error);
	}
	int code = gmon_read(&run->gmon, in, path, &error);
	fclose(in);
	if (code < 0)
		return failure_of(run->invocation, &error);
	run->gmon_count++;
	if (run->shows_files)
		show_file(run, path, before);
	return EXIT_DONE;
}

static int choose_resource(const struct gprof_run *run, const struct profile *profile, uint32_t *resource)
{
	const char *name = option_value(run->invocation, GPROF_RESOURCE);
	*resource = name ? profile_find_resource(profile, name) : PROFILE_NONE;
	if (name && *resource == PROFILE_NONE)
		return failure(run->invocation, "the profile has no resource '%s'", name);
	return EXIT_DONE;
}

static int add_profile(struct gprof_run *run, const struct profile *profile, const char *path)
{
	struct error error = { 0 };
	struct gmon gmon;
	bool is_other_build;
	uint32_t resource, module = gmon_module(profile, &run->image, &is_other_build);
	if (module == PROFILE_NONE)
		return failure(run->invocation, "'%s' did not run when '%s' was recorded", run->image.path, path);
	if (is_other_build)
		warning(run->invocation,
			"'%s' is not the build that ran when '%s' was recorded (their build-ids differ): figures may "
			"be of wrong functions",
			run->image.path, path);
	int status = choose_resource(run, profile, &resource);
	if (status != EXIT_DONE)
		return status;
	gmon_init(&gmon);
	int code = gmon_from_profile(profile, module, resource, &gmon, &error);
	if (code == 0 && (code = gmon_add(&run->gmon, &gmon)) < 0)
		error_set(&error, code, "cannot add '%s' to the other files", path);
	gmon_release(&gmon);
	return code < 0 ? failure_of(run->invocation, &error) : EXIT_DONE;
}

/* Loads each profile once. A profile that names the image is loaded before the image is opened. */
static int read_profile(struct gprof_run *run, const char *path)
{
	struct profile *profile = run->profile;
	if (!run->profile_path || strcmp(run->profile_path, path) != 0) {
		profile = profile_open(run->invocation, path);
		if (!profile)
			return EXIT_FAILED;
		profile_free(run->profile);
		run->profile = profile;
		run->profile_path = path;
	}
	run->profile_count++;
	return add_profile(run, profile, path);
}

static int read_data(struct gprof_run *run, const char *path)
{
	return file_kind_of(path) == FILE_PROFILE ? read_profile(run, path) : read_gmon(run, path);
}

/* --- the image --- */

static int open_image(struct gprof_run *run, const char *path)
{
	struct error error = { 0 };
	run->image_options.by_line = run->print.by_line;
	int code = image_open(&run->image, path, &run->image_options, &error);
	if (code == ERROR_NOT_FOUND && strcmp(path, IMAGE_DEFAULT) == 0)
		return failure(run->invocation,
			       "cannot open '" IMAGE_DEFAULT
			       "': No such file or directory (give the profiled program as the first argument)");
	if (code < 0)
		return failure_of(run->invocation, &error);
	run->has_image = true;
	if (run->image.symbol_count == 0)
		return failure(run->invocation,
			       "cannot name the functions of '%s': it is stripped (give the program as it was before, "
			       "or install its separate debug information)",
			       path);
	return EXIT_DONE;
}

/* Opens the image that a profile names. */
static int open_image_of(struct gprof_run *run, const char *path)
{
	run->profile = profile_open(run->invocation, path);
	if (!run->profile)
		return EXIT_FAILED;
	run->profile_path = path;
	uint32_t module = gmon_program(run->profile);
	if (module == PROFILE_NONE)
		return failure(run->invocation,
			       "cannot find the program of '%s': the profile does not name it (give the program before "
			       "the profile)",
			       path);
	return open_image(run, profile_string(run->profile, run->profile->modules[module].path));
}

int gprof_read_input(struct gprof_run *run)
{
	const struct invocation *invocation = run->invocation;
	static char standard_name[] = GMON_DEFAULT, *standard[] = { standard_name };
	char **files = invocation->arguments;
	size_t count = invocation->argument_count;
	bool names_image = count > 0 && file_kind_of(files[0]) != FILE_PROFILE && file_kind_of(files[0]) != FILE_GMON;
	int status;
	if (count > 0 && file_kind_of(files[0]) == FILE_PROFILE)
		status = open_image_of(run, files[0]);
	else
		status = open_image(run, names_image ? files[0] : IMAGE_DEFAULT);
	if (names_image) {
		files++;
		count--;
	}
	if (count == 0) {
		files = standard;
		count = 1;
	}
	for (size_t i = 0; i < count && status == EXIT_DONE; i++)
		status = read_data(run, files[i]);
	return status;
}
