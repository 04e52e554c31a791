#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/agent.h"
#include "cmd/message.h"
#include "cmd/store_add.h"
#include "collect/sample/clock.h"
#include "collect/sample/state/proc.h"
#include "render/render.h"

static const uint64_t NS_PER_S = 1000000000, NS_PER_MS = 1000000;
/* The wait after failures: 1 s, 2 s, 4 s, ... And that for files which the store refused. */
static const uint64_t AGAIN_MOST_NS = 60 * (uint64_t)1000000000, KEPT_AGAIN_NS = 600 * (uint64_t)1000000000;

/* How often the memory of the recorder is looked at. A slice has at least this part of its length. */
static const uint64_t LOOK_NS = 5 * (uint64_t)1000000000;
enum { EARLIEST_PART = 4 };

/* The time that the additions of all files may take after a stop and the end of the last slice. The service manager waits longer. */
static const uint64_t ADD_GRACE_NS = 10 * (uint64_t)1000000000;

/* --- messages --- */

/* Prints a child's messages, unless they are those that were printed last: a full disk is one line, not one for each slice. */
static void print_text(struct agent_slices *slices, enum agent_failure kind, const char *text)
{
	char **last = &slices->last_text[kind];
	if (!*text || (*last && strcmp(*last, text) == 0))
		return;
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");
		char *copy = strndup(line, length);
		render_safe_text(stderr, copy ? copy : "cpprof agent: out of memory");
		fputc('\n', stderr);
		free(copy);
		line += length + (line[length] == '\n');
	}
	free(*last);
	*last = strdup(text);
}

/* --- the queue --- */

static const struct slice *slice_in(const struct agent_slices *slices, enum slice_state state)
{
	for (size_t i = 0; i < slices->count; i++)
		if (slices->queue[i].state == state)
			return &slices->queue[i];
	return NULL;
}

static void enter(struct slice *slice, enum slice_state state, uint64_t now_ns)
{
	slice->state = state;
	slice->began_ns = now_ns;
}

static void ask_to_end(struct slice *slice, uint64_t now_ns)
{
	slice->is_asked = true;
	kill(slice->job.pid, SIGTERM);
	if (slice->state == SLICE_SAMPLING)
		enter(slice, SLICE_ENDING, now_ns);
}

static void release_slice(struct slice *slice)
{
	if (slice->made)
		munmap(slice->made, sizeof(*slice->made));
	free(slice->path);
	*slice = (struct slice){ 0 };
}

/* --- recording --- */

struct recording {
	const struct agent_slices *slices;
	const struct slice *slice;
};

static int record_work(const void *context)
{
	const struct recording *recording = context;
	const struct agent_slices *slices = recording->slices;
	struct invocation invocation = { .command = &command_record };
	struct agent_words words;
	struct error error = { 0 };
	agent_metrics_leave(slices->metrics);
	agent_settings_record_words(slices->settings, recording->slice->path, &words);
	if (words.failed || options_parse(&invocation, (int)words.count, words.items, &error) < 0)
		return failure(&invocation, "%s", error.message[0] ? error.message : error_text(ERROR_MEMORY));
	return record_slice(&invocation, recording->slice->made);
}

/* Sets a name that orders the files by their times and that no other file has. */
static int name_slice(const struct agent_slices *slices, struct slice *slice)
{
	uint64_t ms = clock_now_ns(CLOCK_REALTIME) / NS_PER_MS;
	char *path = NULL;
	do {
		free(path);
		if (asprintf(&path, "%s/" SLICE_BEGINNING "%013" PRIu64 SLICE_SUFFIX, slices->settings->spool, ms++) <
		    0)
			return ERROR_MEMORY;
	} while (access(path, F_OK) == 0);
	slice->path = path;
	return 0;
}

