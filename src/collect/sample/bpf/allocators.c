#include "collect/sample/bpf/allocators.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/name_list.h"
#include "base/path.h"
#include "collect/sample/probes/libraries.h"
#include "profile/findings.h"

int bpf_allocators_add(struct bpf_allocators *allocators, const struct probe_points *points)
{
	for (size_t i = 0; i < points->count; i++) {
		struct stat status;
		if (stat(points->items[i].path, &status) != 0)
			continue;
		if (ARRAY_RESERVE(allocators->items, allocators->capacity, allocators->count + 1) < 0)
			return ERROR_MEMORY;
		allocators->items[allocators->count++] = (struct watched_file){ status.st_dev, status.st_ino };
	}
	return 0;
}

static bool is_watched(const struct bpf_allocators *allocators, const struct stat *status)
{
	for (size_t i = 0; i < allocators->count; i++)
		if (allocators->items[i].device == status->st_dev && allocators->items[i].inode == status->st_ino)
			return true;
	return false;
}

/* Returns whether a file exports malloc, and is neither watched nor the C library. */
static bool is_another(const struct bpf_allocators *allocators, const char *path)
{
	static const char *const names[] = { "malloc", "__libc_start_main", "_r_debug" };
	enum { MALLOC, C_LIBRARY, LINKER, NAMES };
	bool exported[NAMES];
	struct stat status;
	int fd = path_open_regular(path);
	bool is_known = fd < 0 || fstat(fd, &status) != 0 || is_watched(allocators, &status);
	if (!is_known)
		library_exports(fd, path, names, NAMES, exported);
	if (fd >= 0)
		close(fd);
	return !is_known && exported[MALLOC] && !exported[C_LIBRARY] && !exported[LINKER];
}

void bpf_allocators_add_finding(const struct bpf_allocators *allocators, struct profile *profile)
{
	struct name_list others = { 0 };
	for (size_t i = 0; i < profile->module_count && allocators->count > 0; i++) {
		const char *path = profile_string(profile, profile->modules[i].path);
		if (profile->modules[i].kind == MODULE_FILE && is_another(allocators, path))
			name_list_add(&others, path_basename(path));
	}
	if (others.count > 0)
		finding_add(profile, FINDING_ALLOCATORS_UNCOUNTED, others.count,
			    "{# library has|# libraries have} a malloc of {its|their} own, which is not counted: %s",
			    name_list_text(&others));
	name_list_release(&others);
}

void bpf_allocators_release(struct bpf_allocators *allocators)
{
	free(allocators->items);
	*allocators = (struct bpf_allocators){ 0 };
}
