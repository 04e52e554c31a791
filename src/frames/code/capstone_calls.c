#include "frames/code/capstone_calls.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

static const char library_name[] = "libcapstone.so." CAPSTONE_MAJOR;

static struct capstone_calls calls;

/* POSIX lets dlsym return functions; ISO C has no such conversion. */
static const struct {
	const char *name;
	void **call;
} symbols[] = {
	{ "cs_open", (void **)&calls.open },
	{ "cs_close", (void **)&calls.close },
	{ "cs_option", (void **)&calls.option },
	{ "cs_malloc", (void **)&calls.malloc },
	{ "cs_free", (void **)&calls.free },
	{ "cs_disasm_iter", (void **)&calls.disasm_iter },
	{ "cs_insn_group", (void **)&calls.insn_group },
};

/* The library stays loaded. */
static bool load(void)
{
	void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
	bool is_whole = library != NULL;
	for (size_t i = 0; is_whole && i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		*symbols[i].call = dlsym(library, symbols[i].name);
		is_whole = *symbols[i].call != NULL;
	}
	return is_whole;
}

const struct capstone_calls *capstone_calls(void)
{
	static bool tried, is_loaded;
	if (!tried)
		is_loaded = load();
	tried = true;
	return is_loaded ? &calls : NULL;
}
