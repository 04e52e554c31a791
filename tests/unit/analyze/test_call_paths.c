/* The input of exporters: call paths with their frames, values and hits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/call_paths.h"
#include "base/buffer.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"

static void add_resource(struct profile *profile, const char *name)
{
	struct profile_resource resource = { .name = (uint32_t)profile_add_string(profile, name),
					     .kind = RESOURCE_EXACT,
					     .interval = 1 };
	assert_true(profile_add_resource(profile, &resource) >= 0);
}

/* main calls the function parse of two libraries. "a:10" and "a:20" are two lines of the first one; "in" is
 * inlined into "a:20". */
static void start(struct paths *paths)
{
	paths_start(paths, RESOURCE_SAMPLED);
	add_resource(paths->profile, "calls");
	uint32_t liba = paths_module(paths, "/usr/lib/liba.so"), libb = paths_module(paths, "/usr/lib/libb.so");
	uint32_t of_a = paths_function(paths, "parse", liba, "/src/a.c", 5, ROLE_NONE);
	uint32_t of_b = paths_function(paths, "parse", libb, "/src/b.c", 6, ROLE_NONE);
	uint32_t in = paths_function(paths, "in", liba, "/src/a.h", 1, ROLE_NONE);
	uint32_t begin = paths_function(paths, "_start", 0, "", 0, ROLE_START);
	paths_define(paths, "_start", 0, &begin, (uint32_t[]){ 0 }, 1);
	paths_define(paths, "a:10", liba, &of_a, (uint32_t[]){ 10 }, 1);
	paths_define(paths, "a:20", liba, (uint32_t[]){ in, of_a }, (uint32_t[]){ 3, 20 }, 2);
	paths_define(paths, "b", libb, &of_b, (uint32_t[]){ 7 }, 1);
	paths_define_bare(paths, "bare", libb, 0x1a40);
	paths_add(paths, "_start;main;a:10", 1);
	paths_add(paths, "_start;main;a:20", 2);
	paths_add(paths, "_start;main;b;bare", 4);
	paths->resource = 1;
	paths_add(paths, "_start;main;a:20", 8);
	paths->profile->symbolized = true;
}

static struct call_paths *made(const struct paths *paths, struct view_options options)
{
	struct error error = { 0 };
	options.thread = VIEW_ANY;
	struct call_paths *made = call_paths_new(paths->profile, &options, &error);
	if (!made)
		fail_msg("%s", error.message);
	return made;
}

static void append_frame(struct buffer *text, const struct path_frame *frame, bool with_lines)
{
	buffer_append_string(text, frame->name);
	if (with_lines)
		buffer_printf(text, "(%s:%u%s)", frame->file, frame->line, frame->inlined ? " inlined" : "");
}

/* Compares all paths that have values, with a value for each resource: "main;f 1 2\n". */
static void assert_paths(const struct call_paths *paths, bool with_lines, const char *expected)
{
	struct buffer text;
	uint32_t frames[16];
	buffer_init(&text);
	for (uint32_t i = 0; i < paths->count; i++) {
		uint64_t sum = 0;
		for (uint32_t k = 0; k < paths->resource_count; k++)
			sum += call_paths_values(paths, i)[k];
		size_t length = call_paths_frames(paths, i, frames);
		assert_true(length <= paths->depth);
		for (size_t k = 0; k < length && sum > 0; k++) {
			buffer_append_string(&text, k ? ";" : "");
			append_frame(&text, &paths->frames[frames[k]], with_lines);
		}
		for (uint32_t k = 0; k < paths->resource_count && sum > 0; k++)
			buffer_printf(&text, " %llu", (unsigned long long)call_paths_values(paths, i)[k]);
		buffer_append_string(&text, sum > 0 ? "\n" : "");
	}
	buffer_append_byte(&text, 0);
	assert_string_equal((const char *)text.bytes, expected);
	buffer_release(&text);
}

static void frames_are_functions(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	struct call_paths *found = made(&paths, (struct view_options){ .by = VIEW_FUNCTION });
	assert_int_equal(found->resource_count, 1);
	assert_paths(found, false,
		     "main;parse@liba.so 1\nmain;parse@liba.so;in 2\nmain;parse@libb.so;libb.so+0x1a40 4\n");
	for (size_t i = 0; i < found->frame_count; i++) {
		const struct path_frame *frame = &found->frames[i];
		assert_false(frame->inlined);
		if (strcmp(frame->name, "parse@libb.so") != 0)
			continue;
		assert_string_equal(frame->function, "parse");
		assert_string_equal(frame->file, "/src/b.c");
		assert_int_equal(frame->line, 6);
		assert_string_equal(frame->module, "/usr/lib/libb.so");
		assert_int_equal(frame->kind, FRAME_NATIVE);
	}
	call_paths_free(found);
	found = made(&paths, (struct view_options){ .by = VIEW_FUNCTION, .no_inlines = true, .untrimmed = true });
	assert_paths(found, false, "_start;main;parse@liba.so 3\n_start;main;parse@libb.so;libb.so+0x1a40 4\n");
	call_paths_free(found);
	paths_end(&paths);
}

