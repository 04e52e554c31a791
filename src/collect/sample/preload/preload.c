/*
 * The preload backend: a library inside the target counts and samples (runtime/), and
 * writes into memory that it shares with us. It needs no permission of anybody.
 *
 *   (1) The target finds the library and the memory by its environment; so do all
 *       programs that it starts, each process by itself.
 *   (2) Its code is read from /proc when it says that it has changed, and is loaded into
 *       the same memory, where the walks look it up; until then the target waits.
 *   (3) What it had written when it ended, however, is there.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/sample/backend.h"
#include "collect/sample/clock.h"
#include "collect/sample/preload/access.h"
#include "collect/sample/preload/channel.h"
#include "collect/sample/preload/code.h"
#include "collect/sample/preload/events.h"
#include "collect/sample/preload/requests.h"
#include "collect/sample/preload/slots.h"

enum { PRELOAD_VARIABLE, CHANNEL_PATH_VARIABLE, VARIABLES };
enum { UNSEEN_BYTES = 64 };

struct backend {
	struct backend_request request;
	struct resource_request resources[RESOURCE_REQUESTS_MAX];
	struct preload_channel *channel;
	struct preload_slots *slots;
	struct preload_events *events;
	struct code_loader *code;
	char *environment[VARIABLES + 1]; /* owned */
	char remarks[RESOURCE_REQUESTS_MAX][32];
	char unconnected[192];
	struct preload_sums sums; /* as of the last drain */
};

static bool preload_serves(const struct resource_row *row)
{
	return preload_can_count(row->counter);
}

static int preload_probe(const struct resource_request *request, bool *user_mode_only, struct error *error)
{
	char library[PATH_MAX];
	*user_mode_only = false;
	int result = preload_access_resource(request, error);
	return result < 0 ? result : preload_access_library(library, sizeof(library), error);
}

/* --- open and close --- */

static void preload_close(struct backend *backend)
{
	if (!backend)
		return;
	code_loader_free(backend->code);
	preload_events_free(backend->events);
	preload_slots_free(backend->slots);
	preload_channel_free(backend->channel);
	for (int i = 0; i < VARIABLES; i++)
		free(backend->environment[i]);
	free(backend);
}

