/* The destination of `cpprof record`: writes the profile to a file. */
#ifndef COLLECT_SAMPLE_FILE_DESTINATION_H
#define COLLECT_SAMPLE_FILE_DESTINATION_H

#include "collect/sample/destination.h"

struct writer;

struct file_destination {
	const char *path; /* owned by the caller; must outlive the destination */
	struct writer *writer;
	uint64_t bytes; /* size of the file, once it is closed */
};

/* Returns the destination that writes to `path`; it refers to *file. */
struct destination file_destination(struct file_destination *file, const char *path);

#endif
