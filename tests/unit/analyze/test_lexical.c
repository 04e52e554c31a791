/* Lexical paths (analyze/lexical.h): small trees before and after. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/lexical.h"
#include "support/alloc_fail.h"

/* --- trees --- */

static uint32_t location_of(struct profile *profile, const char *name)
{
	int64_t text = profile_add_string(profile, name);
	for (uint32_t i = 0; i < profile->location_count; i++)
		if (profile->locations[i].frame_count &&
		    profile->functions[profile->frames[profile->locations[i].first_frame].function].name == text)
			return i;
	const struct profile_function function = { .name = (uint32_t)text, .linkage = (uint32_t)text };
	const struct profile_frame frame = { .function = (uint32_t)profile_add_function(profile, &function) };
	int64_t first = profile_add_frame(profile, &frame);
	int64_t id = profile_add_location(profile, 0, profile->location_count + 1);
	profile->locations[id].first_frame = (uint32_t)first;
	profile->locations[id].frame_count = 1;
	return (uint32_t)id;
}

/* Adds a hit at a path, "main sort compare". "|" marks where a thread begins. */
static void add_path(struct profile *profile, const char *path, uint64_t count)
{
	char words[128], *at = words;
	int64_t node = PROFILE_ROOT;
	snprintf(words, sizeof(words), "%s", path);
	for (char *word; (word = strsep(&at, " "));)
		node = profile_add_node(profile, (uint32_t)node,
					*word == '|' ? (uint32_t)profile_add_location(profile, 1, 0)
						     : location_of(profile, word));
	profile_add_hit(profile, 0, PROFILE_NONE, (uint32_t)node, 0, count);
}

static struct profile *make(const char *const paths[], const char *const takings[])
{
	struct profile *profile = profile_new();
	const struct profile_resource resource = { .kind = RESOURCE_EXACT, .interval = 1 };
	const struct profile_module program = { .kind = MODULE_FILE }, mark = { .kind = MODULE_THREAD };
	profile_add_resource(profile, &resource);
	profile_add_module(profile, &program);
	profile_add_module(profile, &mark);
	for (uint64_t i = 0; paths[i]; i++)
		add_path(profile, paths[i], i + 1);
	for (size_t i = 0; takings[i]; i++) {
		char sign = takings[i][0];
		profile_add_note(profile,
				 sign == '='   ? LEXICAL_NOTE_CALLED
				 : sign == '+' ? PROFILE_NOTE_NESTED
					       : LEXICAL_NOTE,
				 takings[i] + (sign == '=' || sign == '+'));
	}
	return profile;
}

/* Compares the path of the hit that has this count. */
static void expect_path(const struct profile *profile, uint32_t count, const char *expected)
{
	char path[512] = "", inner[258];
	const struct profile_hit *hit = &profile->hits[0];
	while (hit->count != count)
		hit++;
	for (uint32_t at = hit->node; at != PROFILE_ROOT; at = profile->nodes[at].parent) {
		const struct profile_location *location = &profile->locations[profile->nodes[at].location];
		snprintf(inner, sizeof(inner), "%s%.250s", path[0] ? " " : "", path);
		snprintf(path, sizeof(path), "%s%s",
			 location->frame_count
				 ? profile_string(
					   profile,
					   profile->functions[profile->frames[location->first_frame].function].name)
				 : "|",
			 inner);
	}
	assert_string_equal(path, expected);
}

