/*
 * Finds the functions that tail calls removed from the paths of a profile (profile/tail_calls.h), in the code of its modules.
 *
 *   pairs of a call site and the frame below it  --jail/tail_calls.h-->  targets and jumps  --tail_search.h-->  steps
 *
 * The addresses of the steps must have names before they can become rows, so the work has two parts: tail_frames_find adds locations
 * without names, before the naming; tail_frames_add makes the rows, after it. A module that cannot be read has no tail calls.
 */
#ifndef FRAMES_TAIL_FRAMES_H
#define FRAMES_TAIL_FRAMES_H

#include "frames/functions.h"
#include "frames/jail/jail.h"
#include "frames/options.h"
#include "profile/profile.h"

struct tail_frames;

/* Returns an empty one, or NULL: no memory. */
struct tail_frames *tail_frames_new(struct profile *profile, const struct frames_options *options);
void tail_frames_free(struct tail_frames *frames); /* NULL is fine */

/* Each returns 0, ERROR_MEMORY or ERROR_LIMIT. */
int tail_frames_find(struct tail_frames *frames);
int tail_frames_add(struct tail_frames *frames, struct functions *functions);

/* Hands what is left of the time for all files to the next jail, and a signal that asked to end. */
void tail_frames_pass_limits(const struct tail_frames *frames, struct jail *next);

#endif
