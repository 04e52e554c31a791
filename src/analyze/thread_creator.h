/*
 * Where a thread's path hangs below the path that started it. Of the stack
 * above a mark (profile/thread_mark.h), readers leave out the frames behind
 * the outermost ROLE_CREATE or, without any such, the trailing ROLE_START:
 *
 *   main  start_workers  pthread_create  create_thread  clone3  MARK
 *   `--------- shown ------------------'  `------ left out ---'
 *
 * docs/definitions.md has the rule.
 */
#ifndef ANALYZE_THREAD_CREATOR_H
#define ANALYZE_THREAD_CREATOR_H

#include "profile/profile.h"

enum { THREAD_CREATION_FRAMES = 8 }; /* at most so many innermost frames of a creating stack are left out */

/* The innermost frame that is shown of a creating stack. */
struct thread_creator {
	uint32_t node;   /* the root or another mark: nothing of the stack is left */
	uint32_t frames; /* of the node's location, so many are shown, the outermost first */
	uint32_t cut;    /* frames behind it, of all nodes, that are not */
};

/* Returns the creator of the thread that starts at `mark`. `no_inlines`: an inlined function is no frame. */
struct thread_creator thread_creator_of(const struct profile *profile, uint32_t mark, bool no_inlines);

#endif
