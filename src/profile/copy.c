#include "profile/copy.h"

#include <stddef.h>

int64_t profile_copy_text(struct profile *to, const struct profile *from, uint32_t text)
{
	return profile_add_string(to, profile_string(from, text));
}

static int copy_texts(struct profile *to, const struct profile *from, uint32_t *const *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t text = profile_copy_text(to, from, *fields[i]);
		if (text < 0)
			return (int)text;
		*fields[i] = (uint32_t)text;
	}
	return 0;
}

/* Behind the kind of row: its texts. */
#define COPIER(kind, ...)                                                                                      \
	int64_t profile_copy_##kind(struct profile *to, const struct profile *from, struct profile_##kind row) \
	{                                                                                                      \
		uint32_t *const texts[] = { __VA_ARGS__ };                                                     \
		int status = copy_texts(to, from, texts, sizeof(texts) / sizeof(texts[0]));                    \
		return status < 0 ? status : profile_add_##kind(to, &row);                                     \
	}

COPIER(resource, &row.name, &row.title, &row.unit, &row.backend, &row.note)
COPIER(process, &row.name, &row.cgroup)
COPIER(thread, &row.name)
COPIER(module, &row.path)
COPIER(function, &row.name, &row.linkage, &row.file, &row.group)
COPIER(frame, &row.file)
