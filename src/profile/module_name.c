#include "profile/module_name.h"

#include <string.h>

#include "base/path.h"

const char *module_name(const char *path, size_t *length)
{
	static const char deleted[] = " (deleted)";
	const char *name = path_basename(path);
	*length = strlen(name);
	size_t tail = sizeof(deleted) - 1;
	if (*length > tail && memcmp(name + *length - tail, deleted, tail) == 0)
		*length -= tail;
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
