/*
 * Where a thread's path hangs below the path that started it. In the tree of
 * nodes, a mark (a node in a module of kind MODULE_THREAD) stands between the
 * two stacks, both in full:
 *
 *   main  start_workers  pthread_create  create_thread  clone3  MARK  clone3  start_thread  worker
 *   `------------- creating stack ---------------------------'        `--- the thread's own -----'
 *
 * What readers show of it is main start_workers pthread_create worker: of the
 * creating stack's innermost frames those behind the outermost ROLE_CREATE are
 * left out, or, without any such, the trailing ROLE_START; docs/definitions.md
 * has the rule. The thread's own start code is trimmed as at the top of a path.
 */
#ifndef PROFILE_THREAD_MARK_H
#define PROFILE_THREAD_MARK_H

#include "profile/profile.h"

enum { THREAD_CREATION_FRAMES = 8 }; /* how many innermost frames of a creating stack may be left out */

static inline bool thread_mark_is_at(const struct profile *profile, uint32_t location)
{
	return profile->modules[profile->locations[location].module].kind == MODULE_THREAD;
}

/* `node` is not the root. */
static inline bool thread_mark_is(const struct profile *profile, uint32_t node)
{
	return thread_mark_is_at(profile, profile->nodes[node].location);
}

/* Whether there can be any mark. */
bool thread_mark_any(const struct profile *profile);

/* The innermost frame that is shown of a creating stack. */
struct thread_creator {
	uint32_t node;   /* the root or another mark: nothing of the stack is left */
	uint32_t frames; /* of the node's location, so many are shown, the outermost first */
	uint32_t cut;    /* frames behind it, of all nodes, that are not */
};

/* Of the stack that ends at `mark`. `no_inlines`: an inlined function is no frame. */
struct thread_creator thread_mark_creator(const struct profile *profile, uint32_t mark, bool no_inlines);

#endif
