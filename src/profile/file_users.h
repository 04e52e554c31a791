/*
 * The users whose processes chose the paths in a profile. The path of a source file is from debug information, so whoever made the program
 * chose it, and the path of a module leads to a file that the process could map. A reader opens such a file only if every user whose
 * processes executed its code may read it (base/path.h).
 *
 * Life cycle: starts as {0}; file_users_find or file_users_open for each file; file_users_release. The first call goes through the whole
 * profile. Strings may be added to the profile meanwhile.
 */
#ifndef PROFILE_FILE_USERS_H
#define PROFILE_FILE_USERS_H

#include "base/path.h"
#include "profile/profile.h"

struct file_users {
	const struct profile *profile; /* that `of_path` describes; not owned */
	uint64_t *of_path;             /* per string: the users of the file's code, as bits of `users`; owned */
	size_t count;                  /* of these strings */
	struct path_users users;       /* all of the profile */
};

/* Sets the users whose processes executed code of a source file or a module. A file that the profile does not name, as one of an
 * instruction, is of a program that any of the profile's users may have made. Returns 0 or ERROR_MEMORY. */
int file_users_find(struct file_users *files, const struct profile *profile, const char *path,
		    struct path_users *users);

/* The remedy where a file is refused with EACCES. */
#define FILE_USERS_REMEDY "let the users of the recorded processes read it; root needs them to be known"

/* Opens a file for reading that these users may read. Returns a descriptor, or -1 with errno set. */
int file_users_open(struct file_users *files, const struct profile *profile, const char *path);

/* The same for a single file. */
int file_users_open_once(const struct profile *profile, const char *path);

void file_users_release(struct file_users *files);

#endif
