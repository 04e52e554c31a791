/* `reused A.so [WAY]`: runs the library's function and then generated code at the same address, and makes 10 events each. The
 * library is unloaded before that; with WAY, it stays, and memory takes the place of its code: "map", or "protect" (it becomes
 * executable when the code is written). */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

enum { EVENTS_US = 25000, PAGE_BYTES = 4096 };

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char calls_its_argument[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };

NOINLINE static void called_by_generated_code(void)
{
	BURN_HERE(EVENTS_US);
}

int main(int argc, char **argv)
{
	void *handle = argc >= 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*run)(unsigned) = handle ? (void (*)(unsigned))dlsym(handle, "plugin_run") : NULL;
	const char *way = argc == 3 ? argv[2] : "";
	const int all = PROT_READ | PROT_WRITE | PROT_EXEC, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;

	if (!run)
		return 2;
	run(EVENTS_US);
	if (!*way)
		dlclose(handle);
	void *page = (void *)((uintptr_t)run / PAGE_BYTES * PAGE_BYTES);
	int protection = strcmp(way, "protect") == 0 ? PROT_READ | PROT_WRITE : all;
	int flags = *way ? MAP_FIXED : MAP_FIXED_NOREPLACE;
	void *mapped = mmap(page, PAGE_BYTES, protection, anonymous | flags, -1, 0);
	if (mapped != page)
		return 1;
	memcpy((void *)run, calls_its_argument, sizeof(calls_its_argument));
	if (protection != all && mprotect(page, PAGE_BYTES, PROT_READ | PROT_EXEC) != 0)
		return 1;
	((void (*)(void (*)(void)))run)(called_by_generated_code);
	_exit(0); /* the library's functions for the end of the process may be gone */
}