static void check(const char *const paths[], const char *const takings[], int64_t moved, const char *const expected[])
{
	struct profile *profile = make(paths, takings);
	assert_int_equal(lexical_paths(profile), moved);
	assert_int_equal(profile_check(profile), 0);
	for (uint32_t i = 0; expected[i]; i++)
		expect_path(profile, i + 1, expected[i]);
	profile_free(profile);
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* --- trees after the change --- */

static void library_between_is_left_out(void **state)
{
	(void)state;
	check(LIST("main sort qsort merge compare less", "main sort qsort", "main other qsort compare"),
	      LIST("compare\tsort\ta.c:3"), 1, LIST("main sort compare less", "main sort qsort", "sort compare"));
}

static void the_innermost_taker_counts(void **state)
{
	(void)state;
	check(LIST("main a b call f"), LIST("f\ta\t", "f\tb\t"), 1, LIST("main a b f"));
	check(LIST("main a a call f"), LIST("f\ta\t"), 1, LIST("main a a f"));
}

static void who_calls_it_directly_has_it_already(void **state)
{
	(void)state;
	check(LIST("main a f"), LIST("f\ta\t"), 0, LIST("main a f"));
	check(LIST("main a call f f f"), LIST("f\ta\t"), 1, LIST("main a f f f"));
}

static void of_several_takers_elsewhere_none_is_chosen(void **state)
{
	(void)state;
	check(LIST("main loop f", "main a", "main b"), LIST("f\ta\t", "f\tb\t"), 0, LIST("main loop f"));
	check(LIST("main loop f", "main a"), LIST("f\ta\t1", "f\ta\t2"), 1, LIST("a f"));
	check(LIST("main loop f"), LIST("f\tnever_called\t"), 0, LIST("main loop f"));
}

/* The mark of a thread's start is not a frame: the part of the path above it does not change. */
static void threads_begin_where_they_were_created(void **state)
{
	(void)state;
	check(LIST("main create | start f"), LIST("f\tmain\t"), 0, LIST("main create | start f"));
	check(LIST("main create | start a call f"), LIST("f\ta\t"), 1, LIST("main create | start a f"));
}

static void equal_paths_become_one(void **state)
{
	(void)state;
	struct profile *profile = make(LIST("main sort x f", "main sort y f"), LIST("f\tsort\t"));
	assert_int_equal(lexical_paths(profile), 1);
	assert_int_equal(profile->hits[0].node, profile->hits[1].node);
	/* profile_add_node finds the changed node. */
	int64_t again = profile_add_node(profile, profile->nodes[profile->hits[0].node].parent,
					 profile->nodes[profile->hits[0].node].location);
	assert_int_equal(again, profile->hits[0].node);
	profile_free(profile);
}

static void names_are_those_of_the_source(void **state)
{
	(void)state;
	check(LIST("main ns::sort<int>(int*) qsort ns::less(void*)"), LIST("less\tns::sort\ta.cc:1"), 1,
	      LIST("main ns::sort<int>(int*) ns::less(void*)"));
}

static void other_notes_do_no_harm(void **state)
{
	(void)state;
	check(LIST("main a call f"), LIST("f", "f\ta", "", "\t\t"), 0, LIST("main a call f"));
}

/* A note that begins with '=' is one of a call by name. */
static void calls_by_name_stay(void **state)
{
	(void)state;
	check(LIST("main init", "main a f", "main b f", "main a c f"), LIST("f\tinit\t", "=f\ta"), 1,
	      LIST("main init", "main a f", "init f", "init f"));
	check(LIST("main init call a f", "main init call f"), LIST("f\tinit\t", "=f\ta"), 1,
	      LIST("main init call a f", "main init f"));
	check(LIST("main ns::a(int) ns::f(int)", "init"), LIST("f\tinit\t", "=f\tns::a"), 0,
	      LIST("main ns::a(int) ns::f(int)"));
	check(LIST("main a f", "init"), LIST("f\tinit\t", "=f", "=a\tf"), 1, LIST("init f"));
}

/* A note that begins with '+' is one of a nested function. */
static void nested_functions_stand_in_their_host(void **state)
{
	(void)state;
	check(LIST("main sort qsort less", "main sort less"), LIST("+less\tsort"), 1,
	      LIST("main sort less", "main sort less"));
	/* Functions that are nested in the same one, or deeper, may call each other by name. */
	check(LIST("main sum each add scale rest", "main sum each call scale", "main sum each rest"),
	      LIST("+add\tsum", "+scale\tsum", "+rest\tscale"), 3,
	      LIST("main sum add scale rest", "main sum scale", "scale rest"));
	check(LIST("main sum scale rest add"), LIST("+add\tsum", "+scale\tsum", "+rest\tscale"), 0,
	      LIST("main sum scale rest add"));
	check(LIST("main a call f", "main a b"), LIST("+f\ta", "+b\tb", "+b\tc", "+c\tb", "+", "+\t"), 1,
	      LIST("main a f", "main a b"));
}

/* The first function of the table is taken, and so is the function of the last note. A function without a name does no harm. */
static void all_rows_are_read(void **state)
{
	(void)state;
	check(LIST("f x", "main a call f", "main b call g", "main a call h", "main  f"),
	      LIST("f\ta\t", "x\ty\t", "g\tb\t", "h\ta\t"), 3, LIST("f x", "main a f", "main b g", "main a h", "a f"));
}

static void try(void)
{
	struct profile *profile = profile_new();
	if (!profile)
		return;
	int64_t result = profile_add_note(profile, LEXICAL_NOTE, "f\ta\t") < 0 ? ERROR_MEMORY : lexical_paths(profile);
	assert_true(result == 0 || result == ERROR_MEMORY);
	profile_free(profile);
}

static void no_memory_is_an_error(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(try());
	for (unsigned long number = 1, more = 1; more; number++) {
		struct profile *profile = make(LIST("main a call f g h"), LIST("f\ta\t", "=g\tf"));
		alloc_fail_start(number);
		int64_t result = lexical_paths(profile);
		more = alloc_fail_stop();
		assert_int_equal(result, more ? ERROR_MEMORY : 1);
		expect_path(profile, 1, more ? "main a call f g h" : "main a f g h");
		profile_free(profile);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(library_between_is_left_out),
		cmocka_unit_test(the_innermost_taker_counts),
		cmocka_unit_test(who_calls_it_directly_has_it_already),
		cmocka_unit_test(of_several_takers_elsewhere_none_is_chosen),
		cmocka_unit_test(threads_begin_where_they_were_created),
		cmocka_unit_test(equal_paths_become_one),
		cmocka_unit_test(names_are_those_of_the_source),
		cmocka_unit_test(other_notes_do_no_harm),
		cmocka_unit_test(calls_by_name_stay),
		cmocka_unit_test(nested_functions_stand_in_their_host),
		cmocka_unit_test(all_rows_are_read),
		cmocka_unit_test(no_memory_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
