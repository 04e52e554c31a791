/*
 * The causes for which a walk ended. One list defines the enum, the texts in the profile file and in `cpprof info`,
 * and the table in docs/unwinding.md. (name, whole, text); `whole`: the stack is complete.
 */
#ifndef UNWIND_CAUSE_H
#define UNWIND_CAUSE_H

#include <stdbool.h>

#define UNWIND_CAUSE_LIST(X)                                                                   \
	X(UNWIND_ROOT, true, "reached the root")                                               \
	X(UNWIND_ROOT_COMPLETED, true, "reached the root, completed from the target's memory") \
	X(UNWIND_ROOT_REMEMBERED, true, "reached the root, completed from an earlier sample")  \
	X(UNWIND_ROOT_FRAME_POINTER, true, "reached the root, partly without unwind rules")    \
	X(UNWIND_NO_USER_STACK, true, "no user stack: the kernel at exec or exit")             \
	X(UNWIND_NO_MODULE, false, "no module at the address")                                 \
	X(UNWIND_NO_TABLE, false, "the module has no unwind information or is unreadable")     \
	X(UNWIND_NO_RULE_AT_PC, false, "no unwind rule at the address")                        \
	X(UNWIND_BAD_RULE, false, "the unwind rule cannot be evaluated")                       \
	X(UNWIND_STACK_SHORT, false, "the copied stack is too short")                          \
	X(UNWIND_UNREADABLE, false, "unreadable memory")                                       \
	X(UNWIND_NO_PROGRESS, false, "the stack pointer does not grow")                        \
	X(UNWIND_DEPTH, false, "depth limit")                                                  \
	X(UNWIND_OTHER_ABI, false, "32-bit code")

enum unwind_cause {
#define X(name, whole, text) name,
	UNWIND_CAUSE_LIST(X)
#undef X
		UNWIND_CAUSE_COUNT
};

const char *unwind_cause_text(enum unwind_cause cause);
bool unwind_cause_whole(enum unwind_cause cause);

#endif
