/* The author of an open file: the user who alone can have written it. */
#ifndef BASE_FILE_AUTHOR_H
#define BASE_FILE_AUTHOR_H

#include <stdint.h>
#include <sys/stat.h>

/* Returns the number of the user who alone can have written it, plus 1; 0: others can, too. An
 * ACL shows in the bits of the group. */
static inline uint64_t file_author(int fd)
{
	struct stat status;
	return fstat(fd, &status) == 0 && !(status.st_mode & (S_IWGRP | S_IWOTH)) ? (uint64_t)status.st_uid + 1 : 0;
}

#endif
