/* Tests the parts that the exporters share: the events of calls, JSON; and each exporter without memory, without room, and with a damaged trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/call_events.h"
#include "formats/json_out.h"
#include "support/alloc_fail.h"

struct list_of_events {
	struct event_source source;
	const struct event *events;
	size_t count, next;
	int code; /* after the last one */
};

static int next_event(struct event_source *source, struct event *event, struct error *error)
{
	struct list_of_events *list = (struct list_of_events *)source;
	if (list->next == list->count)
		return list->code < 0 ? error_set(error, list->code, "it is damaged") : 0;
	*event = list->events[list->next++];
	return 1;
}

#define ENTER(time, tid, name, around)                                                                               \
	{                                                                                                            \
		.kind = EVENT_ENTER, .time_ns = time, .process = 1, .thread = tid, .function = name, .depth = around \
	}
#define LEAVE(time, tid, name)                                                                      \
	{                                                                                           \
		.kind = EVENT_LEAVE, .time_ns = time, .process = 1, .thread = tid, .function = name \
	}
#define TICK(time, tid, name)                                                                        \
	{                                                                                            \
		.kind = EVENT_SAMPLE, .time_ns = time, .process = 1, .thread = tid, .function = name \
	}
#define USER(time, tid, number)                                                                            \
	{                                                                                                  \
		.kind = EVENT_USER, .time_ns = time, .process = 1, .thread = tid, .id = number, .value = 7 \
	}

/* Thread 1: `b` is left by a jump, `d` is left without an entry, `g` ends before `c`, without an event, and `c` does not end. Thread 2
 * has one call. */
static const struct event some_events[] = {
	ENTER(10, 1, "a", 0), ENTER(20, 1, "b", 1), ENTER(30, 1, "b", 2), TICK(35, 1, "b"),  LEAVE(40, 1, "a"),
	LEAVE(45, 1, "d"),    ENTER(47, 1, "g", 0), ENTER(50, 1, "c", 0), USER(60, 1, 3),    ENTER(65, 1, "a", 1),
	LEAVE(64, 1, "a"),    USER(90, 1, 4),       ENTER(15, 2, "e", 0), LEAVE(95, 2, "e"),
};
enum { SOME_EVENTS = sizeof(some_events) / sizeof(*some_events) };

static struct list_of_events some(int code)
{
	return (struct list_of_events){ { .next = next_event }, some_events, SOME_EVENTS, 0, code };
}

/* "t1 " begin of thread 1, "10(a" enter, "40)" leave, "35.b" tick, "60!3" event, "$ " end. */
static void describe(const struct call_events *events, const struct call_event *event, struct buffer *text)
{
	const char *name = call_events_name(events, event->name);
	unsigned long time = (unsigned long)event->time_ns;
	switch (event->kind) {
	case CALL_THREAD_BEGIN:
		buffer_printf(text, "t%u ", event->thread);
		break;
	case CALL_THREAD_END:
		buffer_append_string(text, "$ ");
		break;
	case CALL_ENTER:
		buffer_printf(text, "%lu(%s ", time, name);
		break;
	case CALL_LEAVE:
		buffer_printf(text, "%lu)%s ", time, name);
		break;
	case CALL_SAMPLE:
		buffer_printf(text, "%lu.%s ", time, name);
		break;
	case CALL_USER:
		buffer_printf(text, "%lu!%lu ", time, (unsigned long)event->id);
		break;
	}
}

static void assert_events(const struct profile *profile, struct view_options view, const char *expected)
{
	struct list_of_events list = some(0);
	const struct format_input input = { .profile = profile, .view = view, .events = &list.source };
	struct call_events *events = call_events_new(&input);
	struct call_event event;
	struct error error = { 0 };
	struct buffer text;
	buffer_init(&text);
	assert_non_null(events);
	while (call_events_next(events, &event, &error) > 0)
		describe(events, &event, &text);
	buffer_append_byte(&text, 0);
	assert_string_equal((const char *)text.bytes, expected);
	buffer_release(&text);
	call_events_free(events);
}

static struct profile *two_threads(void)
{
	struct profile *profile = profile_new();
	struct profile_process process = { .pid = 1 };
	struct profile_resource resource = { .name = (uint32_t)profile_add_string(profile, "calls"),
					     .unit = (uint32_t)profile_add_string(profile, "ns"),
					     .kind = RESOURCE_EXACT,
					     .interval = 1 };
	struct profile_module module = { .path = (uint32_t)profile_add_string(profile, "/usr/bin/prog") };
	profile_add_process(profile, &process);
	profile_add_resource(profile, &resource);
	resource.name = (uint32_t)profile_add_string(profile, "bytes");
	profile_add_resource(profile, &resource);
	profile_add_module(profile, &module);
	for (uint32_t tid = 1; tid <= 2; tid++) {
		struct profile_thread thread = { .tid = tid };
		profile_add_thread(profile, &thread);
	}
	uint32_t node = PROFILE_ROOT;
	for (uint32_t i = 0; i < 6; i++) {
		int64_t location = profile_add_location(profile, 0, 0x1000 + i % 4);
		node = (uint32_t)profile_add_node(profile, node, (uint32_t)location);
		profile_add_hit(profile, 100 + i, i % 2, node, i % 2, 1 + i);
	}
	struct profile_label label = { (uint32_t)profile_add_string(profile, "tenant"),
				       (uint32_t)profile_add_string(profile, "acme") };
	profile_label_hits(profile, 3, (uint32_t)profile_add_label_set(profile, &label, 1));
	assert_int_equal(profile_check(profile), 0);
	return profile;
}

