/* Removes the frames and functions of a profile that no location has anymore, after locations got other frames. */
#ifndef PROFILE_COMPACT_H
#define PROFILE_COMPACT_H

#include "profile/profile.h"

/* Numbers frames and functions anew: their order stays, except that the frames follow the order of the locations. Returns 0 or ERROR_MEMORY,
 * after which the profile is unchanged. */
int profile_compact(struct profile *profile);

#endif
