/* A library that opens another one by its name alone. It is found by this library's search path, or by $ORIGIN. */
#include <dlfcn.h>

#include "burn.h"

void allocate_beside(const char *name);

static void *open_origin(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "$ORIGIN/%s", name);
	return dlopen(path, RTLD_NOW);
}

NOINLINE void allocate_beside(const char *name)
{
	for (int i = 0; i < 2; i++) {
		void *handle = i == 0 ? dlopen(name, RTLD_NOW) : open_origin(name);

		if (!handle) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		void (*allocate)(void) = (void (*)(void))dlsym(handle, "plugin_allocate");
		allocate();
		dlclose(handle);
	}
}
