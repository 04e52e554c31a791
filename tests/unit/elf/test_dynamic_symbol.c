/* Look-ups of exported symbols, against the dynamic linker; and in tables with errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/dynamic_symbol.h"

static void *libc; /* for dlsym: a sanitizer defines some of its functions again */
static struct elf_file *file;
static struct dynamic_symbols symbols;

static int open_libc(void **state)
{
	(void)state;
	Dl_info info;
	struct error error = { 0 };
	libc = dlopen("libc.so.6", RTLD_NOW);
	if (!libc || !dladdr(dlsym(libc, "getenv"), &info))
		return -1;
	int fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	file = elf_file_open(fd, info.dli_fname, &error);
	close(fd);
	return file && dynamic_symbols_open(&symbols, file) ? 0 : -1;
}

static int close_libc(void **state)
{
	(void)state;
	dynamic_symbols_close(&symbols, file);
	elf_file_free(file);
	dlclose(libc);
	return 0;
}

static void found_where_the_linker_finds_them(void **state)
{
	(void)state;
	static const char *const names[] = { "getenv", "qsort", "fopen64", "environ", "puts" };
	Dl_info info;
	struct dynamic_symbol symbol;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *address = dlsym(libc, names[i]);
		assert_non_null(address);
		assert_true(dladdr(address, &info));
		assert_true(dynamic_symbols_find(&symbols, names[i], &symbol));
		assert_true(symbol.size > 0);
		assert_int_equal((uint64_t)(uintptr_t)address - (uint64_t)(uintptr_t)info.dli_fbase, symbol.address);
	}
}

static const char *name_of(size_t index, Elf64_Sym *entry)
{
	memcpy(entry, symbols.symbols.bytes + index * sizeof(*entry), sizeof(*entry));
	return (const char *)symbols.names.bytes + entry->st_name;
}

/* Functions of several versions: the linker gives a program that it links the default one. */
static void the_default_version_is_found(void **state)
{
	(void)state;
	size_t count = symbols.symbols.size / sizeof(Elf64_Sym), compared = 0;
	for (size_t i = 0; i + 1 < count; i++) {
		Elf64_Sym first, other;
		struct dynamic_symbol symbol;
		Dl_info info;
		const char *name = name_of(i, &first);
		size_t at = i + 1;
		while (at < count && strcmp(name_of(at, &other), name) != 0)
			at++;
		if (at == count || first.st_value == other.st_value || ELF64_ST_TYPE(first.st_info) != STT_FUNC ||
		    ELF64_ST_TYPE(other.st_info) != STT_FUNC)
			continue;
		void *address = dlsym(libc, name);
		if (!address || !dladdr(address, &info))
			continue;
		assert_true(dynamic_symbols_find(&symbols, name, &symbol));
		assert_int_equal((uint64_t)(uintptr_t)address - (uint64_t)(uintptr_t)info.dli_fbase, symbol.address);
		compared++;
	}
	assert_true(compared > 0);
}

static void others_are_not_found(void **state)
{
	(void)state;
	struct dynamic_symbol symbol;
	assert_false(dynamic_symbols_find(&symbols, "no_such_symbol", &symbol));
	assert_false(dynamic_symbols_find(&symbols, "", &symbol));
	assert_false(dynamic_symbols_find(&symbols, "geten", &symbol));
}

/* Tables that are cut anywhere lead to no read beyond their end. */
static void cut_tables_are_read_within_their_end(void **state)
{
	enum { STEPS = 400 };
	(void)state;
	struct dynamic_symbol symbol;
	struct elf_bytes *const tables[] = { &symbols.hash, &symbols.symbols, &symbols.names };
	for (size_t t = 0; t < 3; t++) {
		struct elf_bytes whole = *tables[t];
		for (size_t i = 0; i < STEPS; i++) {
			size_t size = whole.size * i / STEPS;
			uint8_t *copy = malloc(size + 1); /* a sanitizer notices a read behind it */
			memcpy(copy, whole.bytes, size);
			*tables[t] = (struct elf_bytes){ .bytes = copy, .size = size };
			dynamic_symbols_find(&symbols, "getenv", &symbol);
			dynamic_symbols_find(&symbols, "no_such_symbol", &symbol);
			free(copy);
		}
		*tables[t] = whole;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(found_where_the_linker_finds_them, open_libc, close_libc),
		cmocka_unit_test_setup_teardown(the_default_version_is_found, open_libc, close_libc),
		cmocka_unit_test_setup_teardown(others_are_not_found, open_libc, close_libc),
		cmocka_unit_test_setup_teardown(cut_tables_are_read_within_their_end, open_libc, close_libc),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
