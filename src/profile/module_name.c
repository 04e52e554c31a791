#include "profile/module_name.h"

#include <string.h>

#include "base/path.h"

size_t module_path_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), tail = strlen(deleted);
	return length > tail && strcmp(path + length - tail, deleted) == 0 ? length - tail : length;
}

const char *module_name(const char *path, size_t *length)
{
	const char *name = path_basename(path);
	*length = module_path_length(name);
	return name;
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool module_name_is_dynamic_linker(const char *path)
{
	size_t length;
	const char *name = module_name(path, &length);
	return starts_with(name, "ld-linux") || starts_with(name, "ld-2.") || starts_with(name, "ld-musl") ||
	       starts_with(name, "ld.so");
}

bool module_name_is_c_library(const char *path)
{
	size_t length;
	const char *name = module_name(path, &length);
	return starts_with(name, "libc.so.") || starts_with(name, "libc-2.") || starts_with(name, "libc.musl-") ||
	       starts_with(name, "ld-musl") || starts_with(name, "libpthread.so.") ||
	       starts_with(name, "libpthread-2.");
}

bool module_name_is_agent(const char *path)
{
	size_t length;
	const char *name = module_name(path, &length);
	return starts_with(name, "libcpprof.so") || starts_with(name, "libcpprof-preload.so") ||
	       starts_with(name, "libcpprof-hooks.so");
}

bool module_is_kernel_code(const struct profile *profile, uint32_t module)
{
	const struct profile_module *row = &profile->modules[module];
	return row->kind == MODULE_KERNEL && strcmp(profile_string(profile, row->path), MODULE_NAME_KERNEL) == 0;
}

bool module_is_kernel(const struct profile *profile, uint32_t module)
{
	const struct profile_module *row = &profile->modules[module];
	return row->kind == MODULE_KERNEL && starts_with(profile_string(profile, row->path), "[kernel");
}
