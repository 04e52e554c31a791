#include "cmd/record.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/sample/preload/access.h"
#include "profile/runtimes.h"

/* Returns whether the list of options `old` contains `value`: a recording inside of another one. */
static bool has_value(const char *old, const char *value)
{
	return strstr(old, value) != NULL;
}

/* Returns the value of a row's variable in a text that the caller frees, or NULL if memory ran out. */
static char *value_of(const struct runtime *row)
{
	char library[PATH_MAX], *value = NULL;
	struct error none;
	if (!row->with_jvm_library || preload_access_jvm_library(library, sizeof(library), &none) < 0)
		return strdup(row->value);
	return asprintf(&value, row->with_jvm_library, library) < 0 ? NULL : value;
}

static char *entry_of(const struct runtime *row)
{
	const char *old = getenv(row->variable);
	char *value = value_of(row), *entry = NULL;
	bool keeps = row->is_list && old && old[0];
	bool joins = keeps && value && !has_value(old, value);
	if (value && asprintf(&entry, "%s=%s%s%s", row->variable, keeps ? old : "", joins ? " " : "",
			      keeps && !joins ? "" : value) < 0)
		entry = NULL;
	free(value);
	return entry;
}

int runtime_variables_init(struct runtime_variables *variables, struct error *error)
{
	size_t rows = 0, count = 0;
	while (runtimes[rows].process)
		rows++;
	variables->entries = calloc(rows + 1, sizeof(*variables->entries));
	for (size_t i = 0; i < rows && variables->entries; i++) {
		if (!runtimes[i].variable)
			continue;
		variables->entries[count] = entry_of(&runtimes[i]);
		if (!variables->entries[count++])
			return error_set(error, ERROR_MEMORY, "out of memory");
	}
	return variables->entries ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

void runtime_variables_release(struct runtime_variables *variables)
{
	for (size_t i = 0; variables->entries && variables->entries[i]; i++)
		free(variables->entries[i]);
	free(variables->entries);
	variables->entries = NULL;
}
