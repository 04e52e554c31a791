/* Processes that begin without a fork that the C library reports. */
#include <sched.h>
#include <stdarg.h>
#include <unistd.h>

#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"

INTERPOSED pid_t _Fork(void)
{
	pid_t pid = REAL(_Fork)();
	if (pid == 0)
		runtime_forked();
	return pid;
}

/* --- clone --- */

/* Where the creator of a process was. */
struct creation {
	struct sample_record creator;
	uint64_t frames[WALK_FRAMES]; /* the creator's frames, directly behind its record */
};

/* The arguments of the child's first function. The child has a copy of its parent's memory, and so of this. */
struct cloned {
	int (*run)(void *argument);
	void *argument;
	struct creation *creation; /* NULL: not known */
};

/* Returns NULL if the process is not recorded, its stack cannot be walked, or there is no memory. */
static struct creation *describe_creation(void)
{
	struct runtime_thread *thread = runtime_enter();
	if (!thread)
		return NULL;
	struct creation *creation = runtime_map(sizeof(*creation));
	if (creation && !runtime_describe_creator(thread, &creation->creator, creation->frames)) {
		runtime_unmap(creation, sizeof(*creation));
		creation = NULL;
	}
	runtime_leave(thread);
	return creation;
}

static void release_creation(struct creation *creation)
{
	if (creation)
		runtime_unmap(creation, sizeof(*creation));
}

/* Reports recognize this frame by the function's name, and leave it out. */
static __attribute__((noinline)) int cpprof_clone_main(void *context)
{
	const struct cloned *cloned = context;
	runtime_cloned(cloned->creation ? &cloned->creation->creator : NULL);
	release_creation(cloned->creation);
	return cloned->run(cloned->argument);
}

INTERPOSED int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
	struct cloned cloned = { .run = run, .argument = argument };
	va_list more;
	va_start(more, argument);
	pid_t *parent_tid = va_arg(more, pid_t *);
	void *tls = va_arg(more, void *);
	pid_t *child_tid = va_arg(more, pid_t *);
	va_end(more);
	if (flags & CLONE_VM || !run)
		return REAL(clone)(run, stack, flags, argument, parent_tid, tls, child_tid);
	cloned.creation = describe_creation();
	int pid = REAL(clone)(cpprof_clone_main, stack, flags, &cloned, parent_tid, tls, child_tid);
	release_creation(cloned.creation);
	return pid;
}
