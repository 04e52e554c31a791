/*
 * The place of an output file, found and used without following the symbolic links of others, which
 * would let them choose the file that we replace. Also the mode and the owner of new files: a
 * recording contains command lines and names.
 *
 *   file_place_find -> file_place_create..., renameat(place.folder, ...) -> file_place_release
 */
#ifndef BASE_FILE_PLACE_H
#define BASE_FILE_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

struct file_place {
	int folder; /* a descriptor of the folder (O_PATH), for the calls with "at"; owned */
	char *name; /* the file's name there, which is no link; "": the path leads to the folder. Owned */
	char *path; /* for messages: as given or, if it leads through a link, to where that leads. Owned */
};

/* Finds the place of a file, which need not exist. Follows a symbolic link only if it belongs to us or to root, and one
 * that leads to the folder also if we are not root and not everybody may make links where it is. Returns 0;
 * ERROR_PERMISSION for other links; or another negative error. The caller releases the place after success. */
int file_place_find(struct file_place *place, const char *path, struct error *error);
void file_place_release(struct file_place *place);

/* Returns whether the path names one of our open descriptors, as /dev/stdout and /dev/fd/3 do:
 * such a path has no place. */
bool file_place_is_descriptor(const char *path);

/* Returns whether files of this user are ours: the effective user, root or, where root runs by
 * sudo, the user who called sudo. */
bool file_place_is_ours(uid_t owner);

/* Where root runs by sudo, sets the user who called it and returns true. */
bool file_place_caller(uid_t *user, gid_t *group);

/* Creates the file `name` in the place's folder, which must not exist, with `flags` such as
 * O_WRONLY. Only its owner may read it: us, or the user who called sudo. Returns a descriptor,
 * or -1 with errno set. */
int file_place_create(const struct file_place *place, const char *name, int flags);

/* The same for a file that will be renamed to the place's name when it is ready. Removes those
 * that killed processes have left there. Sets *name to its temporary name, which the caller
 * frees. Returns a descriptor, or -1 with errno set (EEXIST: too many are left there), after
 * which *name is NULL. */
int file_place_create_temporary(const struct file_place *place, int flags, char **name);

/*
 * The rule of every file that a user names as an output (-o). Finds its place, and returns a descriptor to write to:
 *
 *   a regular file, or none   a new file under a temporary name, which *temporary gets; file_place_publish gives it its name
 *   a device, a FIFO          it is opened as it is, unless it is a disk or a FIFO of another user; *temporary is NULL
 *   /dev/stdout, /dev/fd/3    the same; they have no place
 *
 * `mode`: of the new file, for the umask to limit: 0600 where its contents concern its owner
 * alone, or 0666. With 0666, a file of ours that is replaced gives its mode to the new file. Returns
 * a descriptor or a negative error, with `error` set; the caller releases the place, also after an
 * error.
 */
int file_place_open(struct file_place *place, const char *path, mode_t mode, char **temporary, struct error *error);

/* The same for a file that several processes append to at the same time. It is never replaced;
 * one of another user in a folder that everybody may write is refused. The place is only used
 * within the call. */
int file_place_append(const char *path, mode_t mode, struct error *error);

/* Refuses a place whose output would go elsewhere than a user expects: a folder, a disk, a FIFO
 * of another user. Sets *exists. */
int file_place_check(const struct file_place *place, bool *exists, struct stat *status, struct error *error);

/* Renames the file to its place's name, and frees *temporary, which becomes NULL; does nothing
 * if that is NULL. Returns 0 or -1 with errno set. */
int file_place_publish(const struct file_place *place, char **temporary);

/* Removes the file instead, if there is one. */
void file_place_discard(const struct file_place *place, char **temporary);

#endif
