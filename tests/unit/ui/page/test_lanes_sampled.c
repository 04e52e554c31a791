/* The samples of a thread as lanes: which frames one box joins, how long a sample lasts, and what is left at lower detail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/alloc_fail.h"
#include "support/paths_profile.h"
#include "ui/page/lanes.h"

enum { START = 1000 };

static struct paths paths;

/* A profile from 0 to 1,000 ns whose hits are 10 units. */
static void begin(const char *unit)
{
	paths_start(&paths, RESOURCE_SAMPLED);
	struct profile *profile = paths.profile;
	assert_true(profile_add_process(profile, &(struct profile_process){ .pid = 4 }) >= 0);
	while (profile->thread_count < 2)
		assert_true(profile_add_thread(profile, &(struct profile_thread){ .tid = 5 }) >= 0);
	paths.thread = 0;
	profile->start_ns = START;
	profile->end_ns = START + 1000;
	profile->resources[0].unit = (uint32_t)profile_add_string(profile, unit);
	profile->resources[0].interval = 10;
}

static void add(uint64_t time_ns, const char *stack, uint64_t hits)
{
	paths.time_ns = START + time_ns;
	paths_add(&paths, stack, hits);
}

static struct lanes *make(uint32_t thread, uint64_t period_ns, size_t most, uint64_t *detail_ns)
{
	struct error error = { 0 };
	const struct view_options options = { .thread = thread, .keep_view_nodes = true };
	struct view *view = view_new(paths.profile, &options, &error);
	struct lanes *lanes = view ? lanes_sampled(view, period_ns, most, detail_ns, &error) : NULL;
	assert_true(lanes || error.code == ERROR_MEMORY);
	view_free(view);
	return lanes;
}

/* Compares "DEPTH NAME FROM TO, ..." of the calls, "TIME NAME, ..." of the samples, and "FROM TO, ..." of the times that they stand for. */
static void assert_lane(uint64_t period_ns, size_t most, uint64_t detail_ns, const char *calls, const char *marks,
			const char *covered)
{
	struct buffer text;
	uint64_t found_ns;
	struct lanes *lanes = make(0, period_ns, most, &found_ns);
	assert_int_equal(lanes->lane_count, 2);
	const struct lane *lane = &lanes->lanes[0], *cover = &lanes->lanes[LANES_COVERED];
	buffer_init(&text);
	for (size_t depth = 0; depth < lane->depth_count; depth++)
		for (size_t i = lane->depths[depth]; i < lane->depths[depth + 1]; i++) {
			const struct lane_call *call = &lane->calls[i];
			buffer_printf(&text, "%s%zu %s %d %d", i > 0 ? ", " : "", depth, lanes->names[call->name],
				      (int)call->start_ns, (int)call->end_ns);
		}
	buffer_append_byte(&text, 0);
	assert_string_equal((char *)text.bytes, calls);
	buffer_clear(&text);
	for (size_t i = 0; i < lane->mark_count; i++)
		buffer_printf(&text, "%s%d %s", i > 0 ? ", " : "", (int)lane->marks[i].time_ns,
			      lanes->names[lane->marks[i].name]);
	buffer_append_byte(&text, 0);
	assert_string_equal((char *)text.bytes, marks);
	buffer_clear(&text);
	for (size_t i = 0; i < cover->call_count; i++)
		buffer_printf(&text, "%s%d %d", i > 0 ? ", " : "", (int)cover->calls[i].start_ns,
			      (int)cover->calls[i].end_ns);
	buffer_append_byte(&text, 0);
	assert_string_equal((char *)text.bytes, covered);
	buffer_release(&text);
	assert_int_equal(found_ns, detail_ns);
	lanes_free(lanes);
}

/* main runs on while f and g follow each other; equal frames below another caller are others. The samples of the other thread are not shown. */
static void equal_frames_are_one_box(void **state)
{
	(void)state;
	begin("ns");
	add(110, "main;f;x", 1);
	add(120, "main;f;x", 1);
	add(130, "main;f", 1);
	add(140, "main;g;x", 1);
	paths.thread = 1;
	add(135, "main;h", 1);
	paths.thread = 0;
	assert_lane(0, 100, 0, "0 main 100 140, 1 f 100 130, 1 g 130 140, 2 x 100 120, 2 x 130 140",
		    "110 x, 120 x, 130 f, 140 x", "100 140");
	paths_end(&paths);
}