static int start_recorder(struct agent_slices *slices, struct slice *slice, struct error *error)
{
	*slice = (struct slice){ .state = SLICE_STARTING };
	void *made = mmap(NULL, sizeof(*slice->made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED || name_slice(slices, slice) < 0)
		return error_memory(error);
	slice->made = made;
	slice->made->cpu_share = slices->settings->cpu_share;
	slice->made->weight = slices->weight;
	const struct recording recording = { slices, slice };
	return agent_job_start(&slice->job, record_work, &recording, slices->signals, error);
}

static void wait_after_failure(struct agent_slices *slices, uint64_t now_ns)
{
	enum { DOUBLED_MOST = 6 };
	uint64_t doubled = slices->failed_in_line < DOUBLED_MOST ? slices->failed_in_line : DOUBLED_MOST;
	uint64_t wait = NS_PER_S << doubled;
	slices->failed_in_line++;
	slices->figures->failures[AGENT_FAILED_RECORD]++;
	slices->again_ns = now_ns + (wait < AGAIN_MOST_NS ? wait : AGAIN_MOST_NS);
}

static void start_slice(struct agent_slices *slices, uint64_t now_ns)
{
	struct error error = { 0 };
	struct slice *slice = &slices->queue[slices->count];
	slices->is_due = false;
	agent_room_make(slices);
	if (start_recorder(slices, slice, &error) == 0) {
		slice->began_ns = now_ns;
		slices->count++;
		return;
	}
	release_slice(slice);
	failure_of(slices->invocation, &error);
	wait_after_failure(slices, now_ns);
}

/* Returns when the recorder after the present one is to start; 0: there is none. */
static uint64_t lasts_until(const struct agent_slices *slices)
{
	const struct slice *sampling = slice_in(slices, SLICE_SAMPLING);
	uint64_t every = slices->settings->every_ns, lead = slices->lead_ns < every / 2 ? slices->lead_ns : every / 2;
	return sampling ? sampling->began_ns + every - lead : 0;
}

/* Starts the next slice: the first one, or the one after a failure, at once; another one early enough to sample when the present one has its
 * length. */
static void start_if_due(struct agent_slices *slices, uint64_t now_ns)
{
	bool is_due = slices->is_due || now_ns >= lasts_until(slices);
	if (is_due && !slices->stops && slices->count < SLICES_MOST && now_ns >= slices->again_ns &&
	    !slice_in(slices, SLICE_STARTING))
		start_slice(slices, now_ns);
}

/* The recorder gives the file its name when it has begun to sample. */
static void hand_over(struct agent_slices *slices, uint64_t now_ns)
{
	struct slice *starting = slices->count > 0 ? &slices->queue[slices->count - 1] : NULL; /* the last one */
	if (!starting || starting->state != SLICE_STARTING || access(starting->path, F_OK) < 0)
		return;
	for (size_t i = 0; i < slices->count; i++)
		if (slices->queue[i].state == SLICE_SAMPLING)
			ask_to_end(&slices->queue[i], now_ns);
	slices->lead_ns = now_ns - starting->began_ns;
	slices->failed_in_line = 0;
	/* A stop has asked it to end while it started. */
	enter(starting, starting->is_asked ? SLICE_ENDING : SLICE_SAMPLING, now_ns);
	if (!slices->has_sampled)
		notice(slices->invocation, "recording into '%s'", slices->settings->spool);
	slices->has_sampled = true;
}

/* Begins the next slice before the recorder, which keeps the unwind rules of each program that it has sampled, exceeds the limit of memory. Not
 * soon after its own beginning, because each start costs CPU time. */
static void watch_memory(struct agent_slices *slices, uint64_t now_ns)
{
	static const double most_part = 0.8;
	const struct slice *sampling = slice_in(slices, SLICE_SAMPLING);
	const struct agent_settings *settings = slices->settings;
	uint64_t pages;
	if (!sampling || slices->stops || settings->memory_bytes == 0 || now_ns < slices->look_ns)
		return;
	slices->look_ns = now_ns + LOOK_NS;
	if (now_ns - sampling->began_ns < settings->every_ns / EARLIEST_PART || slice_in(slices, SLICE_STARTING) ||
	    !proc_stat_read((uint32_t)sampling->job.pid, PROC_STAT_RESIDENT, &pages) ||
	    (double)pages * (double)sysconf(_SC_PAGESIZE) < most_part * (double)settings->memory_bytes)
		return;
	slices->is_due = true;
	slices->figures->early_ends++;
}

/* --- the end of a slice --- */

/* The memory is that of the recorder itself: what names need depends on the files, not on the rate. */
static void choose_rate(struct agent_slices *slices, const struct record_slice *slice, const struct agent_end *end)
{
	const struct recorded *made = &slice->recorded;
	const struct agent_settings *settings = slices->settings;
	const double percent = 100, mb = 1024.0 * 1024;
	const double ns = (double)(made->end_ns - made->start_ns);
	const uint32_t old = slices->weight;
	const struct agent_use limits = { settings->cpu_share, settings->memory_bytes };
	const struct agent_use used = { (double)(end->cpu_ns + slices->add_cpu_ns) / ns, slice->memory_bytes };
	slices->add_cpu_ns = 0;
	/* The end by a signal, right after the start, makes the share of the start too large. */
	if (made->end_ns - made->start_ns < settings->every_ns / EARLIEST_PART)
		return;
	slices->weight = agent_rate_next(old, settings->hertz, &used, &limits);
	if (slices->weight == old)
		return;
	slices->figures->rate_changes++;
	slices->figures->hertz = settings->hertz / slices->weight;
	notice(slices->invocation,
	       "%s the rate from %.3g to %.3g Hz: the last slice used %.2g %% of a processor and %.0f MB",
	       slices->weight > old ? "lowered" : "raised", settings->hertz / old, slices->figures->hertz,
	       percent * used.cpu_share, (double)used.memory_bytes / mb);
}

/* Adds up the figures of a slice, if it is complete. */
static void add_figures(struct agent_slices *slices, const struct recorded *made)
{
	struct agent_figures *figures = slices->figures;
	if (!made->resource[0])
		return;
	uint64_t last = slices->last_end_ns;
	figures->slices++;
	figures->samples += made->samples;
	figures->lost += made->lost;
	figures->recorded_ns += made->end_ns - made->start_ns;
	if (last > 0 && made->start_ns > last)
		figures->gap_ns += made->start_ns - last;
	else if (last > 0)
		figures->overlap_ns += last - made->start_ns;
	slices->last_end_ns = made->end_ns;
}

/* A first recorder that cannot begin is a reason to end: a wrong option, or no permission. A later one is tried again. */
static void note_failure(struct agent_slices *slices, const struct slice *slice, const struct agent_end *end,
			 uint64_t now_ns)
{
	bool is_asked_early = slice->is_asked && end->status > EXIT_NO_COMMAND && access(slice->path, F_OK) < 0;
	if (end->status == EXIT_DONE || is_asked_early) {
		print_text(slices, AGENT_FAILED_RECORD, end->text);
		return;
	}
	if (!slices->has_sampled && !slices->stops)
		slices->refused = end->status;
	if (!*end->text && end->status > EXIT_NO_COMMAND)
		warning(slices->invocation, "a recorder ended by signal %d", end->status - EXIT_NO_COMMAND - 1);
	print_text(slices, AGENT_FAILED_RECORD, end->text);
	wait_after_failure(slices, now_ns);
}

static void end_slice(struct agent_slices *slices, struct slice *slice, uint64_t now_ns)
{
	struct agent_end end;
	agent_job_end(&slice->job, &end);
	note_failure(slices, slice, &end, now_ns);
	if (slice->made->recorded.resource[0])
		choose_rate(slices, slice->made, &end);
	enter(slice, SLICE_ENDED, now_ns);
	slices->may_wait = true;
	slices->adder_end_ns = now_ns + ADD_GRACE_NS;
}

static bool has_ended(const struct agent_job *job)
{
	struct pollfd end = { .fd = job->end_fd, .events = POLLIN };
	return poll(&end, 1, 0) > 0;
}

static void end_slices(struct agent_slices *slices, uint64_t now_ns)
{
	for (size_t i = 0; i < slices->count; i++)
		if (slices->queue[i].state != SLICE_ENDED && has_ended(&slices->queue[i].job))
			end_slice(slices, &slices->queue[i], now_ns);
	while (slices->count > 0 && slices->queue[0].state == SLICE_ENDED) {
		add_figures(slices, &slices->queue[0].made->recorded);
		release_slice(&slices->queue[0]);
		memmove(slices->queue, slices->queue + 1, --slices->count * sizeof(*slices->queue));
	}
}

/* --- files that wait for the store --- */

struct search {
	const struct agent_slices *slices;
	char oldest[NAME_MAX + 1];
};

static void compare_waiting(void *context, int folder, const char *name)
{
	struct search *search = context;
	(void)folder;
	if (agent_spool_is_slice(name, SLICE_SUFFIX) && !agent_room_is_written(search->slices, name) &&
	    (!search->oldest[0] || strcmp(name, search->oldest) < 0))
		snprintf(search->oldest, sizeof(search->oldest), "%s", name);
}

/* Returns the path of the oldest file that waits, which the caller frees, or NULL if there is none. */
static char *find_waiting(const struct agent_slices *slices)
{
	struct search search = { .slices = slices };
	char *path = NULL;
	agent_spool_visit(slices->settings->spool, compare_waiting, &search);
	if (!search.oldest[0] || asprintf(&path, "%s/%s", slices->settings->spool, search.oldest) < 0)
		return NULL;
	return path;
}

static int add_work(const void *context)
{
	const struct agent_slices *slices = context;
	struct agent_words words;
	agent_metrics_leave(slices->metrics);
	agent_settings_add_words(slices->settings, slices->added, &words);
	if (words.failed)
		return failure(slices->invocation, "out of memory");
	int status = dispatch((int)words.count, words.items);
	if (status == EXIT_DONE && store_add_has_kept())
		return ADD_SPOOLED;
	return status == EXIT_FAILED && agent_room_is_useless(slices->added) ? ADD_USELESS : status;
}

static void start_adder(struct agent_slices *slices, uint64_t now_ns)
{
	struct error error = { 0 };
	slices->added = find_waiting(slices);
	slices->may_wait = slices->added != NULL;
	if (!slices->added || agent_job_start(&slices->adder, add_work, slices, slices->signals, &error) == 0)
		return;
	failure_of(slices->invocation, &error);
	free(slices->added);
	slices->added = NULL;
	slices->may_wait = false;
	slices->figures->failures[AGENT_FAILED_STORE]++;
	slices->kept_again_ns = now_ns + KEPT_AGAIN_NS;
}

/* Gives a slice's file another ending. */
static bool change_ending(int folder, const char *name, const char *from, const char *to)
{
	char other[PATH_MAX];
	int length = (int)(strlen(name) - strlen(from));
	return snprintf(other, sizeof(other), "%.*s%s", length, name, to) < (int)sizeof(other) &&
	       renameat(folder, name, folder, other) == 0;
}

static void end_adder(struct agent_slices *slices, uint64_t now_ns)
{
	struct agent_end end;
	struct stat status;
	struct agent_figures *figures = slices->figures;
	agent_job_end(&slices->adder, &end);
	slices->add_cpu_ns += end.cpu_ns;
	print_text(slices, AGENT_FAILED_STORE, end.text);
	if (end.status > EXIT_NO_COMMAND && !slices->gives_up)
		warning(slices->invocation, "store add ended by signal %d", end.status - EXIT_NO_COMMAND - 1);
	bool is_stored = end.status == EXIT_DONE, is_taken = is_stored || end.status == ADD_SPOOLED;
	is_taken = is_taken && stat(slices->added, &status) == 0 && unlink(slices->added) == 0;
	figures->failures[AGENT_FAILED_STORE] += !is_stored || !is_taken;
	if (is_taken) {
		figures->stored += is_stored;
		figures->stored_bytes += is_stored ? (uint64_t)status.st_size : 0;
	} else {
		slices->kept_again_ns = now_ns + KEPT_AGAIN_NS;
		bool is_gone = end.status == ADD_USELESS && agent_room_give_up(slices);
		if (!is_gone && !change_ending(AT_FDCWD, slices->added, SLICE_SUFFIX, SLICE_KEPT))
			slices->may_wait = false; /* otherwise it would be tried again at once */
	}
	free(slices->added);
	slices->added = NULL;
	agent_room_make(slices);
}

/* A store that does not answer does not delay the end: the file waits for a later agent. */
static void leave_files(struct agent_slices *slices, uint64_t now_ns)
{
	bool has_more = slices->adder.pid || slices->may_wait;
	if (!has_more || !slices->stops || slices->gives_up || now_ns < slices->adder_end_ns)
		return;
	warning(slices->invocation, "the store takes too long: its slices stay in '%s' (the next start adds them)",
		slices->settings->spool);
	slices->gives_up = true;
	if (slices->adder.pid)
		kill(slices->adder.pid, SIGTERM);
}

static void retry_file(void *context, int folder, const char *name)
{
	(void)context;
	bool was_tried = agent_spool_is_slice(name, SLICE_LAST_TRY SLICE_KEPT);
	if (agent_spool_is_slice(name, SLICE_KEPT))
		change_ending(folder, name, SLICE_KEPT, was_tried ? SLICE_SUFFIX : SLICE_TRY SLICE_SUFFIX);
}

void agent_slices_retry_kept(struct agent_slices *slices)
{
	agent_spool_visit(slices->settings->spool, retry_file, NULL);
	slices->kept_again_ns = UINT64_MAX;
	slices->may_wait = true;
}

/* --- all --- */

void agent_slices_init(struct agent_slices *slices)
{
	slices->lead_ns = NS_PER_S;
	slices->weight = 1;
	agent_slices_retry_kept(slices);
}

void agent_slices_release(struct agent_slices *slices)
{
	for (size_t i = 0; i < slices->count; i++)
		release_slice(&slices->queue[i]);
	for (size_t i = 0; i < AGENT_FAILURES; i++)
		free(slices->last_text[i]);
	free(slices->added);
}

void agent_slices_step(struct agent_slices *slices, uint64_t now_ns)
{
	hand_over(slices, now_ns);
	end_slices(slices, now_ns);
	if (slices->refused)
		slices->stops = slices->gives_up = true;
	watch_memory(slices, now_ns);
	start_if_due(slices, now_ns);
	if (slices->adder.pid && has_ended(&slices->adder))
		end_adder(slices, now_ns);
	leave_files(slices, now_ns);
	if (!slices->stops && now_ns >= slices->kept_again_ns)
		agent_slices_retry_kept(slices);
	if (!slices->adder.pid && slices->may_wait && !slices->gives_up)
		start_adder(slices, now_ns);
}

uint64_t agent_slices_due(const struct agent_slices *slices, uint64_t now_ns)
{
	/* While a recorder starts, its file is looked for. */
	const uint64_t start_ns = 10 * NS_PER_MS;
	uint64_t due = slices->stops ? UINT64_MAX : slices->kept_again_ns;
	uint64_t next = lasts_until(slices);
	if (slice_in(slices, SLICE_STARTING))
		next = now_ns + start_ns;
	else if (slices->stops || slices->count == SLICES_MOST) /* the end of a child is waited for */
		next = UINT64_MAX;
	else if (next < slices->again_ns)
		next = slices->again_ns;
	if (slices->settings->memory_bytes > 0 && slice_in(slices, SLICE_SAMPLING) && slices->look_ns < next)
		next = slices->look_ns;
	if (slices->adder.pid && slices->stops && !slices->gives_up && slices->adder_end_ns < next)
		next = slices->adder_end_ns;
	return next < due ? next : due;
}

size_t agent_slices_descriptors(const struct agent_slices *slices, struct pollfd *descriptors)
{
	size_t count = 0;
	for (size_t i = 0; i < slices->count; i++)
		if (slices->queue[i].state != SLICE_ENDED)
			descriptors[count++] = (struct pollfd){ .fd = slices->queue[i].job.end_fd, .events = POLLIN };
	if (slices->adder.pid)
		descriptors[count++] = (struct pollfd){ .fd = slices->adder.end_fd, .events = POLLIN };
	return count;
}

void agent_slices_stop(struct agent_slices *slices)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	slices->gives_up = slices->stops;
	slices->stops = true;
	slices->adder_end_ns = now_ns + ADD_GRACE_NS;
	for (size_t i = 0; i < slices->count; i++)
		/* The second signal ends a recorder's naming. */
		if (slices->queue[i].state != SLICE_ENDED && (slices->gives_up || !slices->queue[i].is_asked))
			ask_to_end(&slices->queue[i], now_ns);
	if (slices->gives_up && slices->adder.pid)
		kill(slices->adder.pid, SIGTERM);
}

bool agent_slices_are_done(const struct agent_slices *slices)
{
	return slices->stops && slices->count == 0 && !slices->adder.pid && (slices->gives_up || !slices->may_wait);
}
