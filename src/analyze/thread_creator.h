/*
 * Finds the frame below which a thread's path is shown, in the stack that started the thread. Above a mark
 * (profile/thread_mark.h), readers leave out the frames inside the outermost ROLE_CREATE or, if there is none, the
 * innermost frames that are ROLE_START:
 *
 *   main  start_workers  pthread_create  create_thread  clone3  MARK
 *   `--------- shown ------------------'  `------ left out ---'
 *
 * docs/definitions.md defines the rule.
 */
#ifndef ANALYZE_THREAD_CREATOR_H
#define ANALYZE_THREAD_CREATOR_H

#include "profile/profile.h"

enum { THREAD_CREATION_FRAMES = 8 }; /* limit of the innermost frames that are left out */

/* The innermost frame of a creating stack that is shown. */
struct thread_creator {
	uint32_t node;   /* its node; the root or another mark: no frame of the stack is shown */
	uint32_t frames; /* number of frames of the node's location that are shown, the outermost first */
	uint32_t cut;    /* number of frames, of all nodes, that are left out */
};

/* Returns the creator of the thread that starts at `mark`. With `no_inlines`, inlined functions are not frames; without
 * `native_frames`, the interpreter's own frames above an interpreted function are none. */
struct thread_creator thread_creator_of(const struct profile *profile, uint32_t mark, bool no_inlines,
					bool native_frames);

#endif
