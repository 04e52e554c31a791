/* Foreign formats: one row each, one file each in this folder. */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

/* What an exporter is to write. */
struct convert_selection {
	uint32_t resource; /* index in profile->resources */
	bool no_inlines;
	bool untrimmed;
	bool no_stitch;
	const char *object; /* formats of objects: whose, the end of its path ("libfoo.so.1"); NULL: the program's */
};

struct convert_format {
	const char *name;    /* "folded" */
	const char *summary; /* one line for --help */
	/* It is binary, and holds addresses in the code of one object (a program or a library). Such an import is
	 * told the object's file, and of frames, threads and the start nothing can be chosen in an export. */
	bool is_of_object;
	/* Either may be NULL: not supported in that direction. The importer gives
	 * a new profile that the caller frees, its addresses not named yet (`symbolized`)
	 * if it has some; `name` of the input is for messages ("stdin:17: ..."), `object`
	 * is NULL unless is_of_object. The exporter returns 0 or a negative error. */
	struct profile *(*import)(FILE *in, const char *name, const char *object, struct error *error);
	int (*export)(const struct profile *profile, const struct convert_selection *selection, FILE *out,
		      struct error *error);
};

extern const struct convert_format *const convert_formats[]; /* NULL-terminated */
const struct convert_format *convert_find(const char *name); /* NULL: unknown */

#endif
