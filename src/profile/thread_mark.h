/*
 * A mark is a node in a module of kind MODULE_THREAD. In the tree of nodes it separates the stack that created a
 * thread from the thread's own stack; both are recorded completely:
 *
 *   main  start_workers  pthread_create  create_thread  clone3  MARK  clone3  start_thread  worker
 *   `------------- creating stack ---------------------------'        `--- the thread's own -----'
 *
 * analyze/thread_creator.h defines what readers show of it.
 */
#ifndef PROFILE_THREAD_MARK_H
#define PROFILE_THREAD_MARK_H

#include "profile/profile.h"

static inline bool thread_mark_is_at(const struct profile *profile, uint32_t location)
{
	return profile->modules[profile->locations[location].module].kind == MODULE_THREAD;
}

/* `node` is not the root. */
static inline bool thread_mark_is(const struct profile *profile, uint32_t node)
{
	return thread_mark_is_at(profile, profile->nodes[node].location);
}

#endif
