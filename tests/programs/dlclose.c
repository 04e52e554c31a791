/*
 * `dlclose A.so B.so`: loads A, runs it, unloads it, loads B at the same addresses, runs it twice as long, unloads
 * it, and repeats. Prints in how many rounds both had the same address.
 */
#include <dlfcn.h>

#include "burn.h"

enum { ROUNDS = 30 };

static void *run_plugin(const char *path, unsigned us)
{
	void *handle = dlopen(path, RTLD_NOW);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	void (*run)(unsigned) = (void (*)(unsigned))dlsym(handle, "plugin_run");
	run(us);
	dlclose(handle);
	return (void *)run;
}

int main(int argc, char **argv)
{
	int same = 0;

	if (argc != 3)
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		void *first = run_plugin(argv[1], 5000);
		void *second = run_plugin(argv[2], 10000);

		same += first == second;
	}
	printf("same %d of %d\n", same, ROUNDS);
	share("main;run_plugin;plugin_run;alpha_work", 1.0 / 3);
	share("main;run_plugin;plugin_run;bravo_work", 2.0 / 3);
	return 0;
}
