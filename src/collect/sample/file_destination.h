/* The profile goes to a file: what `cpprof record` makes. */
#ifndef COLLECT_SAMPLE_FILE_DESTINATION_H
#define COLLECT_SAMPLE_FILE_DESTINATION_H

#include "collect/sample/destination.h"

struct writer;

struct file_destination {
	const char *path; /* the caller's; must outlive it */
	struct writer *writer;
	uint64_t bytes; /* written, once it is closed */
};

/* The destination that writes to `path`; it refers to *file. */
struct destination file_destination(struct file_destination *file, const char *path);

#endif
