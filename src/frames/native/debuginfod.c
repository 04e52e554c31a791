#include "frames/native/debuginfod.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

/* The functions of elfutils/debuginfod.h, which need not be installed. */
struct debuginfod_client;
typedef struct debuginfod_client *begin_fn(void);
typedef int find_fn(struct debuginfod_client *client, const unsigned char *build_id, int bytes, char **path);

static begin_fn *begin;
static find_fn *find;
static int (*open_instead)(const uint8_t *build_id, size_t bytes);

void debuginfod_open_through(int (*open)(const uint8_t *build_id, size_t bytes))
{
	open_instead = open;
}

/* The library stays loaded: its dependencies cannot all be unloaded. */
static bool load(void)
{
	static bool tried;
	void *library = tried ? NULL : dlopen("libdebuginfod.so.1", RTLD_LAZY);
	tried = true;
	if (library) {
		/* POSIX lets dlsym return functions; ISO C has no such conversion. */
		*(void **)&begin = dlsym(library, "debuginfod_begin");
		*(void **)&find = dlsym(library, "debuginfod_find_debuginfo");
	}
	return begin && find;
}

int debuginfod_open(const uint8_t *build_id, size_t bytes)
{
	static struct debuginfod_client *client; /* keeps connections, for the whole program */
	const char *servers = getenv("DEBUGINFOD_URLS");
	if (!servers || !servers[0] || bytes == 0 || bytes > INT_MAX)
		return -1;
	if (open_instead)
		return open_instead(build_id, bytes);
	if (!load())
		return -1;
	if (!client)
		client = begin();
	int fd = client ? find(client, build_id, (int)bytes, NULL) : -1;
	return fd < 0 ? -1 : fd;
}
