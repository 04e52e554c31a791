/*
 * The users of a profile's processes, as far as the reader of its file may believe them. They decide which source files a reader opens
 * (profile/file_users.h).
 */
#ifndef PROFILE_FILE_PROCESS_USERS_H
#define PROFILE_FILE_PROCESS_USERS_H

#include "profile/profile.h"

/* For a profile from a file. `owner`: its owner's user id plus 1; 0: not known. The users stay where the owner is ours (base/file_place.h).
 * Another owner has written what the file contains, so all processes become this owner's. The users become unknown where the owner is, or
 * where another machine made the recording. */
void process_users_limit(struct profile *profile, uint32_t owner);

#endif