static void frames_are_lines(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	struct call_paths *found = made(&paths, (struct view_options){ .by = VIEW_FRAME, .every_resource = true });
	assert_int_equal(found->resource_count, 2);
	assert_paths(found, true,
		     "main(:0);parse@liba.so(/src/a.c:10) 1 0\n"
		     "main(:0);parse@liba.so(/src/a.c:20);in(/src/a.h:3 inlined) 2 8\n"
		     "main(:0);parse@libb.so(/src/b.c:7);libb.so+0x1a40(:0) 4 0\n");
	call_paths_free(found);
	found = made(&paths, (struct view_options){ .by = VIEW_FRAME, .resource = 1, .no_inlines = true });
	assert_paths(found, true, "main(:0);parse@liba.so(/src/a.c:20) 8\n");
	call_paths_free(found);
	struct error error;
	assert_null(call_paths_new(paths.profile, &(struct view_options){ .resource = 2, .thread = VIEW_ANY }, &error));
	assert_int_equal(error.code, ERROR_NOT_FOUND);
	paths_end(&paths);
}

/* A line of a function is another frame where it is inlined than where it is called. */
static void inlined_frames_are_apart(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	uint32_t of_a = paths_function(&paths, "parse", 1, "/src/a.c", 5, ROLE_NONE);
	uint32_t in = paths_function(&paths, "in", 1, "/src/a.h", 1, ROLE_NONE);
	paths_define(&paths, "a:20 alone", 1, &of_a, (uint32_t[]){ 20 }, 1);
	paths_define(&paths, "in:3", 1, &in, (uint32_t[]){ 3 }, 1);
	paths_add(&paths, "_start;main;a:20 alone;in:3", 16);
	struct call_paths *found = made(&paths, (struct view_options){ .by = VIEW_FRAME, .resource = 1 });
	assert_paths(found, true,
		     "main(:0);parse@liba.so(/src/a.c:20);in(/src/a.h:3) 16\n"
		     "main(:0);parse@liba.so(/src/a.c:20);in(/src/a.h:3 inlined) 8\n");
	call_paths_free(found);
	paths_end(&paths);
}

/* Hits are sorted by thread and time, in whatever order they were recorded. */
static void hits_are_in_order(void **state)
{
	(void)state;
	static const struct {
		uint32_t thread;
		uint64_t time_ns;
		uint32_t count;
	} recorded[] = { { 1, 30, 1 }, { 0, 40, 2 }, { 1, 20, 4 }, { PROFILE_NONE, 0, 8 } };
	static const uint32_t order[] = { 2, 4, 1, 8 };
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	for (uint32_t i = 0; i < 2; i++) {
		struct profile_process process = { .pid = i + 1 };
		struct profile_thread thread = { .tid = i + 1,
						 .process = (uint32_t)profile_add_process(paths.profile, &process) };
		assert_true(profile_add_thread(paths.profile, &thread) >= 0);
	}
	struct profile_label label = { .key = (uint32_t)profile_add_string(paths.profile, "tenant"),
				       .value = (uint32_t)profile_add_string(paths.profile, "acme") };
	int64_t set = profile_add_label_set(paths.profile, &label, 1);
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		paths.thread = recorded[i].thread;
		paths.time_ns = recorded[i].time_ns;
		paths_add(&paths, i % 2 ? "main;f" : "main;g", recorded[i].count);
	}
	assert_int_equal(profile_label_hits(paths.profile, 3, (uint32_t)set), 0);
	struct call_paths *found = made(&paths, (struct view_options){ .by = VIEW_FUNCTION });
	size_t count;
	struct path_hit *hits = call_paths_hits(found, &count);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++) {
		bool is_last = i == 3;
		assert_int_equal(hits[i].count, order[i]);
		assert_int_equal(hits[i].label_set, is_last ? set : PROFILE_NO_LABELS);
		assert_int_equal(hits[i].process, hits[i].thread);
		assert_string_equal(found->frames[found->frame[hits[i].path]].name,
				    hits[i].count == 2 || hits[i].count == 8 ? "f" : "g");
	}
	free(hits);
	call_paths_free(found);
	paths_end(&paths);
}

static void try_all(const struct paths *paths)
{
	struct error error;
	const struct view_options options = { .by = VIEW_FRAME, .every_resource = true, .thread = VIEW_ANY };
	struct call_paths *found = call_paths_new(paths->profile, &options, &error);
	size_t count = 0;
	struct path_hit *hits = found ? call_paths_hits(found, &count) : NULL;
	assert_true(!hits || count == paths->profile->hit_count);
	free(hits);
	call_paths_free(found);
}

static void memory_may_be_short(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	ALLOC_FAIL_EACH(try_all(&paths));
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_functions),     cmocka_unit_test(frames_are_lines),
		cmocka_unit_test(inlined_frames_are_apart), cmocka_unit_test(hits_are_in_order),
		cmocka_unit_test(memory_may_be_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
