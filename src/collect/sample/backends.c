#include "collect/sample/backends.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

const struct backend_vtable *const record_backends[] = {
	&backend_bpf,
	&backend_perf,
	&backend_preload,
	NULL,
};

/* Appends a name to a list: "a" becomes "a, b". */
static void append_name(char *list, size_t bytes, const char *name)
{
	size_t used = strlen(list);
	snprintf(list + used, bytes - used, "%s%s", used ? ", " : "", name);
}

const struct backend_vtable *backend_find(const char *name, struct error *error)
{
	char all[128] = "";
	char near[128] = "";
	for (size_t i = 0;; i++) {
		const struct backend_vtable *vtable = record_backends[i] ? record_backends[i] : &backend_none;
		if (strcmp(vtable->name, name) == 0)
			return vtable;
		append_name(all, sizeof(all), vtable->name);
		if (text_resembles(name, vtable->name))
			append_name(near, sizeof(near), vtable->name);
		if (!record_backends[i])
			break;
	}
	if (near[0])
		error_set(error, ERROR_USAGE, "unknown backend '%s' (did you mean %s?)", name, near);
	else
		error_set(error, ERROR_USAGE, "unknown backend '%s' (%s)", name, all);
	return NULL;
}
