#include "frames/interpreters/interpreters.h"

#include <string.h>

static const struct interpreter_row *const rows[] = { &interpreter_python };

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct interpreter_row *interpreters_find(struct elf_file *file, struct interpreter *interpreter,
						uint32_t *version)
{
	struct dynamic_symbols symbols;
	struct dynamic_symbol symbol;
	const struct interpreter_row *found = NULL;
	*interpreter = (struct interpreter){ 0 };
	*version = 0;
	bool has_symbols = dynamic_symbols_open(&symbols, file);
	for (size_t i = 0; i < ROWS && has_symbols && !found; i++)
		if (dynamic_symbols_find(&symbols, rows[i]->symbol, &symbol))
			found = rows[i];
	if (found && found->describe(file, &symbols, interpreter, version))
		interpreter->kind = found->kind;
	dynamic_symbols_close(&symbols, file);
	return found;
}

bool interpreters_are_named(const char *path)
{
	static const char library[] = "lib";
	const char *name = strrchr(path, '/');
	name = name ? name + 1 : path;
	bool is_named = false;
	for (size_t i = 0; i < ROWS && !is_named; i++) {
		size_t length = strlen(rows[i]->file);
		bool is_library = strncmp(name, library, strlen(library)) == 0;
		is_named = strncmp(name, rows[i]->file, length) == 0 ||
			   (is_library && strncmp(name + strlen(library), rows[i]->file, length) == 0);
	}
	return is_named;
}

const struct interpreter_row *interpreters_row(uint32_t kind)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i]->kind == kind)
			return rows[i];
	return NULL;
}
