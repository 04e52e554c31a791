#include "frames/rename_profile.h"

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
#include "frames/tail_choice.h"
#include "profile/file_users.h"
#include "profile/findings.h"
#include "profile/nameless.h"

struct renamed_module {
	bool is_wanted;   /* it has functions without names, and a file */
	bool is_improved; /* one of its functions has got a name */
	int fd;           /* of a downloaded file; -1: none. Owned */
};

struct renaming {
	struct profile *profile;
	const struct frames_options *options;
	struct rename_result *result;
	struct renamed_module *modules; /* [module_count]; owned */
	struct profile_location *old;   /* [old_count]: the locations with the frames that they had; owned */
	uint32_t *fresh;                /* [old_count]: the functions of the frames that naming found; owned */
	size_t old_count;
	struct download download;
	struct file_users files;
	const char *path; /* of the module whose file is downloaded */
};

/* Returns the function of a location's outermost frame, as it is or was, or PROFILE_NONE if it has no frames. */
static uint32_t outermost(const struct profile *profile, const struct profile_location *location)
{
	bool has_frames = location->first_frame != PROFILE_NONE && location->frame_count > 0;
	uint32_t last = location->first_frame + location->frame_count - 1;
	return has_frames ? profile->frames[last].function : PROFILE_NONE;
}

/* Returns whether the function of a location, as it is or was, has no name. */
static bool is_nameless(const struct profile *profile, const struct profile_location *location)
{
	return nameless_is(profile, outermost(profile, location));
}

/* --- files --- */

static bool has_build_id(int fd, const struct profile_module *module)
{
	struct elf_file *file = elf_file_open_any(fd, "", NULL);
	bool is_same = file && module->build_id_bytes > 0 &&
		       elf_file_has_build_id(file, module->build_id, module->build_id_bytes);
	elf_file_free(file);
	return is_same;
}

/* Opens the file of a module: the recorded one, or else its debug file, if that is installed. Returns a descriptor or -1. Sets *is_refused if
 * the recorded file may not be read. */
static int open_installed(struct renaming *renaming, const struct profile_module *module, bool *is_refused)
{
	int fd = file_users_open(&renaming->files, renaming->profile, profile_string(renaming->profile, module->path));
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

static void pass_download(void *context, const char *path, uint64_t done, uint64_t total)
{
	const struct renaming *renaming = context;
	renaming->options->download(renaming->options->context, path, done, total);
}

static void show_download(void *context, uint64_t done, uint64_t total)
{
	pass_download(context, ((const struct renaming *)context)->path, done, total);
}

static bool find_file(struct renaming *renaming, uint32_t module)
{
	const struct profile_module *info = &renaming->profile->modules[module];
	bool is_refused;
	if (info->build_id_bytes == 0)
		return false; /* any file could be at its path now */
	int fd = open_installed(renaming, info, &is_refused);
	if (fd >= 0) {
		close(fd);
		return true;
	}
	renaming->path = profile_string(renaming->profile, info->path);
	if (renaming->options->download)
		fd = download_get(&renaming->download, info->build_id, info->build_id_bytes);
	if (fd < 0 && is_refused)
		renaming->result->refused = renaming->path;
	renaming->modules[module].fd = fd;
	return fd >= 0;
}

static int open_file(void *context, uint32_t module, struct error *error)
{
	struct renaming *renaming = context;
	int fd = renaming->modules[module].fd;
	bool is_refused;
	fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0)
		     : open_installed(renaming, &renaming->profile->modules[module], &is_refused);
	return fd >= 0 ? fd : error_set(error, ERROR_NOT_FOUND, "the file was removed meanwhile");
}

static void pass_progress(void *context, size_t done, size_t total)
{
	const struct renaming *renaming = context;
	renaming->options->progress(renaming->options->context, done, total);
}

/* --- locations --- */

/* Returns whether a location is looked up again. Locations that share an address are distinguished by their frames, which stay. */
static bool is_looked_up(const struct renaming *renaming, const struct profile_location *location)
{
	return renaming->modules[location->module].is_wanted && !location->by_frames;
}

static void choose_modules(struct renaming *renaming)
{
	const struct profile *profile = renaming->profile;
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		if (location->by_frames || !is_nameless(profile, location))
			continue;
		renaming->modules[location->module].is_wanted = true;
		renaming->result->lacking++;
	}
	for (uint32_t i = 0; i < profile->module_count; i++)
		renaming->modules[i].is_wanted = renaming->modules[i].is_wanted && find_file(renaming, i);
	if (renaming->options->download)
		renaming->options->download(renaming->options->context, NULL, 0, 0);
}

static void take_frames(struct renaming *renaming)
{
	struct profile *profile = renaming->profile;
	for (size_t i = 0; i < profile->location_count; i++) {
		renaming->old[i] = profile->locations[i];
		if (is_looked_up(renaming, &profile->locations[i]))
			profile->locations[i].first_frame = PROFILE_NONE;
	}
}

