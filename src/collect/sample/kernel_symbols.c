#include "collect/sample/kernel_symbols.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compare.h"
#include "profile/module_name.h"

bool kernel_symbols_are_shown(void)
{
	/* The first symbols may be at small addresses, even at 0: the addresses of the data of a processor. */
	enum { LINES_MOST = 50000 };
	FILE *symbols = fopen("/proc/kallsyms", "re");
	uint64_t highest = 0;
	char line[1024];
	for (int i = 0; symbols && i < LINES_MOST && highest <= UINT32_MAX && fgets(line, sizeof(line), symbols); i++)
		highest = strtoull(line, NULL, 16);
	if (symbols)
		fclose(symbols);
	return highest > UINT32_MAX;
}

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return COMPARE(a, b);
}

/* Returns the kernel's addresses in the profile that have no names yet, ascending; the caller
 * frees them. NULL: no memory. */
static uint64_t *unnamed(const struct profile *profile, size_t *count)
{
	uint64_t *addresses = calloc(profile->location_count + 1, sizeof(*addresses));
	*count = 0;
	for (size_t i = 0; addresses && i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		if (location->first_frame == PROFILE_NONE && module_is_kernel_code(profile, location->module))
			addresses[(*count)++] = location->address;
	}
	if (addresses)
		qsort(addresses, *count, sizeof(*addresses), by_number);
	return addresses;
}

/* Returns a file in memory with the names that the backend knows, or a negative error. */
static int open_backend_names(const struct profile *profile, const struct backend_vtable *vtable,
			      struct backend *backend)
{
	size_t count;
	uint64_t *addresses = unnamed(profile, &count);
	int fd = addresses ? memfd_create("cpprof-kernel-symbols", MFD_CLOEXEC) : -1;
	int status = fd < 0 ? ERROR_SYSTEM : vtable->write_kernel_names(backend, addresses, count, fd);
	free(addresses);
	if (status == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return status;
}

int kernel_symbols_open(const struct profile *profile, const struct backend_vtable *vtable, struct backend *backend,
			struct error *error)
{
	int fd = backend && vtable->write_kernel_names ? open_backend_names(profile, vtable, backend) : ERROR_NOT_FOUND;
	if (fd < 0)
		fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? fd : error_set_errno(error, "cannot read the symbols of the kernel, /proc/kallsyms");
}
