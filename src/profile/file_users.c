#include "profile/file_users.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The bit of processes whose user is not known, and of users beyond the others. */
#define OTHERS (UINT64_C(1) << (PATH_USERS_MOST - 1))

/* Returns the bit of a process's user. */
static uint64_t bit_of(struct path_users *users, uint32_t user)
{
	size_t i = 0;
	while (user != 0 && i < users->count && users->ids[i] != user - 1)
		i++;
	if (user == 0 || i == PATH_USERS_MOST - 1) {
		users->has_others = true;
		return OTHERS;
	}
	if (i == users->count)
		users->ids[users->count++] = user - 1;
	return UINT64_C(1) << i;
}

/* Sets the users of each thread's process. */
static uint64_t *users_of_threads(struct path_users *users, const struct profile *profile)
{
	uint64_t *processes = malloc((profile->process_count + 1) * sizeof(*processes));
	uint64_t *threads = malloc((profile->thread_count + 1) * sizeof(*threads));
	for (size_t i = 0; processes && i < profile->process_count; i++)
		processes[i] = bit_of(users, profile->processes[i].user);
	for (size_t i = 0; processes && threads && i < profile->thread_count; i++)
		threads[i] = processes[profile->threads[i].process];
	if (!processes) {
		free(threads);
		threads = NULL;
	}
	free(processes);
	return threads;
}

/* Sets the users of the processes whose call paths contain each location. */
static uint64_t *users_of_locations(struct path_users *users, const struct profile *profile)
{
	uint64_t *threads = users_of_threads(users, profile);
	uint64_t *nodes = calloc(profile->node_count + 1, sizeof(*nodes));
	uint64_t *locations = calloc(profile->location_count + 1, sizeof(*locations));
	bool is_sound = threads && nodes && locations;
	for (size_t i = 0; is_sound && i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		nodes[hit->node] |= hit->thread == PROFILE_NONE ? bit_of(users, 0) : threads[hit->thread];
	}
	for (size_t i = is_sound ? profile->node_count : 0; i-- > 1;) {
		nodes[profile->nodes[i].parent] |= nodes[i];
		locations[profile->nodes[i].location] |= nodes[i];
	}
	free(threads);
	free(nodes);
	if (is_sound)
		return locations;
	free(locations);
	return NULL;
}

static int find_users(struct file_users *files, const struct profile *profile)
{
	*files = (struct file_users){ .profile = profile, .count = profile->strings.count };
	uint64_t *locations = users_of_locations(&files->users, profile);
	files->of_path = calloc(files->count + 1, sizeof(*files->of_path));
	for (size_t i = 0; locations && files->of_path && i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		files->of_path[profile->modules[location->module].path] |= locations[i];
		for (uint32_t k = 0; k < location->frame_count; k++) {
			const struct profile_frame *frame = &profile->frames[location->first_frame + k];
			files->of_path[frame->file] |= locations[i];
			files->of_path[profile->functions[frame->function].file] |= locations[i];
		}
	}
	bool is_sound = locations && files->of_path;
	free(locations);
	if (!is_sound)
		file_users_release(files);
	return is_sound ? 0 : ERROR_MEMORY;
}

int file_users_find(struct file_users *files, const struct profile *profile, const char *path, struct path_users *users)
{
	int status = 0;
	if (files->profile != profile) {
		file_users_release(files);
		status = find_users(files, profile);
	}
	if (status < 0)
		return status;
	int64_t file = strings_find(&profile->strings, path, strlen(path));
	uint64_t bits = file < 0 || (size_t)file >= files->count ? 0 : files->of_path[file];
	*users = files->users;
	users->has_others |= users->count == 0; /* a profile without processes */
	if (bits == 0)
		return 0;
	users->count = 0;
	for (size_t i = 0; i < files->users.count; i++)
		if (bits & UINT64_C(1) << i)
			users->ids[users->count++] = files->users.ids[i];
	users->has_others = bits & OTHERS;
	return 0;
}

int file_users_open(struct file_users *files, const struct profile *profile, const char *path)
{
	struct path_users users;
	if (file_users_find(files, profile, path, &users) < 0) {
		errno = ENOMEM;
		return -1;
	}
	return path_open_for_users(path, &users);
}

int file_users_open_once(const struct profile *profile, const char *path)
{
	struct file_users files = { 0 };
	int fd = file_users_open(&files, profile, path);
	int number = errno;
	file_users_release(&files);
	errno = number;
	return fd;
}

void file_users_release(struct file_users *files)
{
	free(files->of_path);
	*files = (struct file_users){ 0 };
}