static void test_call_events(void **state)
{
	(void)state;
	struct profile *profile = two_threads();
	struct view_options view = { .thread = VIEW_ANY };
	assert_events(
		profile, view,
		"t1 10(a 20(b 30(b 35.b 40)b 40)b 40)a 47(g 50)g 50(c 60!3 65(a 65)a 90!4 90)c $ t2 15(e 95)e $ ");
	view.thread = 1;
	assert_events(profile, view, "t2 15(e 95)e $ ");
	view = (struct view_options){ .thread = VIEW_ANY, .from_ns = 25, .to_ns = 55 };
	assert_events(profile, view, "t1 25(a 25(b 30(b 35.b 40)b 40)b 40)a 47(g 50)g 50(c 55)c $ t2 25(e 55)e $ ");
	view = (struct view_options){ .thread = VIEW_ANY, .from_ns = 91 };
	assert_events(profile, view, "t1 $ t2 91(e 95)e $ ");
	view = (struct view_options){ .thread = VIEW_ANY, .to_ns = 12 };
	assert_events(profile, view, "t1 10(a 12)a $ t2 $ ");
	const bool processes[] = { false };
	view = (struct view_options){ .thread = VIEW_ANY, .processes = processes };
	assert_events(profile, view, "");
	profile_free(profile);
}

static void test_json_numbers(void **state)
{
	(void)state;
	char *text = NULL;
	size_t size, count = 0;
	FILE *out = open_memstream(&text, &size);
	struct sink sink;
	struct json_out json;
	sink_init(&sink, out);
	json_out_init(&json, &sink, NULL);
	for (uint64_t number = 1; number < UINT64_MAX / 1000; number *= 1000) {
		json_out_comma(&json, &count);
		json_out_decimal(&json, number, 1000000);
	}
	json_out_text(&json, " ");
	json_out_number(&json, UINT64_MAX);
	json_out_number(&json, 0);
	json_out_decimal(&json, 12340, 10);
	json_out_string(&json, "a\"\\\n\x80\xc3\xa9\xe2\x80\xae\xf0\x9f\x98\x80z");
	assert_int_equal(json_out_end(&json), 0);
	fclose(out);
	assert_string_equal(text, "0.000001,0.001,1,1000,1000000,1000000000 1844674407370955161501234"
				  "\"a\\\"\\\\\\u000a\\ufffd\xc3\xa9\\u202e\xf0\x9f\x98\x80z\"");
	free(text);
}

/* Returns the code of an export of every resource, with the events if the format takes them. */
static int export_to(FILE *out, const struct format *format, const struct profile *profile, int source_code)
{
	struct list_of_events list = some(source_code);
	struct error error;
	struct sink sink;
	struct format_input input = { .profile = profile, .view = { .resource = PROFILE_NONE, .thread = VIEW_ANY } };
	if (format->needs & FORMAT_TAKES_TRACE)
		input.events = &list.source;
	sink_init(&sink, out);
	int code = format_export(format, &input, &sink, &error);
	if (code < 0) {
		assert_int_equal(code, error.code);
		assert_string_not_equal(error.message, "");
	}
	return code;
}

static bool is_tested(const struct format *format)
{
	return format->has_several && format->paths != FORMAT_NO_PATHS;
}

static void try_export(const struct format *format, const struct profile *profile)
{
	static char bytes[1 << 16];
	FILE *out = fopen("/dev/null", "w");
	assert_non_null(out);
	setvbuf(out, bytes, _IOFBF, sizeof(bytes));
	int code = export_to(out, format, profile, 0);
	assert_true(code == 0 || code == ERROR_MEMORY);
	fclose(out);
}

static void test_no_memory(void **state)
{
	(void)state;
	struct profile *profile = two_threads();
	size_t tested = 0;
	for (size_t i = 0; formats[i]; i++) {
		if (!is_tested(formats[i]))
			continue;
		ALLOC_FAIL_EACH(try_export(formats[i], profile));
		tested++;
	}
	assert_true(tested >= 6);
	profile_free(profile);
}

static void test_no_room_and_damage(void **state)
{
	(void)state;
	struct profile *profile = two_threads();
	for (size_t i = 0; formats[i]; i++) {
		if (!is_tested(formats[i]))
			continue;
		FILE *full = fopen("/dev/full", "w");
		assert_int_equal(export_to(full, formats[i], profile, 0), ERROR_NO_SPACE);
		fclose(full);
		FILE *null = fopen("/dev/null", "w");
		bool takes_events = formats[i]->needs & FORMAT_TAKES_TRACE;
		assert_int_equal(export_to(null, formats[i], profile, ERROR_CORRUPT), takes_events ? ERROR_CORRUPT : 0);
		fclose(null);
	}
	profile_free(profile);
}

/* Chrome's format names each process and each thread once. */
static void test_names_of_threads(void **state)
{
	(void)state;
	struct profile *profile = two_threads();
	size_t i = 0, size = 0, processes = 0, threads = 0;
	char *text = NULL;
	while (strcmp(formats[i]->name, "chrome") != 0)
		i++;
	FILE *out = open_memstream(&text, &size);
	assert_int_equal(export_to(out, formats[i], profile, 0), 0);
	fclose(out);
	for (const char *at = text; (at = strstr(at, "\"process_name\"")); at++)
		processes++;
	for (const char *at = text; (at = strstr(at, "\"thread_name\"")); at++)
		threads++;
	assert_int_equal(processes, 1);
	assert_int_equal(threads, 2);
	free(text);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_events),        cmocka_unit_test(test_json_numbers),
		cmocka_unit_test(test_names_of_threads),   cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_no_room_and_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