/* Before what the user preloads: the first of several wins. */
static int make_environment(struct backend *backend, struct error *error)
{
	char library[PATH_MAX];
	const char *others = getenv("LD_PRELOAD");
	int result = preload_access_library(library, sizeof(library), error);
	if (result < 0)
		return result;
	bool has_others = others && *others;
	if (asprintf(&backend->environment[PRELOAD_VARIABLE], "LD_PRELOAD=%s%s%s", library, has_others ? ":" : "",
		     has_others ? others : "") < 0)
		backend->environment[PRELOAD_VARIABLE] = NULL;
	else if (asprintf(&backend->environment[CHANNEL_PATH_VARIABLE], CHANNEL_VARIABLE "=/proc/%d/fd/%d",
			  (int)getpid(), preload_channel_file(backend->channel)) < 0)
		backend->environment[CHANNEL_PATH_VARIABLE] = NULL;
	bool made = backend->environment[PRELOAD_VARIABLE] && backend->environment[CHANNEL_PATH_VARIABLE];
	return made ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

/* The program that is told of just now, or the one that has that number. */
static struct channel_process *find_process(void *context, uint32_t pid)
{
	struct backend *backend = context;
	struct preload_process *process = backend->events->teller;
	if (!process || process->pid != pid)
		process = preload_slots_find(backend->slots, pid);
	return process ? preload_slots_shared(backend->slots, process) : NULL;
}

/* Whether other backends do not measure all of it, whatever is permitted. */
static bool is_from_inside(const struct backend_request *request)
{
	bool inside = request->paused;
	for (size_t i = 0; i < request->resource_count; i++)
		inside |= counter_is_inside(request->resources[i].counter);
	return inside;
}

static int open_all(struct backend *backend, struct error *error)
{
	if (backend->request.command &&
	    preload_access_command(backend->request.command, is_from_inside(&backend->request), error) < 0)
		return error->code;
	backend->channel = preload_channel_new(&backend->request, error);
	if (!backend->channel || make_environment(backend, error) < 0)
		return error->code;
	struct channel *memory = preload_channel_memory(backend->channel);
	backend->slots = preload_slots_new(memory, error);
	if (!backend->slots)
		return error->code;
	for (uint32_t i = 0; i < memory->request_count; i++)
		backend->slots->keeps_accounts |= preload_unseen_concerns(memory->requests[i].counter);
	snprintf(backend->slots->starts.channel_path, sizeof(backend->slots->starts.channel_path), "%s",
		 strchr(backend->environment[CHANNEL_PATH_VARIABLE], '=') + 1);
	backend->events = preload_events_new(backend->slots, &backend->request);
	if (!backend->events)
		return error_set(error, ERROR_MEMORY, "out of memory");
	backend->code = preload_code_loader_new(memory, find_process, backend, error);
	return backend->code ? 0 : error->code;
}

static struct backend *preload_open(const struct backend_request *request, struct error *error)
{
	struct backend *backend = calloc(1, sizeof(*backend));
	if (!backend) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	backend->request = *request;
	memcpy(backend->resources, request->resources, request->resource_count * sizeof(backend->resources[0]));
	backend->request.resources = backend->resources;
	if (open_all(backend, error) < 0) {
		preload_close(backend);
		return NULL;
	}
	return backend;
}

static char *const *preload_environment(const struct backend *backend)
{
	return backend->environment;
}

/* It is the target that connects. */
static int preload_attach(struct backend *backend, pid_t tid, bool on_exec, struct error *error)
{
	(void)backend, (void)tid;
	if (on_exec)
		return 1;
	return error_set(error, ERROR_UNSUPPORTED,
			 "the preload backend is loaded into commands that it starts, not into what runs already");
}

static int preload_start(struct backend *backend, struct error *error)
{
	(void)backend, (void)error;
	return 0;
}

static int preload_load(struct backend *backend, uint32_t pid, const struct backend_code *code, size_t count)
{
	if (backend->events->holds_code)
		return 0;
	return code_loader_load(backend->code, pid, code, count);
}

/* --- drain --- */

static size_t preload_descriptors(const struct backend *backend, struct pollfd *descriptors, size_t limit)
{
	const int all[] = { preload_channel_bell(backend->channel), backend->slots->deaths };
	const size_t count = sizeof(all) / sizeof(all[0]);
	for (size_t i = 0; i < count && i < limit; i++)
		descriptors[i] = (struct pollfd){ .fd = all[i], .events = POLLIN };
	return count;
}

/* What a thread tells, its ring holds in order; between threads the order is that of the
 * moments when they were told: nothing needs to settle. What comes later rings. */
static bool preload_drain(struct backend *backend, uint64_t until_ns, const struct backend_sink *sink)
{
	bool all = until_ns == UINT64_MAX;
	uint64_t lost_events = backend->sums.lost_events;
	preload_channel_hear(backend->channel);
	preload_events_drain(backend->events, all, sink);
	if (all) {
		backend->sums = preload_slots_sums(backend->slots, clock_now_ns(CLOCK_MONOTONIC));
		if (backend->sums.lost_events > lost_events)
			sink->lost_events(sink->context, backend->sums.lost_events - lost_events);
	}
	return false;
}

static bool preload_wants_flush(const struct backend *backend)
{
	return backend->events->wants_flush;
}

static void preload_flushed(struct backend *backend)
{
	preload_events_flushed(backend->events);
}

/* --- the end --- */

static void preload_stop(struct backend *backend)
{
	struct channel *memory = preload_channel_memory(backend->channel);
	preload_slots_close_accounts(backend->slots);
	__atomic_store_n(&memory->is_over, 1, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++) {
		if (__atomic_load_n(&memory->processes[i].state, __ATOMIC_RELAXED) == CHANNEL_FREE)
			continue;
		preload_channel_wake(&memory->processes[i].code_loaded);
		preload_channel_wake(&memory->processes[i].flush_done);
	}
}

static void preload_counts(const struct backend *backend, size_t request, uint64_t *total, uint64_t *lost)
{
	*total = preload_gticks_of(backend->resources[request].row, backend->sums.totals[request]);
	*lost = backend->sums.lost[request];
}

/* Frequent floating point exceptions are estimated in part. */
static const char *preload_remark(const struct backend *backend, size_t request)
{
	const uint64_t total = backend->sums.totals[request], estimated = backend->sums.estimated[request];
	char *text = ((struct backend *)backend)->remarks[request];
	const double percent = 100;
	if (backend->resources[request].counter != COUNTER_FP || total == 0)
		return NULL;
	if (estimated == 0)
		return "exact";
	double share = estimated < total ? percent * (double)estimated / (double)total : percent;
	snprintf(text, sizeof(backend->remarks[0]), "%.*f %% estimated", share < 1 ? 2 : 0, share);
	return text;
}

struct note {
	uint64_t count;
	const char *sentence; /* with a place for the count */
};

static void note_troubles(const struct backend *backend, void (*add)(void *context, const char *key, const char *text),
			  void *context)
{
	static const struct {
		uint32_t trouble;
		const char *sentence;
	} troubles[] = {
		{ CHANNEL_TROUBLE_SIGNAL,
		  "the program took the signal of the timers for itself, or the kernel did not give it: time is not "
		  "sampled there" },
		{ CHANNEL_TROUBLE_FPE,
		  "the program handles SIGFPE or SIGTRAP behind our back: floating point exceptions may be missing" },
		{ CHANNEL_TROUBLE_NEW, "operator new of an allocator of the program's own is not seen" },
		{ CHANNEL_TROUBLE_MALLOC,
		  "the program has a malloc of its own: its allocations are not seen from inside; --backend bpf sees "
		  "them" },
	};
	for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++)
		if (backend->sums.troubles & troubles[i].trouble)
			add(context, "warning", troubles[i].sentence);
}