static bool has_name(const struct renaming *renaming, size_t i)
{
	const struct profile_location *location = &renaming->profile->locations[i];
	return is_looked_up(renaming, location) && location->first_frame != PROFILE_NONE &&
	       !is_nameless(renaming->profile, location);
}

/* Finds the modules in which a function has got a name. */
static void find_improved(struct renaming *renaming)
{
	struct profile *profile = renaming->profile;
	for (size_t i = 0; i < renaming->old_count; i++) {
		struct renamed_module *module = &renaming->modules[profile->locations[i].module];
		if (!has_name(renaming, i) || !is_nameless(profile, &renaming->old[i]))
			continue;
		renaming->result->named++;
		renaming->result->modules += !module->is_improved;
		module->is_improved = true;
	}
	for (size_t i = 0; i < profile->module_count; i++)
		if (renaming->modules[i].is_improved)
			findings_remove(profile, FINDING_FILE_UNREADABLE,
					profile_string(profile, profile->modules[i].path));
}

/* Gives back the frames of locations that have no name now, and all frames of the other modules. */
static void restore_frames(const struct renaming *renaming)
{
	struct profile *profile = renaming->profile;
	for (size_t i = 0; i < renaming->old_count; i++) {
		struct profile_location *location = &profile->locations[i];
		bool is_tail = location->is_tail;
		renaming->fresh[i] = outermost(profile, location);
		if (renaming->modules[location->module].is_improved && has_name(renaming, i))
			continue;
		*location = renaming->old[i];
		location->is_tail = is_tail;
	}
}

/* --- functions --- */

/* Makes an array by function, which the caller frees: the function that took its place. NULL: no memory. */
static uint32_t *find_successors(const struct renaming *renaming)
{
	const struct profile *profile = renaming->profile;
	uint32_t *now = malloc((profile->function_count + 1) * sizeof(*now));
	for (uint32_t i = 0; now && i < profile->function_count; i++)
		now[i] = i;
	for (size_t i = 0; now && i < renaming->old_count; i++) {
		uint32_t before = outermost(profile, &renaming->old[i]), fresh = renaming->fresh[i];
		uint32_t after = outermost(profile, &profile->locations[i]);
		if (!is_looked_up(renaming, &profile->locations[i]) || after == PROFILE_NONE)
			continue;
		if (fresh != PROFILE_NONE)
			now[fresh] = after;
		if (before != PROFILE_NONE)
			now[before] = after;
	}
	return now;
}

/* Returns whether a location has a function of its own choice, and no address to look up: one for several tail calls. */
static bool is_for_several(const struct profile_location *location)
{
	return location->by_frames && location->is_tail && location->first_frame != PROFILE_NONE;
}

/* Makes a map from the names of functions to the functions that took their place. */
static int index_successors(const struct profile *profile, const uint32_t *now, struct hash_map *by_name)
{
	int status = 0;
	for (uint32_t i = 0; i < profile->function_count && status == 0; i++)
		if (now[i] != i)
			status = hash_map_put(by_name, profile->functions[i].name, now[i]);
	return status;
}

/* Replaces the functions' names in the name of a frame for one of several functions. If one function is left, the frame is of that function. */
static int rename_choice(struct profile *profile, struct profile_frame *frame, const struct hash_map *by_name)
{
	struct profile_function *function = &profile->functions[frame->function];
	char *copy = strdup(profile_string(profile, function->name));
	struct tail_choice choice;
	uint32_t only = PROFILE_NONE;
	struct buffer text;
	if (!copy)
		return ERROR_MEMORY;
	buffer_init(&text);
	bool is_choice = tail_choice_read(&choice, copy);
	for (size_t i = 0; is_choice && i < choice.count; i++) {
		int64_t name = strings_find(&profile->strings, choice.names[i], strlen(choice.names[i]));
		uint32_t successor = name < 0 ? HASH_MAP_NONE : hash_map_get(by_name, (uint64_t)name);
		if (successor == HASH_MAP_NONE)
			continue;
		only = successor;
		choice.names[i] = profile_string(profile, profile->functions[successor].name);
	}
	int status = 0;
	if (only != PROFILE_NONE) {
		choice.count = tail_choice_unify(choice.names, choice.count);
		tail_choice_write(&text, choice.names, choice.count, choice.more, choice.others);
		int64_t name =
			buffer_error(&text) ? ERROR_MEMORY : profile_add_string(profile, (const char *)text.bytes);
		if (choice.count == 1 && choice.more == 0 && !choice.others)
			frame->function = only;
		else if (name >= 0)
			function->name = (uint32_t)name;
		status = name < 0 ? (int)name : 0;
	}
	buffer_release(&text);
	free(copy);
	return status;
}

