/* `reused A.so`: runs the library's function, unloads the library, and runs generated code at the same address. It makes 10 events each. */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

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
	void *handle = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*run)(unsigned) = handle ? (void (*)(unsigned))dlsym(handle, "plugin_run") : NULL;

	if (!run)
		return 2;
	run(EVENTS_US);
	dlclose(handle);
	uintptr_t page = (uintptr_t)run / PAGE_BYTES * PAGE_BYTES;
	if (mmap((void *)page, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)page)
		return 1;
	memcpy((void *)run, calls_its_argument, sizeof(calls_its_argument));
	((void (*)(void (*)(void)))run)(called_by_generated_code);
	return 0;
}
