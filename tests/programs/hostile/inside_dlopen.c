/* `inside_dlopen LIBRARY`: loads it, calls a function of it, and unloads it, repeatedly. */
#include <dlfcn.h>

#include "moment.h"

int main(int argc, char **argv)
{
	int loaded = 0, unloaded = 0;

	CHECK(argc == 2);
	while (moment_goes_on(10)) {
		void *library = dlopen(argv[1], loaded % 2 ? RTLD_NOW : RTLD_LAZY);

		CHECK(library != NULL);
		int (*answer)(int) = (int (*)(int))dlsym(library, "answer");
		void (*count_unloading)(int *) = (void (*)(int *))dlsym(library, "count_unloading");
		CHECK(answer && count_unloading);
		count_unloading(&unloaded);
		CHECK(answer(loaded) == 3 * loaded + 1);
		CHECK(!dlsym(library, "no_such_function") && dlerror() != NULL);
		CHECK(dlclose(library) == 0);
		CHECK(unloaded == ++loaded);
		CHECK(!dlopen("/nonexistent/library.so", RTLD_NOW) && dlerror() != NULL);
	}
	return moment_ends("each loaded and unloaded\n");
}
