#include "frames/name_again.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "elf/elf_file.h"
#include "frames/jail/download.h"
#include "frames/missing_names.h"
#include "frames/native/debug_search.h"
#include "profile/compact.h"
#include "profile/file_users.h"
#include "profile/findings.h"
#include "profile/nameless.h"

/* The frames that a location had. */
struct old_frames {
	uint32_t first, count;
};

struct again {
	struct profile *profile;
	const struct frames_options *options;
	bool *is_wanted;        /* [module_count]: it has functions without names, and a file; owned */
	bool *is_improved;      /* [module_count]: one of its functions has got a name; owned */
	int *fds;               /* [module_count]: of a downloaded file; -1: none. Owned */
	struct old_frames *old; /* [location_count]; owned */
	struct download download;
	struct file_users files;
	const char *path; /* of the module whose file is downloaded */
};

static uint32_t outermost(const struct profile *profile, const struct profile_location *location)
{
	if (location->first_frame == PROFILE_NONE || location->frame_count == 0)
		return PROFILE_NONE;
	return profile->frames[location->first_frame + location->frame_count - 1].function;
}

static bool is_nameless(const struct profile *profile, size_t location)
{
	return nameless_is(profile, outermost(profile, &profile->locations[location]));
}

/* --- files --- */

static bool has_build_id(int fd, const struct profile_module *module)
{
	struct elf_file *file = elf_file_open(fd, "", NULL);
	bool is_same = file && module->build_id_bytes > 0 &&
		       elf_file_has_build_id(file, module->build_id, module->build_id_bytes);
	elf_file_free(file);
	return is_same;
}

/* Opens the file of a module: the recorded one, or else its debug file, if that is installed. Returns a descriptor or -1. Sets *is_refused if
 * the recorded file may not be read. */
static int open_installed(struct again *again, const struct profile_module *module, bool *is_refused)
{
	int fd = file_users_open(&again->files, again->profile, profile_string(again->profile, module->path));
	*is_refused = fd < 0 && errno == EACCES;
	if (fd >= 0 && has_build_id(fd, module))
		return fd;
	if (fd >= 0)
		close(fd);
	/* The jail compares its build-id. */
	char *debug_path = debug_search_path(module->build_id, module->build_id_bytes);
	fd = debug_path ? path_open_regular(debug_path) : -1;
	free(debug_path);
	return fd;
}

static void show_download(void *context, uint64_t done, uint64_t total)
{
	const struct again *again = context;
	again->options->download(again->options->context, again->path, done, total);
}

static bool find_file(struct again *again, uint32_t module, struct name_again *result)
{
	bool is_refused;
	const struct profile_module *info = &again->profile->modules[module];
	if (info->build_id_bytes == 0)
		return false; /* any file could be at its path now */
	int fd = open_installed(again, info, &is_refused);
	if (fd >= 0) {
		close(fd);
		return true;
	}
	again->path = profile_string(again->profile, info->path);
	if (again->options->download)
		again->fds[module] = download_get(&again->download, info->build_id, info->build_id_bytes);
	if (again->fds[module] < 0 && is_refused)
		result->refused = again->path;
	return again->fds[module] >= 0;
}

static int open_file(void *context, uint32_t module, struct error *error)
{
	struct again *again = context;
	bool is_refused;
	int fd = again->fds[module] >= 0 ? fcntl(again->fds[module], F_DUPFD_CLOEXEC, 0)
					 : open_installed(again, &again->profile->modules[module], &is_refused);
	return fd >= 0 ? fd : error_set(error, ERROR_NOT_FOUND, "the file was removed meanwhile");
}

static bool wants(void *context, uint32_t module)
{
	return ((struct again *)context)->is_wanted[module];
}

static void pass_progress(void *context, size_t done, size_t total)
{
	const struct again *again = context;
	again->options->progress(again->options->context, done, total);
}

static void pass_download(void *context, const char *path, uint64_t done, uint64_t total)
{
	const struct again *again = context;
	again->options->download(again->options->context, path, done, total);
}

/* --- locations --- */

static void choose_modules(struct again *again, struct name_again *result)
{
	const struct profile *profile = again->profile;
	for (size_t i = 0; i < profile->location_count; i++)
		if (is_nameless(profile, i) && !profile->locations[i].by_frames) {
			again->is_wanted[profile->locations[i].module] = true;
			result->lacking++;
		}
	for (uint32_t i = 0; i < profile->module_count; i++)
		again->is_wanted[i] = again->is_wanted[i] && find_file(again, i, result);
	if (again->options->download)
		again->options->download(again->options->context, NULL, 0, 0);
}

