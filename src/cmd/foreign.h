/* Other tools' files, read into profiles: by `cpprof import`, and by each command that reads a profile. */
#ifndef CMD_FOREIGN_H
#define CMD_FOREIGN_H

#include <stdbool.h>

#include "base/error.h"
#include "formats/format.h"
#include "profile/profile.h"

struct foreign_request {
	const char *path;            /* "-": standard input */
	const struct format *format; /* NULL: the format that recognises the input */
	const char *image;           /* the file of the program that ran; NULL: none */
	/* Reads a profile of cpprof, too, which may be compressed, and names in its errors the commands that help. */
	bool opens;
};

/* Returns whether foreign_read, with `opens`, must read the input, and not reader_load: it is a file that does not begin like a profile of
 * cpprof, or its first bytes cannot be seen without taking them, as of a pipe. Returns false for an empty file, and for a path that cannot
 * be opened. */
bool foreign_is(const char *path);

/* Returns a new profile, whose addresses have names, and which the caller frees; or NULL, with `error` set: ERROR_FORMAT for an empty input,
 * and for a format that is unknown or, with `opens`, needs the program; ERROR_USAGE for an image that does not fit the format; otherwise the
 * importer's error. */
struct profile *foreign_read(const struct foreign_request *request, struct error *error);

/* Returns 0, or ERROR_USAGE if the format needs an image that is missing, or takes none. */
int foreign_check_image(const struct foreign_request *request, const struct format *format, struct error *error);

#endif
