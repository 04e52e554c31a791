#include "cmd/trace_events.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/plural.h"
#include "base/safe_text.h"
#include "render/render.h"
#include "resources/syscall_names.h"

enum { NS_PER_US = 1000, NS_PER_S = 1000000000 };
/* Together with the time that samples wait in the kernel's buffers, less than half a second. */
static const uint64_t FLUSH_NS = 200 * UINT64_C(1000000);

/* --- events --- */

static void drop(struct trace_events *events, uint32_t request)
{
	events->dropped++;
	events->sums[request].lost++;
}

static void on_event(void *context, const struct backend_sample *sample, const struct sample_sink_position *position)
{
	struct trace_events *events = context;
	const struct resource_request *request = &events->requests[sample->request];
	struct trace_sum *sum = &events->sums[sample->request];
	uint64_t amount = sample->amount ? sample->amount : sample->hits * request->interval;
	const char *syscall = sample->syscall == BACKEND_NO_SYSCALL ? NULL : syscall_name(sample->syscall);
	sum->events++;
	sum->amount += amount;
	if (!event_filter_passes(&events->filter, sample->request, request->name, syscall, amount))
		return;
	if (events->has_failed || ARRAY_RESERVE(events->items, events->capacity, events->count + 1) < 0) {
		events->out_of_memory |= !events->has_failed;
		drop(events, sample->request);
		return;
	}
	events->items[events->count++] = (struct trace_event){
		.time_ns = sample->time_ns,
		.amount = amount,
		.thread = position->thread,
		.node = position->node,
		.label_set = position->label_set,
		.request = sample->request,
		.syscall = sample->syscall,
		.syscall_result = sample->syscall_result,
		.has_touched = sample->has_touched,
		.touched = sample->touched,
	};
}

/* --- printing --- */

static void print_time(FILE *out, uint64_t time_ns, const struct profile *profile)
{
	uint64_t since = time_ns > profile->start_ns ? time_ns - profile->start_ns : 0;
	fprintf(out, "%" PRIu64 ".%06" PRIu64 " ", since / NS_PER_S, since % NS_PER_S / NS_PER_US);
}

/* Prints a text with `to` in place of each `from`, so that it is one word of a line, or one function of a path. */
static void print_replaced(FILE *out, const char *text, char from, char to)
{
	const char separator[] = { from, 0 };
	for (;;) {
		size_t length = strcspn(text, separator);
		safe_text_write(out, text, length, "");
		if (!text[length])
			return;
		fputc(to, out);
		text += length + 1;
	}
}

/* Prints "1234/worker". */
static void print_thread(FILE *out, const struct profile *profile, uint32_t id)
{
	const struct profile_thread *thread = &profile->threads[id];
	const char *name = profile_string(profile, thread->name);
	fprintf(out, "%u", thread->tid);
	if (!name[0])
		return;
	fputc('/', out);
	print_replaced(out, name, ' ', '_');
}

static void print_syscall(FILE *out, const struct trace_event *event)
{
	const char *name = syscall_name(event->syscall);
	int64_t result = event->syscall_result;
	const char *failure = syscall_error_name(result);
	if (name)
		fprintf(out, "%s = ", name);
	else
		fprintf(out, "syscall_%d = ", event->syscall);
	if (result == BACKEND_NO_RESULT)
		fputs("? ", out);
	else if (failure)
		fprintf(out, "-%s ", failure);
	else
		fprintf(out, "%" PRId64 " ", result);
}

/* Prints "tenant=acme kind=new ", or nothing without labels. */
static void print_labels(FILE *out, const struct profile *profile, uint32_t set)
{
	const struct profile_label_set *row = &profile->label_sets[set];
	for (uint32_t i = 0; i < row->label_count; i++) {
		const struct profile_label *label = &profile->labels[row->first_label + i];
		print_replaced(out, profile_string(profile, label->key), ' ', '_');
		fputc('=', out);
		print_replaced(out, profile_string(profile, label->value), ' ', '_');
		fputc(' ', out);
	}
}

static void print_path(FILE *out, const struct profile *profile, const struct shown_path *path)
{
	fputc('(', out);
	for (size_t i = 0; i < path->count; i++) {
		if (i > 0)
			fputc(';', out);
		print_replaced(out, profile_string(profile, profile->functions[path->functions[i]].name), ';', ':');
	}
	fputs(")\n", out);
}

void trace_print_amount(FILE *out, const struct resource_request *request, uint64_t amount)
{
	fprintf(out, "%" PRIu64 " %s%s", amount, request->gtick, plural_ending(request->gtick, (double)amount));
}

