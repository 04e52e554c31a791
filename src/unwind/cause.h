/*
 * The causes for which a walk ended. One list defines the enum, the texts in the profile file and in `cpprof info`,
 * and the table in docs/unwinding.md. (name, kind, text).
 */
#ifndef UNWIND_CAUSE_H
#define UNWIND_CAUSE_H

#include <stdbool.h>

enum unwind_cause_kind {
	CAUSE_WHOLE,     /* the path reaches its root */
	CAUSE_COMPLETED, /* it does so only with data from outside the copied stack */
	CAUSE_GUESSED,   /* it reaches its root, but a step had no rule: a frame may be missing there */
	CAUSE_BROKEN     /* it does not reach its root */
};

#define UNWIND_CAUSE_LIST(X)                                                                              \
	X(UNWIND_ROOT, CAUSE_WHOLE, "reached the root")                                                   \
	X(UNWIND_ROOT_COMPLETED, CAUSE_COMPLETED, "reached the root, completed from the target's memory") \
	X(UNWIND_ROOT_REMEMBERED, CAUSE_COMPLETED, "reached the root, completed from an earlier sample")  \
	X(UNWIND_ROOT_GENERATED, CAUSE_WHOLE, "reached the root through generated code with names")       \
	X(UNWIND_ROOT_NAMELESS, CAUSE_GUESSED, "reached the root through generated code without names")   \
	X(UNWIND_ROOT_FRAME_POINTER, CAUSE_GUESSED, "reached the root, partly without unwind rules")      \
	X(UNWIND_NO_USER_STACK, CAUSE_WHOLE, "no user stack: the kernel at exec or exit")                 \
	X(UNWIND_NO_MODULE, CAUSE_BROKEN, "no module at the address")                                     \
	X(UNWIND_NO_TABLE, CAUSE_BROKEN, "the module has no unwind information or is unreadable")         \
	X(UNWIND_NO_RULE_AT_PC, CAUSE_BROKEN, "no unwind rule at the address")                            \
	X(UNWIND_HASKELL, CAUSE_BROKEN, "Haskell code, whose frames are on another stack")                \
	X(UNWIND_NO_GOROUTINE, CAUSE_BROKEN, "Go's runtime, for a goroutine that is not known")           \
	X(UNWIND_NO_FRAME, CAUSE_BROKEN, "generated code without a frame pointer")                        \
	X(UNWIND_NO_CALLER, CAUSE_BROKEN, "the innermost function has the return address 0")              \
	X(UNWIND_BAD_RULE, CAUSE_BROKEN, "the unwind rule cannot be evaluated")                           \
	X(UNWIND_STACK_SHORT, CAUSE_BROKEN, "the copied stack is too short")                              \
	X(UNWIND_UNREADABLE, CAUSE_BROKEN, "unreadable memory")                                           \
	X(UNWIND_NO_PROGRESS, CAUSE_BROKEN, "the stack pointer does not grow")                            \
	X(UNWIND_DEPTH, CAUSE_BROKEN, "depth limit")                                                      \
	X(UNWIND_INTERPRETER, CAUSE_BROKEN, "the interpreter's frames could not be read")                 \
	X(UNWIND_OTHER_ABI, CAUSE_BROKEN, "32-bit code")

enum unwind_cause {
#define X(name, kind, text) name,
	UNWIND_CAUSE_LIST(X)
#undef X
		UNWIND_CAUSE_COUNT
};

const char *unwind_cause_text(enum unwind_cause cause);
enum unwind_cause_kind unwind_cause_kind(enum unwind_cause cause);
/* Returns whether such a path reaches its root. */
static inline bool unwind_cause_whole(enum unwind_cause cause)
{
	return unwind_cause_kind(cause) != CAUSE_BROKEN;
}

/* Returns whether such a walk followed its stack to the root, without data from elsewhere or a guess. */
static inline bool unwind_cause_is_root(enum unwind_cause cause)
{
	return cause == UNWIND_ROOT || cause == UNWIND_ROOT_NAMELESS;
}

#endif
