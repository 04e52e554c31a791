/* Distinguishes the files that `cpprof gprof` reads, by their first bytes. */
#ifndef GPROF_FILE_KIND_H
#define GPROF_FILE_KIND_H

enum file_kind {
	FILE_OTHER, /* or not readable */
	FILE_GMON,
	FILE_IMAGE,  /* an ELF file */
	FILE_PROFILE /* cpprof.data, or a tally */
};

enum file_kind file_kind_of(const char *path);

#endif
