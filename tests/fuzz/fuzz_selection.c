/*
 * Arbitrary bytes as an instrumentation filter and as compile_commands.json. A filter that was read must decide
 * for each probe point, with a reason if it excludes one. Built for libFuzzer, or with replay.c.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/source/compile/database.h"
#include "collect/source/instrument/selection.h"
#include "collect/source/instrument/selection_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void decide(const struct selection *selection)
{
	static const char *const names[] = { "f", "ns::C<int>::f", "operator<", "a::operator()", "f: loop at 12" };
	static const char *const linker_names[] = { "_ZN2ns1CIiE1fEi", NULL };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct source_point place = { .kind = i == 4 ? PROBE_LOOP : PROBE_FUNCTION,
					      .level = i == 4 ? 2 : 1,
					      .name = names[i],
					      .signature = "f(int, char *)",
					      .file = "src/a.c",
					      .results = { i == 2 ? NULL : "T *", i == 2 ? NULL : "int *" },
					      .linker_names = i == 1 ? linker_names : NULL,
					      .is_cxx = i == 1,
					      .is_inline = i == 2 };
		selection_decide(selection, &place);
		require(!place.skipped || place.skipped[0]);
	}
	require(selection_level(selection) >= 1 && selection_level(selection) <= 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { 0 };
	struct selection *selection = selection_new();
	char *copy = malloc(size + 1);
	require(selection && copy);
	memcpy(copy, data, size);
	copy[size] = 0;
	struct database database;
	int code = database_parse(&database, "input", copy, size, &error);
	require(code == 0 || error.message[0]);
	for (size_t i = 0; code == 0 && i < database.entry_count; i++)
		require(database.entries[i].file && database.entries[i].words[0]);
	database_release(&database);
	error = (struct error){ 0 };
	/* Only short inputs without '{': a repetition count multiplies the size of a compiled expression, which
	 * selection_expression.c limits, but which takes time. */
	if (!memchr(data, '{', size) && size < 2000) {
		code = selection_read_text(selection, "input", copy, size, &error);
		require(code == 0 || error.message[0]);
		decide(selection);
	}
	selection_free(selection);
	free(copy);
	return 0;
}
