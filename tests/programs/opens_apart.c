/* `opens_apart WAY LIBRARY`: opens the plugin in one of the ways below, and lets it allocate. */
#include <dlfcn.h>
#include <string.h>

#include "burn.h"

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[1] : "";
	void *plugin = strcmp(way, "deep") == 0    ? dlopen(argv[2], RTLD_NOW | RTLD_DEEPBIND)
		       : strcmp(way, "apart") == 0 ? dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW)
		       : strcmp(way, "base") == 0  ? dlmopen(LM_ID_BASE, argv[2], RTLD_NOW)
						   : dlopen(argv[2], RTLD_NOW);
	void (*allocate)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugin_allocate") : NULL;
	if (!allocate)
		return 1;
	allocate();
	return 0;
}
