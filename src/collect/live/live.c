#include "collect/live/live.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "collect/live/module_files.h"
#include "collect/live/namer.h"
#include "collect/live/window.h"
#include "collect/sample/clock.h"
#include "collect/sample/destination.h"
#include "collect/sample/target_signals.h"

static const uint64_t FLUSH_NS = 250 * UINT64_C(1000000);
/* The interval of extracts. It is longer for a window with so many hits that the extracts would
 * take more than their share of the monitor's CPU time; names and the screen cost about the same
 * again. */
static const uint64_t REFRESH_NS = 1000 * UINT64_C(1000000), REFRESH_MOST_NS = 10000 * UINT64_C(1000000);
static const double EXTRACT_SHARE = 0.005;

/* The share of one processor for the monitor. Names and the screen have about the same again. */
static const double CPU_SHARE = 0.01;

enum phase { STARTING, RUNNING, ENDED };

struct live {
	struct record_options options;
	struct record_apart apart;
	struct destination destination;
	int news_fd;

	/* The monitor thread's alone */
	pthread_t monitor;
	struct window window;
	uint64_t next_extract_ns; /* when the next extract is due */

	pthread_t naming;
	struct namer namer; /* the naming thread's alone */

	/* Shared, under `lock` */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum phase phase;
	struct profile_extract waiting; /* for the naming thread */
	bool is_last;                   /* ... and no other comes */
	bool is_naming;                 /* the naming thread is at work */
	bool lacks_names;               /* the next extract should come soon */
	bool is_stopped;
	struct profile *newest; /* for the reader */
	char warning[LIVE_MESSAGE];
	struct record_result result;
	int status;
	struct error error;

	struct module_files files; /* has a lock of its own */
};

/* Makes an eventfd readable. It cannot fail but for a counter that is full, of one that is readable already. */
static void raise_event(int fd)
{
	const uint64_t one = 1;
	ssize_t ignored = write(fd, &one, sizeof(one));
	(void)ignored;
}

static void announce(const struct live *live)
{
	raise_event(live->news_fd);
}

static void set_phase(struct live *live, enum phase phase)
{
	pthread_mutex_lock(&live->lock);
	live->phase = phase;
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
	announce(live);
}

/* --- the monitor thread --- */

static void on_warning(void *context, const char *sentence)
{
	struct live *live = context;
	pthread_mutex_lock(&live->lock);
	snprintf(live->warning, sizeof(live->warning), "%s", sentence);
	pthread_mutex_unlock(&live->lock);
	announce(live);
}

static int on_publish(void *context, struct error *error)
{
	(void)error;
	set_phase(context, RUNNING);
	return 0;
}

/* Passes the window to the naming thread, in the place of one that it did not take. */
static int pass(struct live *live, const struct profile *profile, bool is_last, struct error *error)
{
	struct profile_extract extract;
	int status = window_extract(&live->window, profile, &extract);
	if (status < 0)
		return error_set(error, status, "cannot extract the last seconds: %s", error_text(status));
	extract.profile->ended = is_last;
	pthread_mutex_lock(&live->lock);
	struct profile_extract old = live->waiting;
	live->waiting = extract;
	live->is_last = is_last;
	live->lacks_names = false;
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
	profile_extract_release(&old);
	return 0;
}

/* Returns when the next extract is due after one that took so much CPU time. A quarter of a
 * second early is on time: flushes are not at exact times. */
static uint64_t next_refresh(uint64_t now_ns, uint64_t cpu_ns)
{
	double wanted_ns = (double)cpu_ns / EXTRACT_SHARE;
	uint64_t interval_ns = wanted_ns < (double)REFRESH_NS        ? REFRESH_NS
			       : wanted_ns > (double)REFRESH_MOST_NS ? REFRESH_MOST_NS
								     : (uint64_t)wanted_ns;
	return now_ns + interval_ns - FLUSH_NS / 2;
}

