/*
 * Copies rows from one profile to another, with their texts. A row's ids of other rows (such as a frame's function) are copied as they are:
 * the caller must have set them to ids of the other profile.
 */
#ifndef PROFILE_COPY_H
#define PROFILE_COPY_H

#include <stdint.h>

#include "profile/profile.h"

/* Each returns the new id, or ERROR_MEMORY or ERROR_LIMIT. */
int64_t profile_copy_text(struct profile *to, const struct profile *from, uint32_t text);
int64_t profile_copy_resource(struct profile *to, const struct profile *from, struct profile_resource row);
int64_t profile_copy_process(struct profile *to, const struct profile *from, struct profile_process row);
int64_t profile_copy_thread(struct profile *to, const struct profile *from, struct profile_thread row);
int64_t profile_copy_module(struct profile *to, const struct profile *from, struct profile_module row);
int64_t profile_copy_function(struct profile *to, const struct profile *from, struct profile_function row);
int64_t profile_copy_frame(struct profile *to, const struct profile *from, struct profile_frame row);

#endif
