/*
 * `plt LIBRARY`: binds 64 calls lazily, with the dynamic linker's resolver above the caller, and then makes them again.
 * Before each of these, the page of the PLT stubs is unmapped, so that the stub's first instruction is a page fault.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <sys/mman.h>

#include "burn.h"

typedef int (*call_all_function)(int, void (*between)(void *stub));

static void nothing(void *stub)
{
	(void)stub;
}

static void unmap(void *stub)
{
	if (madvise((void *)((uintptr_t)stub & ~(uintptr_t)4095), 4096, MADV_DONTNEED))
		exit(1);
}

NOINLINE static void bind_lazily(call_all_function call_all)
{
	burn_sink += (unsigned long)call_all(1, nothing);
}

NOINLINE static void call_bound(call_all_function call_all)
{
	burn_sink += (unsigned long)call_all(1, unmap);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2 && argc > 1; i++) {
		void *handle = dlopen(argv[1], RTLD_LAZY);

		if (!handle) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		call_all_function call_all = (call_all_function)dlsym(handle, "call_all");
		bind_lazily(call_all);
		call_bound(call_all);
		dlclose(handle);
	}
	share("main;bind_lazily;call_all;choose", 1);
	return 0;
}
