#include "collect/sample/preload/events.h"

#include <stdlib.h>
#include <string.h>

#include "collect/sample/preload/requests.h"
#include "collect/sample/stacks/sample_decode.h"

bool preload_waits_is_stack(const struct sample_record *record)
{
	return record->request != SAMPLE_NO_REQUEST && record->hits == 0;
}

void preload_waits_store(struct preload_thread *thread, const struct preload_record *record)
{
	size_t bytes = offsetof(struct preload_record, content) + preload_record_bytes(&record->record) -
		       sizeof(record->record);
	free(thread->waits_at);
	thread->waits_at = malloc(bytes);
	if (thread->waits_at)
		memcpy(thread->waits_at, record, bytes);
}

/* Returns the boundaries that the thread's clock of waits crosses in so many ns. All later
 * intervals have their boundary where the present one has it, at a random position. The target
 * can write anything there, so the values are checked. */
static uint64_t boundaries(const struct preload_thread *thread, size_t request, uint64_t interval, uint64_t ns)
{
	const struct interval_clock *clock = &thread->ring.shared->clocks[request];
	uint64_t used = __atomic_load_n(&clock->used, __ATOMIC_RELAXED) % interval;
	uint64_t mark = __atomic_load_n(&clock->mark, __ATOMIC_RELAXED) % interval;
	return (used + ns + interval - 1 - mark) / interval - (used > mark);
}

static void report_wait(const struct preload_thread *thread, const struct backend_request *request, size_t number,
			uint64_t hits, uint64_t waited_ns, uint64_t end_ns, uint8_t *stack,
			const struct backend_sink *sink)
{
	const struct preload_record *waiting = thread->waits_at;
	struct sample_record record = waiting->record;
	struct backend_sample sample;
	record.pid = thread->pid;
	record.tid = thread->tid;
	record.request = (uint8_t)number;
	record.hits = hits;
	record.time_ns = end_ns;
	decode_sample(&record, waiting->content, SAMPLE_STACK_BYTES, stack, &sample);
	sample.labels = record.about;
	sample.amount = preload_gticks_of(request->resources[number].row, waited_ns);
	sink->sample(sink->context, &sample);
}

void preload_waits_end(struct preload_slots *slots, const struct preload_thread *thread,
		       const struct backend_request *request, uint64_t start_ns, uint64_t end_ns, uint8_t *stack,
		       const struct backend_sink *sink)
{
	uint64_t since_ns = __atomic_load_n(&thread->ring.shared->waits_since_ns, __ATOMIC_ACQUIRE);
	if (since_ns < start_ns || since_ns >= end_ns)
		return;
	for (size_t i = 0; i < request->resource_count; i++) {
		const struct channel_request asked = preload_request_of(&request->resources[i]);
		if ((asked.counter != COUNTER_REAL && asked.counter != COUNTER_BLOCKED) || asked.interval == 0)
			continue;
		uint64_t waited_ns = end_ns - since_ns;
		uint64_t hits = boundaries(thread, i, asked.interval, waited_ns);
		slots->sums.totals[i] += waited_ns;
		if (hits > 0 && thread->waits_at)
			report_wait(thread, request, i, hits, waited_ns, end_ns, stack, sink);
	}
}
