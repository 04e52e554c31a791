/*
 * `opens_from [LIBRARY NAME]...`: opens each library by its path, and the library opens NAME in its own way. This
 * program cannot open NAME itself.
 */
#include <dlfcn.h>

#include "burn.h"

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		void *library = dlopen(argv[i], RTLD_NOW);

		if (!library || dlopen(argv[i + 1], RTLD_NOW)) {
			fprintf(stderr, "%s\n", library ? "found by the wrong one" : dlerror());
			return 1;
		}
		void (*allocate_beside)(const char *) = (void (*)(const char *))dlsym(library, "allocate_beside");
		allocate_beside(argv[i + 1]);
		NOT_A_TAIL_CALL();
	}
	return 0;
}