/* What of the transfers was not seen, of a request; false: there is nothing to be said, or an
 * earlier request says it. */
static bool say_unseen(const struct backend *backend, size_t request, char *text, size_t bytes)
{
	char earlier[UNSEEN_BYTES];
	if (!preload_unseen_say(&backend->sums.unseen, preload_request_of(&backend->resources[request]).counter, text,
				bytes))
		return false;
	for (size_t i = 0; i < request; i++)
		if (preload_unseen_say(&backend->sums.unseen, preload_request_of(&backend->resources[i]).counter,
				       earlier, sizeof(earlier)) &&
		    strcmp(earlier, text) == 0)
			return false;
	return true;
}

static void note_unseen(const struct backend *backend, void (*add)(void *context, const char *key, const char *text),
			void *context)
{
	char share[UNSEEN_BYTES], text[256];
	for (size_t i = 0; i < backend->request.resource_count; i++) {
		if (!say_unseen(backend, i, share, sizeof(share)))
			continue;
		snprintf(text, sizeof(text),
			 "%s were not seen: they are the C library's own, for its streams (fread, fgets, getline, "
			 "printf...), or of system calls made directly; the bpf backend, as root, sees them",
			 share);
		add(context, "warning", text);
	}
}

static bool preload_shortcoming(const struct backend *backend, char *text, size_t bytes)
{
	char share[UNSEEN_BYTES];
	for (size_t i = 0; i < backend->request.resource_count; i++) {
		if (!say_unseen(backend, i, share, sizeof(share)))
			continue;
		snprintf(text, bytes, "%s not seen: C library's streams, or direct system calls", share);
		return true;
	}
	uint64_t ticks = preload_ticks_short_of(&backend->request);
	if (ticks > 0)
		snprintf(text, bytes, "at most %" PRIu64 " samples a second of time, with several hits each", ticks);
	return ticks > 0;
}

