#include "collect/sample/backends.h"

#include <stdio.h>
#include <string.h>

#include "base/near_names.h"

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

void backends_probe(const struct resource_row *row, struct backends_answer *answer)
{
	struct resource_request request = {
		.row = row,
		.counter = row->counter,
		.interval = row->default_interval,
		.default_interval = true,
		.gtick = row->gtick,
		.target.syscall = RESOURCE_ALL_SYSCALLS,
	};
	snprintf(request.name, sizeof(request.name), "%s", row->name);
	snprintf(request.title, sizeof(request.title), "%s", row->title);
	*answer = (struct backends_answer){ 0 };
	for (size_t i = 0; record_backends[i]; i++) {
		const struct backend_vtable *backend = record_backends[i];
		struct error reason;
		bool user_only = false;
		if (backend->probe(&request, &user_only, &reason) < 0) {
			if (!backend->serves || backend->serves(row))
				answer->why_not = reason;
			continue;
		}
		size_t used = strlen(answer->names);
		snprintf(answer->names + used, sizeof(answer->names) - used, "%s%s", used ? "," : "", backend->name);
		if (user_only && row->modes == RESOURCE_ALL_MODES)
			answer->user_only = backend->name;
	}
}
