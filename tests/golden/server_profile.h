/* A made profile of several processes: threads below what started them, control
 * groups, touched memory, and resources of other units than time. */
#ifndef TESTS_SERVER_PROFILE_H
#define TESTS_SERVER_PROFILE_H

#include "profile/profile.h"

/* Adds all but the description. Ends the program if memory is short. */
void server_profile_add(struct profile *profile);

#endif
