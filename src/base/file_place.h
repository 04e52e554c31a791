/*
 * The place of an output file, found and used without following the symbolic links of others, which would let them choose
 * the file that we replace. Also the mode and the owner of new files: a recording contains command lines and names.
 *
 *   file_place_find -> file_place_create..., renameat(place.folder, ...) -> file_place_release
 */
#ifndef BASE_FILE_PLACE_H
#define BASE_FILE_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct file_place {
	int folder; /* a descriptor of the folder (O_PATH), for the calls with "at"; owned */
	char *name; /* the file's name there, which is no link; "": the path is that of the folder. Owned */
	char *path; /* for messages: as given or, if it leads through a link, to where that leads. Owned */
};

/* Finds the place of a file, which need not exist. Follows a symbolic link only if it belongs to us or to root, and one
 * that leads to the folder also if we are not root and not everybody may make links where it is. Returns 0;
 * ERROR_PERMISSION for other links; or another negative error. The caller releases the place after success. */
int file_place_find(struct file_place *place, const char *path, struct error *error);
void file_place_release(struct file_place *place);

/* Returns whether the path names one of our open descriptors, as /dev/stdout and /dev/fd/3 do: such a path has no place. */
bool file_place_is_descriptor(const char *path);

/* Returns whether files of this user are ours: the effective user, root or, where root runs by sudo, the user who called
 * sudo. */
bool file_place_is_ours(uid_t owner);

/* Where root runs by sudo, sets the user who called it and returns true. */
bool file_place_caller(uid_t *user, gid_t *group);

/* Creates the file `name` in the place's folder, which must not exist, with `flags` such as O_WRONLY. Only its owner may
 * read it: us, or the user who called sudo. Returns a descriptor, or -1 with errno set. */
int file_place_create(const struct file_place *place, const char *name, int flags);

/* The same for a file that will be renamed to the place's name when it is ready. Removes those that killed processes have
 * left there. Sets *name to its temporary name, which
 * the caller frees. Returns a descriptor, or -1 with errno set (EEXIST: too many are left there), after which *name is
 * NULL. */
int file_place_create_temporary(const struct file_place *place, int flags, char **name);

#endif