/* Locations that share an address are distinguished by their frames, which stay. */
static void take_frames(struct again *again)
{
	for (size_t i = 0; i < again->profile->location_count; i++) {
		struct profile_location *location = &again->profile->locations[i];
		again->old[i] = (struct old_frames){ location->first_frame, location->frame_count };
		if (again->is_wanted[location->module] && !location->by_frames)
			location->first_frame = PROFILE_NONE;
	}
}

static bool had_name(const struct again *again, size_t location)
{
	struct profile_location before = again->profile->locations[location];
	before.first_frame = again->old[location].first;
	before.frame_count = again->old[location].count;
	return !nameless_is(again->profile, outermost(again->profile, &before));
}

static bool was_looked_up(const struct again *again, const struct profile_location *location)
{
	return again->is_wanted[location->module] && !location->by_frames;
}

/* Finds the modules in which a function has got a name. */
static void find_improved(struct again *again, struct name_again *result)
{
	struct profile *profile = again->profile;
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		if (!was_looked_up(again, location) || location->first_frame == PROFILE_NONE ||
		    is_nameless(profile, i) || had_name(again, i))
			continue;
		result->named++;
		result->modules += !again->is_improved[location->module];
		again->is_improved[location->module] = true;
	}
	for (size_t i = 0; i < profile->module_count; i++)
		if (again->is_improved[i])
			findings_remove(profile, FINDING_FILE_UNREADABLE,
					profile_string(profile, profile->modules[i].path));
}

/* Gives back the frames of locations that have no name now, and all frames of the other modules. */
static void settle_frames(const struct again *again)
{
	struct profile *profile = again->profile;
	for (size_t i = 0; i < profile->location_count; i++) {
		struct profile_location *location = &profile->locations[i];
		if (!was_looked_up(again, location) ||
		    (again->is_improved[location->module] && !is_nameless(profile, i) &&
		     location->first_frame != PROFILE_NONE))
			continue;
		location->first_frame = again->old[i].first;
		location->frame_count = again->old[i].count;
	}
}

/* --- all --- */

static void forget(struct profile *profile)
{
	findings_remove(profile, FINDING_NAMES_MISSING, "");
	findings_remove(profile, FINDING_NAMING_INTERRUPTED, "");
	findings_remove(profile, FINDING_DOWNLOADS_FAILED, "");
	findings_remove(profile, FINDING_DEBUG_FILES_LACKING, "");
	nameless_forget_remedies(profile);
}

static int name(struct again *again, struct name_again *result, struct error *error)
{
	struct profile *profile = again->profile;
	struct frames_options options = { .open_module = open_file,
					  .wants_module = wants,
					  .progress = again->options->progress ? pass_progress : NULL,
					  .download = again->options->download ? pass_download : NULL,
					  .context = again,
					  .limits = again->options->limits };
	forget(profile);
	choose_modules(again, result);
	if (again->download.is_over)
		options.download = NULL; /* the servers are not asked a second time */
	download_add_findings(&again->download, profile);
	take_frames(again);
	profile->symbolized = false;
	int status = frames_name_profile(profile, &options, error);
	find_improved(again, result);
	settle_frames(again);
	profile->symbolized = true;
	if (status < 0)
		return status;
	status = profile_compact(profile);
	if (status == 0)
		status = frames_assign_roles(profile);
	if (status == 0)
		status = missing_names_add_all(profile);
	return status < 0 ? error_set(error, status, "cannot name the functions: %s", error_text(status)) : 0;
}

int frames_name_again(struct profile *profile, const struct frames_options *options, struct name_again *result,
		      struct error *error)
{
	struct again again = { .profile = profile, .options = options };
	*result = (struct name_again){ 0 };
	download_init(&again.download);
	again.download.progress = show_download;
	again.download.context = &again;
	again.is_wanted = calloc(profile->module_count + 1, sizeof(*again.is_wanted));
	again.is_improved = calloc(profile->module_count + 1, sizeof(*again.is_improved));
	again.fds = malloc((profile->module_count + 1) * sizeof(*again.fds));
	again.old = calloc(profile->location_count + 1, sizeof(*again.old));
	int status = again.is_wanted && again.is_improved && again.fds && again.old
			     ? 0
			     : error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; again.fds && i < profile->module_count; i++)
		again.fds[i] = -1;
	if (status == 0)
		status = name(&again, result, error);
	for (size_t i = 0; again.fds && i < profile->module_count; i++)
		if (again.fds[i] >= 0)
			close(again.fds[i]);
	free(again.is_wanted);
	free(again.is_improved);
	file_users_release(&again.files);
	free(again.fds);
	free(again.old);
	return status;
}