/* Removes rows of tail calls that another one replaces. */
static int unify_tail_calls(struct profile *profile)
{
	struct hash_map last; /* (caller, callee) -> the last row */
	size_t kept = 0;
	int status = 0;
	hash_map_init(&last);
	for (size_t i = 0; i < profile->tail_call_count && status == 0; i++) {
		const struct profile_tail_call *row = &profile->tail_calls[i];
		status = hash_map_put(&last, (uint64_t)row->caller << 32 | row->callee, (uint32_t)i);
	}
	for (size_t i = 0; i < profile->tail_call_count && status == 0; i++) {
		const struct profile_tail_call row = profile->tail_calls[i];
		if (hash_map_get(&last, (uint64_t)row.caller << 32 | row.callee) == i)
			profile->tail_calls[kept++] = row;
	}
	if (status == 0)
		profile->tail_call_count = kept;
	hash_map_release(&last);
	return status;
}

/* Gives the new functions to frames for one of several tail calls, and to rows of tail calls. */
static int follow_functions(const struct renaming *renaming)
{
	struct profile *profile = renaming->profile;
	uint32_t *now = find_successors(renaming);
	struct hash_map by_name;
	hash_map_init(&by_name);
	int status = now ? index_successors(profile, now, &by_name) : ERROR_MEMORY;
	for (size_t i = 0; i < profile->location_count && status == 0; i++) {
		if (!is_for_several(&profile->locations[i]))
			continue;
		struct profile_frame *frame = &profile->frames[profile->locations[i].first_frame];
		frame->function = now[frame->function];
		status = rename_choice(profile, frame, &by_name);
	}
	for (size_t i = 0; i < profile->tail_call_count && status == 0; i++)
		profile->tail_calls[i].callee = now[profile->tail_calls[i].callee];
	if (status == 0)
		status = unify_tail_calls(profile);
	hash_map_release(&by_name);
	free(now);
	return status;
}

static size_t count_tail_calls(const struct profile *profile)
{
	size_t count = 0;
	for (size_t i = 0; i < profile->tail_call_count; i++)
		count += profile->tail_calls[i].location != PROFILE_NONE;
	return count;
}

/* --- all --- */

static void remove_old_findings(struct profile *profile)
{
	findings_remove(profile, FINDING_NAMES_MISSING, "");
	findings_remove(profile, FINDING_NAMING_INTERRUPTED, "");
	findings_remove(profile, FINDING_DOWNLOADS_FAILED, "");
	findings_remove(profile, FINDING_DEBUG_FILES_LACKING, "");
	nameless_remove_remedies(profile);
}

static int name(struct renaming *renaming, struct error *error)
{
	struct profile *profile = renaming->profile;
	struct frames_options options = { .open_module = open_file,
					  .finds_tail_calls = true,
					  .progress = renaming->options->progress ? pass_progress : NULL,
					  .download = renaming->options->download ? pass_download : NULL,
					  .context = renaming,
					  .limits = renaming->options->limits };
	remove_old_findings(profile);
	choose_modules(renaming);
	if (renaming->download.is_over)
		options.download = NULL; /* the servers are not asked a second time */
	download_add_findings(&renaming->download, profile);
	take_frames(renaming);
	profile->symbolized = false;
	size_t known = count_tail_calls(profile);
	int status = frames_name_profile(profile, &options, error);
	find_improved(renaming);
	restore_frames(renaming);
	profile->symbolized = true;
	if (status < 0)
		return status;
	status = follow_functions(renaming);
	renaming->result->tail_calls = count_tail_calls(profile) - known;
	if (status == 0)
		status = profile_compact(profile);
	if (status == 0)
		status = frames_assign_roles(profile);
	if (status == 0)
		status = missing_names_add_all(profile);
	return status < 0 ? error_set(error, status, "cannot name the functions: %s", error_text(status)) : 0;
}

int frames_rename_profile(struct profile *profile, const struct frames_options *options, struct rename_result *result,
			  struct error *error)
{
	struct renaming renaming = {
		.profile = profile, .options = options, .result = result, .old_count = profile->location_count
	};
	*result = (struct rename_result){ 0 };
	download_init(&renaming.download);
	renaming.download.progress = show_download;
	renaming.download.context = &renaming;
	renaming.modules = calloc(profile->module_count + 1, sizeof(*renaming.modules));
	renaming.old = calloc(renaming.old_count + 1, sizeof(*renaming.old));
	renaming.fresh = calloc(renaming.old_count + 1, sizeof(*renaming.fresh));
	int status = renaming.modules && renaming.old && renaming.fresh
			     ? 0
			     : error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; renaming.modules && i < profile->module_count; i++)
		renaming.modules[i].fd = -1;
	if (status == 0)
		status = name(&renaming, error);
	for (size_t i = 0; renaming.modules && i < profile->module_count; i++)
		if (renaming.modules[i].fd >= 0)
			close(renaming.modules[i].fd);
	file_users_release(&renaming.files);
	free(renaming.modules);
	free(renaming.old);
	free(renaming.fresh);
	return status;
}
