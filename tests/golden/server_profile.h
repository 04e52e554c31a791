/* A synthetic profile of several processes: threads below the paths that created them, control groups, touched
 * memory, and resources with other units than time. */
#ifndef TESTS_SERVER_PROFILE_H
#define TESTS_SERVER_PROFILE_H

#include "profile/profile.h"

/* Adds everything except the notes and times. Exits with status 1 if memory is short. */
void server_profile_add(struct profile *profile);

#endif
