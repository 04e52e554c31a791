/* Empty versions of the hooks' functions that the rest of the runtime calls: for libcpprof-preload.so, which has no hooks. */
#include <cpprof/runtime.h>

#include "collect/agent/hooks/hooks.h"

struct hooks hooks;

void hooks_begin_recorded(void)
{
}

void hooks_thread_created(struct tally_node *creator)
{
	(void)creator;
}

struct tally_node *hooks_current(void)
{
	return NULL;
}

void hooks_thread_end(void)
{
}

void hooks_rewind(const struct hook_landing *landing)
{
	(void)landing;
}

void hooks_turn(bool on)
{
	(void)on;
}

void hooks_flush(void)
{
}

void hooks_unit_declared(uint32_t request, const char *unit, size_t bytes)
{
	(void)request;
	(void)unit;
	(void)bytes;
}

void hooks_labels_declared(uint32_t number, const char *text, size_t bytes)
{
	(void)number;
	(void)text;
	(void)bytes;
}

void hooks_finish(void)
{
}

void hooks_clear_end(void)
{
}

void hooks_sandboxed(void)
{
}

void hooks_leave_out(void (*leave_out)(const void *start, uint64_t bytes))
{
	(void)leave_out;
}

bool hooks_are_harmed(const struct machine_filter *filters)
{
	(void)filters;
	return false;
}

void hooks_stop_stamps(void)
{
}

void hooks_forked(void)
{
}

void hooks_named(uint32_t tid, const char *name, size_t bytes)
{
	(void)tid;
	(void)name;
	(void)bytes;
}

void hooks_total(const struct runtime_thread *thread)
{
	(void)thread;
}

void hooks_tick(uint32_t request, uint64_t hits, const void *context)
{
	(void)request;
	(void)hits;
	(void)context;
}

void tally_modules_changed(void)
{
}

void cpprof_event(uint64_t id, uint64_t value)
{
	(void)id;
	(void)value;
}