static const char *preload_unconnected(const struct backend *backend)
{
	const struct preload_starts *starts = &backend->slots->starts;
	char *text = ((struct backend *)backend)->unconnected;
	if (backend->sums.not_connected == 0 && backend->slots->had_any)
		return NULL;
	if (starts->reason)
		snprintf(text, sizeof(backend->unconnected), "'%s' was not seen: %s", starts->reason_name,
			 starts->reason);
	else
		snprintf(text, sizeof(backend->unconnected), "'%s' did not load the library", starts->last);
	return text;
}

static bool preload_has_windows(const struct backend *backend)
{
	return backend->sums.troubles & CHANNEL_TROUBLE_WINDOWS;
}

static void preload_notes(const struct backend *backend, void (*add)(void *context, const char *key, const char *text),
			  void *context)
{
	const struct preload_sums *sums = &backend->sums;
	const struct channel *memory = preload_channel_memory(backend->channel);
	const struct note notes[] = {
		{ !backend->slots->had_any, "the program never loaded the preload backend's library (%" PRIu64
					    " in all): does something on the way "
					    "clear LD_PRELOAD from the environment?" },
		{ memory->processes_refused,
		  "%" PRIu64 " processes found no room and were not watched: there is room for 1024 at a time" },
		{ sums->unwatched,
		  "%" PRIu64 " threads found no room and were not watched: there is room for 2048 at a time" },
		{ sums->late_ticks,
		  "%" PRIu64
		  " ticks came late, since the program's own alternate signal stack was too small for them" },
		{ preload_ticks_short_of(&backend->request),
		  "time is sampled at most %" PRIu64
		  " times a second, less often than was asked for: each sample stands for as many hits as its time has "
		  "intervals" },
		{ sums->broken_rings,
		  "%" PRIu64 " threads' samples were damaged by the program itself: they are missing from there on" },
	};
	char text[512];
	snprintf(text, sizeof(text), "%" PRIu64 " unwind rows of 8 bytes, and %" PRIu64 " bytes of index",
		 code_loader_rows(backend->code), code_loader_index_bytes(backend->code));
	add(context, "in the target", text);
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		if (notes[i].count == 0)
			continue;
		snprintf(text, sizeof(text), notes[i].sentence, notes[i].count);
		add(context, "warning", text);
	}
	snprintf(text, sizeof(text),
		 "%" PRIu64 " programs that were started did not load the preload backend's library, and are not "
		 "recorded (the last: '%s'): statically linked or set-user-ID ones cannot, nor those that are started "
		 "without LD_PRELOAD in their "
		 "environment, as another user, in another pid namespace, or by another cpprof; the bpf backend sees "
		 "them",
		 sums->not_connected, backend->slots->starts.last);
	if (sums->not_connected > 0)
		add(context, "warning", text);
	note_troubles(backend, add, context);
	note_unseen(backend, add, context);
}

const struct backend_vtable backend_preload = {
	.name = "preload",
	.only_commands = true,
	.serves = preload_serves,
	.probe = preload_probe,
	.open = preload_open,
	.attach = preload_attach,
	.load_code = preload_load,
	.environment = preload_environment,
	.start = preload_start,
	.descriptors = preload_descriptors,
	.drain = preload_drain,
	.wants_flush = preload_wants_flush,
	.flushed = preload_flushed,
	.stop = preload_stop,
	.counts = preload_counts,
	.remark = preload_remark,
	.notes = preload_notes,
	.shortcoming = preload_shortcoming,
	.unconnected = preload_unconnected,
	.has_windows = preload_has_windows,
	.close = preload_close,
};
