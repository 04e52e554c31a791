#include "collect/live/module_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/sample/kernel_symbols.h"
#include "profile/module_name.h"

struct module_opened {
	int fd;            /* -1: it could not be opened, or is not a file */
	struct error *why; /* owned; NULL: not a file */
	uint32_t pause,
		wait; /* for the list of generated code: calls between the last two attempts, and until the next one */
};

enum { PAUSE_MOST = 32 };

void module_files_init(struct module_files *files)
{
	*files = (struct module_files){ 0 };
	pthread_mutex_init(&files->lock, NULL);
}

void module_files_release(struct module_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		if (files->items[i].fd >= 0)
			close(files->items[i].fd);
		free(files->items[i].why);
	}
	free(files->items);
	pthread_mutex_destroy(&files->lock);
}

static int open_one(struct module_opened *opened, uint32_t module, bool is_kernel, const struct frames_options *names)
{
	struct error why = { 0 };
	/* All symbols of the kernel: addresses that are sampled later get names from this file too. */
	opened->fd = is_kernel ? kernel_symbols_open(NULL, NULL, NULL, &why)
			       : names->open_module(names->context, module, &why);
	if (opened->fd >= 0)
		return 0;
	opened->fd = -1;
	opened->why = malloc(sizeof(*opened->why));
	if (!opened->why)
		return ERROR_MEMORY;
	*opened->why = why;
	return 0;
}

/* Returns whether a module is generated code whose list, a perf map or a jitdump, was not there
 * so far, and its next attempt is due. The pauses grow, because most processes never write a
 * list. */
static bool is_due(struct module_opened *opened, const struct profile_module *module)
{
	if (module->kind != MODULE_ANON || opened->fd >= 0)
		return false;
	if (opened->wait > 0) {
		opened->wait--;
		return false;
	}
	opened->pause = opened->pause < PAUSE_MOST / 2 ? 2 * opened->pause + 1 : PAUSE_MOST;
	opened->wait = opened->pause;
	return true;
}

static void open_lists(struct module_files *files, const struct profile *profile, const struct frames_options *names)
{
	for (size_t i = 0; i < files->count; i++) {
		struct error none;
		if (!is_due(&files->items[i], &profile->modules[i]))
			continue;
		int fd = names->open_module(names->context, (uint32_t)i, &none);
		pthread_mutex_lock(&files->lock);
		files->items[i].fd = fd < 0 ? -1 : fd;
		pthread_mutex_unlock(&files->lock);
	}
}

int module_files_open(struct module_files *files, const struct profile *profile, const struct frames_options *names)
{
	int status = 0;
	pthread_mutex_lock(&files->lock);
	if (ARRAY_RESERVE(files->items, files->capacity, profile->module_count) < 0)
		status = ERROR_MEMORY;
	while (status == 0 && files->count < profile->module_count) {
		struct module_opened *opened = &files->items[files->count];
		*opened = (struct module_opened){ .fd = -1 };
		bool is_kernel = module_is_kernel_code(profile, (uint32_t)files->count);
		if (is_kernel || profile->modules[files->count].kind == MODULE_FILE)
			status = open_one(opened, (uint32_t)files->count, is_kernel, names);
		files->count++;
	}
	pthread_mutex_unlock(&files->lock);
	open_lists(files, profile, names);
	return status;
}

int module_files_get(struct module_files *files, uint32_t module, struct error *error)
{
	pthread_mutex_lock(&files->lock);
	const struct module_opened *opened = module < files->count ? &files->items[module] : NULL;
	int fd = opened && opened->fd >= 0 ? fcntl(opened->fd, F_DUPFD_CLOEXEC, 0) : ERROR_NOT_FOUND;
	if (fd == -1 && opened->fd >= 0)
		fd = error_set_errno(error, "cannot duplicate a descriptor");
	else if (fd < 0 && opened && opened->why)
		*error = *opened->why;
	else if (fd < 0)
		error_set(error, ERROR_NOT_FOUND, "the recording did not open this file");
	pthread_mutex_unlock(&files->lock);
	return fd < 0 ? error->code : fd;
}