/* Returns whether the newest profile lacks names that were found meanwhile. */
static bool lacks_names(struct live *live)
{
	pthread_mutex_lock(&live->lock);
	bool lacks = live->lacks_names;
	pthread_mutex_unlock(&live->lock);
	return lacks;
}

static int add_hits(struct live *live, struct profile *profile, const struct frames_options *names, struct error *error)
{
	int status = window_add(&live->window, profile);
	if (status == 0)
		status = module_files_open(&live->files, profile, names);
	if (status < 0)
		return error_set(error, status, "out of memory");
	if (profile->end_ns < live->next_extract_ns && !lacks_names(live))
		return 0;
	uint64_t cpu_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	status = pass(live, profile, false, error);
	live->next_extract_ns = next_refresh(profile->end_ns, clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
	return status;
}

/* A recording whose flush failed would go on without showing anything more: it ends. */
static int on_flush(void *context, struct profile *profile, const struct frames_options *names, struct error *error)
{
	struct live *live = context;
	int status = add_hits(live, profile, names, error);
	if (status < 0)
		raise_event(live->apart.stop_fd);
	return status;
}

static int on_finish(void *context, struct profile *profile, struct error *error)
{
	return pass(context, profile, true, error);
}

static void *run_monitor(void *context)
{
	struct live *live = context;
	struct record_result result = { 0 };
	struct error error = { 0 };
	int status = monitor_run(&live->options, &result, &error);
	profile_free(result.profile);
	result.profile = NULL;
	pthread_mutex_lock(&live->lock);
	live->result = result;
	live->status = status < 0 ? status : result.incomplete ? error.code : 0;
	live->error = error;
	live->phase = ENDED;
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
	announce(live);
	return NULL;
}

/* --- the naming thread --- */

static void publish(struct live *live, struct profile *profile)
{
	pthread_mutex_lock(&live->lock);
	struct profile *old = live->newest;
	live->newest = profile;
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
	profile_free(old);
	announce(live);
}

/* Waits for an extract. Returns false if there is none anymore. */
static bool next_extract(struct live *live, struct profile_extract *extract, bool *is_last)
{
	pthread_mutex_lock(&live->lock);
	live->is_naming = false;
	pthread_cond_broadcast(&live->changed);
	while (!live->is_stopped && !live->waiting.profile && live->phase != ENDED)
		pthread_cond_wait(&live->changed, &live->lock);
	bool has_one = live->waiting.profile && !live->is_stopped;
	if (has_one) {
		*extract = live->waiting;
		live->waiting = (struct profile_extract){ 0 };
		*is_last = live->is_last;
		live->is_naming = true;
	}
	pthread_mutex_unlock(&live->lock);
	return has_one;
}

static void *run_naming(void *context)
{
	struct live *live = context;
	struct profile_extract extract;
	sigset_t ignored;
	bool is_last;
	target_signals_leave(&ignored);
	while (next_extract(live, &extract, &is_last)) {
		struct error error = { 0 };
		struct profile *named = namer_name(&live->namer, &extract, is_last, &error);
		if (named)
			publish(live, named);
		else
			on_warning(live, error.message);
		if (namer_continue(&live->namer, &error) < 0)
			on_warning(live, error.message);
		pthread_mutex_lock(&live->lock);
		live->lacks_names = live->namer.has_found;
		pthread_mutex_unlock(&live->lock);
	}
	announce(live); /* there is no other profile */
	return NULL;
}

/* --- the reader --- */

static void release(struct live *live)
{
	profile_extract_release(&live->waiting);
	profile_free(live->newest);
	window_release(&live->window);
	namer_release(&live->namer);
	module_files_release(&live->files);
	if (live->news_fd >= 0)
		close(live->news_fd);
	if (live->apart.stop_fd >= 0)
		close(live->apart.stop_fd);
	pthread_cond_destroy(&live->changed);
	pthread_mutex_destroy(&live->lock);
	free(live);
}

static struct live *new_live(const struct live_options *options, struct error *error)
{
	struct live *live = calloc(1, sizeof(*live));
	if (!live) {
		error_memory(error);
		return NULL;
	}
	live->options = *options->record;
	live->options.warn = on_warning;
	live->options.context = live;
	live->options.destination = &live->destination;
	live->options.apart = &live->apart;
	live->destination = (struct destination){ .context = live,
						  .flush_ns = FLUSH_NS,
						  .names_itself = true,
						  .publish = on_publish,
						  .flush = on_flush,
						  .finish = on_finish };
	live->options.cpu_share = CPU_SHARE;
	for (int i = 0; i < 3; i++)
		live->apart.command_streams[i] = options->command_streams[i];
	pthread_mutex_init(&live->lock, NULL);
	pthread_cond_init(&live->changed, NULL);
	window_init(&live->window, options->window_ns, 0);
	live->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	live->apart.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	module_files_init(&live->files);
	if (live->news_fd < 0 || live->apart.stop_fd < 0)
		error_set_errno(error, "cannot make a descriptor for events");
	else if (namer_init(&live->namer, &live->files) < 0)
		error_memory(error);
	else
		return live;
	release(live);
	return NULL;
}

/* Starts both threads. Returns 0 or a negative error, after which none runs. */
static int start_threads(struct live *live, struct error *error)
{
	int number = pthread_create(&live->naming, NULL, run_naming, live);
	if (number == 0) {
		number = pthread_create(&live->monitor, NULL, run_monitor, live);
		if (number == 0)
			return 0;
		set_phase(live, ENDED);
		pthread_join(live->naming, NULL);
	}
	errno = number;
	return error_set_errno(error, "cannot start a thread");
}

struct live *live_start(const struct live_options *options, struct error *error)
{
	struct live *live = new_live(options, error);
	if (!live)
		return NULL;
	if (start_threads(live, error) < 0) {
		release(live);
		return NULL;
	}
	pthread_mutex_lock(&live->lock);
	while (!live->newest && !(live->phase == ENDED && !live->waiting.profile && !live->is_naming))
		pthread_cond_wait(&live->changed, &live->lock);
	bool has_profile = live->newest != NULL;
	pthread_mutex_unlock(&live->lock);
	if (has_profile)
		return live;
	struct live_end end;
	if (live_stop(live, &end, error) == 0)
		error_memory(error);
	return NULL;
}

int live_descriptor(const struct live *live)
{
	return live->news_fd;
}

struct profile *live_take(struct live *live)
{
	uint64_t count;
	ssize_t ignored = read(live->news_fd, &count, sizeof(count)); /* fails if there is nothing new */
	(void)ignored;
	pthread_mutex_lock(&live->lock);
	struct profile *profile = live->newest;
	live->newest = NULL;
	pthread_mutex_unlock(&live->lock);
	return profile;
}

void live_state(struct live *live, struct live_state *state)
{
	pthread_mutex_lock(&live->lock);
	state->has_ended = live->phase == ENDED && !live->waiting.profile && !live->is_naming && !live->newest;
	snprintf(state->warning, sizeof(state->warning), "%s", live->warning);
	live->warning[0] = '\0';
	if (state->has_ended && live->status < 0 && !state->warning[0])
		snprintf(state->warning, sizeof(state->warning), "%s", live->error.message);
	pthread_mutex_unlock(&live->lock);
}

int live_stop(struct live *live, struct live_end *end, struct error *error)
{
	raise_event(live->apart.stop_fd);
	pthread_join(live->monitor, NULL);
	pthread_mutex_lock(&live->lock);
	live->is_stopped = true;
	bool is_naming = live->is_naming;
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
	*end = (struct live_end){ .left = live->result.left };
	int status = live->status;
	if (status < 0)
		*error = live->error;
	/* Naming a large file takes seconds. The process, which is about to end, does not wait for it. */
	if (is_naming) {
		pthread_detach(live->naming);
	} else {
		pthread_join(live->naming, NULL);
		release(live);
	}
	return status;
}
