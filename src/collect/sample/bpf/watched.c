#include "collect/sample/bpf/watched.h"

void bpf_watched_init(struct bpf_watched *watched, bool everything, bool no_children)
{
	*watched = (struct bpf_watched){ .everything = everything, .no_children = no_children };
	hash_map_init(&watched->pids);
}

void bpf_watched_release(struct bpf_watched *watched)
{
	hash_map_release(&watched->pids);
}

int bpf_watched_add(struct bpf_watched *watched, pid_t pid)
{
	return hash_map_put(&watched->pids, (uint64_t)pid, 1);
}

bool bpf_watched_has(const struct bpf_watched *watched, uint32_t pid)
{
	/* 0: it has no number in our pid namespace. */
	return pid != 0 && (watched->everything || hash_map_get(&watched->pids, pid) == 1);
}

static void on_map(void *context, const struct backend_map *map)
{
	const struct bpf_watched *watched = context;
	if (bpf_watched_has(watched, map->pid))
		watched->sink->map(watched->sink->context, map);
}

static void on_name(void *context, uint32_t pid, uint32_t tid, const char *name, bool is_exec, uint64_t time_ns)
{
	const struct bpf_watched *watched = context;
	if (bpf_watched_has(watched, pid))
		watched->sink->name(watched->sink->context, pid, tid, name, is_exec, time_ns);
}

/* Without memory for it, a child's later events are missing: that counts as one lost event. */
static void note_child(struct bpf_watched *watched, uint32_t pid, bool is_ours)
{
	if (hash_map_put(&watched->pids, pid, is_ours) < 0)
		watched->sink->lost_events(watched->sink->context, 1);
}

static void on_fork(void *context, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct bpf_watched *watched = context;
	bool is_left_out = pid != parent_pid && watched->no_children && !watched->everything;
	bool is_ours = bpf_watched_has(watched, parent_pid) && !is_left_out;
	/* A pid that is used again may become watched, or no longer be watched. */
	if (pid != parent_pid && !watched->everything && (is_ours || bpf_watched_has(watched, pid)))
		note_child(watched, pid, is_ours);
	watched->has_children |= is_ours && pid != parent_pid;
	if (is_ours)
		watched->sink->fork(watched->sink->context, parent_pid, pid, tid, time_ns);
}

static void on_exit(void *context, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	const struct bpf_watched *watched = context;
	if (bpf_watched_has(watched, pid))
		watched->sink->exit(watched->sink->context, pid, tid, time_ns);
}

/* The processes of lost events are unknown, so all losses are reported. */
static void on_lost_events(void *context, uint64_t events)
{
	const struct bpf_watched *watched = context;
	watched->sink->lost_events(watched->sink->context, events);
}

struct backend_sink bpf_watched_filter(struct bpf_watched *watched)
{
	return (struct backend_sink){
		.context = watched,
		.map = on_map,
		.name = on_name,
		.fork = on_fork,
		.exit = on_exit,
		.lost_events = on_lost_events,
	};
}
