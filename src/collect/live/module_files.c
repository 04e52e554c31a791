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
};

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

int module_files_open(struct module_files *files, const struct profile *profile, const struct frames_options *names)
{
	int status = 0;
	if (files->count == profile->module_count) /* this thread alone changes it */
		return 0;
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
