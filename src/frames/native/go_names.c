#include "frames/native/go_names.h"

#include <elf.h>

void go_names_open(struct go_names *names, struct module_file *file)
{
	names->is_open = file->bytes && go_table_open(&names->table, file->bytes);
}

void go_names_match(const struct go_names *names, const uint64_t *addresses, size_t count, struct symbol_match *matches)
{
	struct go_function function;
	for (size_t i = 0; i < count && names->is_open; i++) {
		if (matches[i].covering.name || !go_table_find(&names->table, addresses[i], &function))
			continue;
		const char *name = go_table_name(&names->table, &function);
		if (name)
			matches[i].covering = (struct symbol){ .name = name,
							       .start = function.start,
							       .size = function.end - function.start,
							       .type = STT_FUNC,
							       .binding = STB_GLOBAL };
	}
}

void go_names_place(const struct go_names *names, uint64_t address, struct source_place *place)
{
	struct go_function function;
	if (names->is_open && !place->file && go_table_find(&names->table, address, &function))
		go_table_place(&names->table, &function, address, &place->file, &place->line);
}
