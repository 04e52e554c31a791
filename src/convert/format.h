/* Foreign formats: one row each, one file each in this folder. */
#ifndef CONVERT_FORMAT_H
#define CONVERT_FORMAT_H

#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

/* What an exporter is to write. */
struct convert_selection {
	uint32_t resource; /* index in profile->resources */
	bool no_inlines;
	bool untrimmed;
	bool no_stitch;
};

struct convert_format {
	const char *name;    /* "folded" */
	const char *summary; /* one line for --help */
	/* Either may be NULL: not supported in that direction. The importer gives
	 * a new profile that the caller frees; `name` of the input is for messages
	 * ("stdin:17: ..."). The exporter returns 0 or a negative error. */
	struct profile *(*import)(FILE *in, const char *name, struct error *error);
	int (*export)(const struct profile *profile, const struct convert_selection *selection, FILE *out,
		      struct error *error);
};

extern const struct convert_format *const convert_formats[]; /* NULL-terminated */
const struct convert_format *convert_find(const char *name); /* NULL: unknown */

#endif
