/*
 * Exports the events of a trace, one per line:
 *
 *     0.000031250 4711 4711 enter main
 *     0.000031502 4711 4711 event 7 42
 *     0.000032118 4711 4711 sample parse
 *     0.000033871 4711 4711 leave main
 *
 * The columns are seconds since the start of the recording, process, thread, kind of event, and
 * function. An event of the program (cpprof_event) has its id and value instead of a function. A
 * range of time selects events, so a call may lack its enter or its leave.
 */
#include <inttypes.h>

#include "formats/call_events.h"
#include "formats/format.h"

static void write_event(struct sink *out, const struct event *event)
{
	static const char *const kinds[] = {
		[EVENT_ENTER] = "enter", [EVENT_LEAVE] = "leave", [EVENT_SAMPLE] = "sample", [EVENT_USER] = "event"
	};
	static const uint64_t second = 1000 * 1000 * 1000;
	sink_printf(out, "%" PRIu64 ".%09" PRIu64 " %" PRIu32 " %" PRIu32 " %s ", event->time_ns / second,
		    event->time_ns % second, event->process, event->thread, kinds[event->kind]);
	if (event->kind == EVENT_USER)
		sink_printf(out, "%" PRIu64 " %" PRIu64 "\n", event->id, event->value);
	else
		sink_printf(out, "%s\n", event->function);
}

static int events_export(const struct format_input *input, struct sink *out, struct error *error)
{
	struct event event;
	int status = 0;
	while (!sink_failed(out) && (status = input->events->next(input->events, &event, error)) > 0) {
		bool is_in_time = event.time_ns >= input->view.from_ns &&
				  (input->view.to_ns == 0 || event.time_ns < input->view.to_ns);
		if (is_in_time && event_is_chosen(input, &event))
			write_event(out, &event);
	}
	return status < 0 ? status : 0;
}

const struct format format_events = {
	.name = "events",
	.title = "events",
	.ending = "txt",
	.summary = "the events of a trace, one a line, thread after thread",
	.options = FORMAT_EVENT_SELECTION,
	.needs = FORMAT_NEEDS_TRACE,
	.has_several = true,
	.export = events_export,
};