static void print_event(struct trace_events *events, const struct profile *profile, const struct trace_event *event)
{
	FILE *out = events->out;
	const struct resource_request *request = &events->requests[event->request];
	print_time(out, event->time_ns, profile);
	print_thread(out, profile, event->thread);
	fputc(' ', out);
	render_safe_text(out, request->name);
	fputc(' ', out);
	trace_print_amount(out, request, event->amount);
	fputc(' ', out);
	if (event->syscall != BACKEND_NO_SYSCALL)
		print_syscall(out, event);
	if (event->has_touched)
		fprintf(out, "at %#" PRIx64 " ", event->touched);
	print_labels(out, profile, event->label_set);
	print_path(out, profile, &events->frames);
}

static int print_events(struct trace_events *events, const struct profile *profile)
{
	int result = event_filter_add_functions(&events->filter, profile);
	for (size_t i = 0; i < events->count && result == 0; i++) {
		const struct trace_event *event = &events->items[i];
		result = shown_path_set(&events->frames, profile, event->node);
		if (result < 0 ||
		    !event_filter_passes_path(&events->filter, events->frames.functions, events->frames.count))
			continue;
		print_event(events, profile, event);
		events->sums[event->request].shown++;
	}
	return result;
}

/* --- the output --- */

/* Opens the output before the command runs, which then replaces an older file: publish_output. */
static int open_output(void *context, struct error *error)
{
	enum { BUFFER_BYTES = 1 << 16 };
	struct trace_events *events = context;
	const char *path = events->path;
	int fd = path ? file_place_open(&events->place, path, 0600, &events->temporary, error)
		      : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (path && fd < 0)
		return fd;
	events->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!events->out)
		return error_set_errno(error, "cannot write '%s'", path ? path : "standard error");
	setvbuf(events->out, NULL, _IOFBF, BUFFER_BYTES);
	return 0;
}

static int publish_output(void *context, struct error *error)
{
	struct trace_events *events = context;
	if (file_place_publish(&events->place, &events->temporary) < 0)
		return error_set_errno(error, "cannot write '%s'", events->path);
	return 0;
}

static void close_output(void *context)
{
	struct trace_events *events = context;
	if (events->out)
		fclose(events->out);
	events->out = NULL;
	file_place_discard(&events->place, &events->temporary);
	file_place_release(&events->place);
}

/* --- the destination --- */

/* Prints the number of lost events among the events, so that a missing line is not mistaken for an event that did
 * not happen. */
static void print_lost(struct trace_events *events, const struct profile *profile)
{
	if (profile->lost <= events->lost)
		return;
	uint64_t lost = profile->lost - events->lost;
	print_time(events->out, profile->end_ns, profile);
	fprintf(events->out, "lost %" PRIu64 " event%s: the ring was full, or memory\n", lost,
		plural_ending("event", (double)lost));
	events->lost = profile->lost;
}

static int write_events(struct trace_events *events, struct profile *profile, const struct frames_options *names,
			struct error *error)
{
	/* Names only the locations that were added since the last flush. */
	profile->symbolized = false;
	int result = events->out_of_memory ? ERROR_MEMORY : frames_name_profile(profile, names, error);
	if (result == 0)
		result = print_events(events, profile);
	if (result < 0)
		return error_set(error, result, "out of memory");
	print_lost(events, profile);
	errno = 0;
	return fflush(events->out) == 0 && !ferror(events->out) ? 0 : error_set_errno(error, "cannot write the trace");
}

/* After an error, some of the events may have been written all the same: at most the counted events are lost. */
static int flush_events(void *context, struct profile *profile, const struct frames_options *names, struct error *error)
{
	struct trace_events *events = context;
	int result = write_events(events, profile, names, error);
	events->has_failed = result < 0;
	for (size_t i = 0; i < events->count && events->has_failed; i++)
		drop(events, events->items[i].request);
	events->count = 0;
	return result;
}

static int finish_events(void *context, struct profile *profile, struct error *error)
{
	struct trace_events *events = context;
	(void)error;
	for (size_t i = 0; i < events->request_count; i++) {
		if (profile->resources[i].total > 0)
			events->sums[i].amount = profile->resources[i].total;
		events->sums[i].lost += profile->resources[i].lost;
	}
	return 0;
}

struct destination trace_destination(struct trace_events *events)
{
	events->place.folder = -1;
	return (struct destination){
		.context = events,
		.flush_ns = FLUSH_NS,
		.names_itself = true,
		.open = open_output,
		.publish = publish_output,
		.event = on_event,
		.flush = flush_events,
		.finish = finish_events,
		.close = close_output,
	};
}

void trace_events_release(struct trace_events *events)
{
	event_filter_release(&events->filter);
	shown_path_release(&events->frames);
	free(events->items);
	events->items = NULL;
	events->count = events->capacity = 0;
}