/* A sample lasts as long as its hits; a gap below one interval belongs to the sample behind it. What is on both sides of a longer gap
 * goes on in it. */
static void gaps(void **state)
{
	(void)state;
	begin("ns");
	add(5, "main", 1);     /* begins with the recording */
	add(110, "main", 10);  /* a wait, 5 ns behind the sample before it */
	add(129, "main;f", 1); /* 9 ns behind it */
	add(159, "main;g", 1); /* 20 ns behind it */
	add(161, "main;g", 3); /* its hits would overlap the sample before it */
	assert_lane(0, 100, 0, "0 main 0 161, 1 f 110 129, 1 g 149 161", "5 main, 110 main, 129 f, 159 g, 161 g",
		    "0 129, 149 161");
	paths_end(&paths);
}

/* A sample of a resource that is no time lasts as long as the samples are apart in the mean: 133 ns. */
static void events(void **state)
{
	(void)state;
	begin("fault");
	add(100, "main;f", 7);
	add(150, "main;f", 1);
	add(200, "main;g", 1);
	add(500, "main;g", 1);
	assert_lane(0, 100, 0, "0 main 0 500, 1 f 0 150, 1 g 150 500", "100 f, 150 f, 200 g, 500 g", "0 200, 367 500");
	paths_end(&paths);
	begin("fault");
	add(100, "main", 1);
	assert_lane(0, 100, 0, "0 main 100 100", "100 main", "100 100");
	paths_end(&paths);
}

/* Hits with equal times have the path that more than half of them share; a sample without a frame is no call. */
static void samples_of_one_time(void **state)
{
	(void)state;
	begin("ns");
	add(100, "main;f;x", 3);
	add(100, "main;f;y", 2);
	add(100, "main;g", 4);
	add(300, "main", 1);
	add(300, "other", 1);
	assert_lane(0, 100, 0, "0 main 10 100, 1 f 10 100", "100 f", "10 100, 280 300");
	paths_end(&paths);
}

/* Times that were rounded to the middle of periods: each moment is one period. */
static void periods(void **state)
{
	(void)state;
	begin("ns");
	add(50, "main;f", 1);
	add(150, "main;f", 2);
	add(150, "main;g", 1);
	add(350, "main;f", 1);
	add(450, "main;g", 1);
	assert_lane(100, 100, 0, "0 main 0 500, 1 f 0 400, 1 g 400 500", "50 f, 150 f, 350 f, 450 g", "0 200, 300 500");
	paths_end(&paths);
}

/* Too many calls: samples within longer and longer times become one, until there is room. The samples are still marked. */
static void lower_detail(void **state)
{
	(void)state;
	begin("ns");
	for (uint64_t at = 10; at < 100; at += 10)
		add(at, at == 50 ? "main;g" : at % 20 == 10 ? "main;f;x" : "main;f;y", 1);
	const char *const marks = "10 x, 20 y, 30 x, 40 y, 50 g, 60 y, 70 x, 80 y, 90 x";
	assert_lane(0, 12, 0,
		    "0 main 0 90, 1 f 0 40, 1 g 40 50, 1 f 50 90, 2 x 0 10, 2 y 10 20, 2 x 20 30, 2 y 30 40, "
		    "2 y 50 60, 2 x 60 70, 2 y 70 80, 2 x 80 90",
		    marks, "0 90");
	assert_lane(0, 5, 32, "0 main 0 90, 1 f 0 90, 2 x 0 30, 2 y 30 60, 2 x 60 90", marks, "0 90");
	assert_lane(0, 4, 64, "0 main 0 90, 1 f 0 90, 2 x 60 90", marks,
		    "0 90");                                             /* up to 60, y has no more than half */
	assert_lane(0, 0, 1024, "0 main 0 90, 1 f 0 90", marks, "0 90"); /* longer than the recording */
	paths_end(&paths);
}

static void make_any(void)
{
	uint64_t detail_ns;
	lanes_free(make(0, 0, 2, &detail_ns));
}

static void without_memory(void **state)
{
	(void)state;
	begin("ns");
	add(10, "main;f", 1);
	add(20, "main;g", 1);
	ALLOC_FAIL_EACH(make_any());
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_frames_are_one_box), cmocka_unit_test(gaps),    cmocka_unit_test(events),
		cmocka_unit_test(samples_of_one_time),      cmocka_unit_test(periods), cmocka_unit_test(lower_detail),
		cmocka_unit_test(without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
