/* The profile goes to a file: what `cpprof record` makes. */
#ifndef RECORD_FILE_DESTINATION_H
#define RECORD_FILE_DESTINATION_H

#include "record/destination.h"

struct writer;

struct file_destination {
	const char *path; /* the caller's; must outlive it */
	struct writer *writer;
	uint64_t bytes; /* written, once it is closed */
};

/* The destination that writes to `path`; it refers to *file. */
struct destination file_destination(struct file_destination *file, const char *path);

#endif
