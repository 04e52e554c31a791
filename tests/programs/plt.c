/*
 * `plt LIBRARY`: half of the rounds bind 64 calls lazily, with the dynamic linker's resolver above the caller. The
 * other half make bound calls to empty functions, so that samples fall on every instruction of the PLT stubs.
 */
#include <dlfcn.h>

#include "burn.h"

NOINLINE static void use(const char *path, int times)
{
	void *handle = dlopen(path, RTLD_LAZY);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	int (*call_all)(int, int) = (int (*)(int, int))dlsym(handle, "call_all");
	burn_sink += (unsigned long)call_all(1, times);
	dlclose(handle);
}

NOINLINE static void bind_lazily(const char *path)
{
	for (int i = 0; i < 30; i++)
		use(path, 1);
	NOT_A_TAIL_CALL();
}

NOINLINE static void call_bound(const char *path)
{
	use(path, 40000);
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	for (int i = 0; i < 60; i++) {
		bind_lazily(argv[1]);
		call_bound(argv[1]);
	}
	return 0;
}
