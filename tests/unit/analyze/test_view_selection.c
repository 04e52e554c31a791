/*
 * Random selections of random profiles, against their definition (analyze/view.h): the hits that a view counts, the shares of
 * threads and processes, the narrowed profile; and the cache of views.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/narrow.h"
#include "analyze/shares.h"
#include "analyze/view.h"
#include "analyze/view_cache.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"
#include "support/sample_profile.h"

enum { PROFILES = 12, SELECTIONS = 40, HITS = 200 };

/* --- the definition --- */

static bool has_range(const struct view_options *options)
{
	return options->from_ns > 0 || options->to_ns > 0;
}

static bool is_in_time(const struct view_options *options, uint64_t since_ns)
{
	return since_ns >= options->from_ns && (options->to_ns == 0 || since_ns < options->to_ns);
}

/* Returns the ns from hit to hit of a sample of time, or 0. */
static uint64_t hit_ns(const struct profile *profile, const struct profile_hit *hit)
{
	const struct profile_resource *resource = &profile->resources[hit->resource];
	bool is_time = strcmp(profile_string(profile, resource->unit), "ns") == 0;
	return is_time && resource->kind == RESOURCE_SAMPLED ? resource->interval : 0;
}

/* Returns the hits of a row in the range, one after the other from the last to the first. */
static uint64_t counted_in_time(const struct profile *profile, const struct view_options *options,
				const struct profile_hit *hit)
{
	uint64_t samples = UINT64_C(1) + hit->more_samples, step_ns = hit_ns(profile, hit), found = 0;
	if (!has_range(options))
		return hit->count;
	if (hit->time_ns == 0 || hit->time_ns < profile->start_ns)
		return 0;
	uint64_t since_ns = hit->time_ns - profile->start_ns, left = hit->count / samples;
	if (step_ns == 0)
		return is_in_time(options, since_ns) ? hit->count : 0;
	for (; left > 0 && since_ns > 0; left--) {
		found += is_in_time(options, since_ns) ? samples : 0;
		since_ns -= step_ns < since_ns ? step_ns : since_ns;
	}
	return found + (is_in_time(options, 0) ? left * samples : 0); /* before the start */
}

/* Returns the number of hits of a row that the options select. */
static uint64_t counted(const struct profile *profile, const struct view_options *options, size_t index)
{
	const struct profile_hit *hit = &profile->hits[index];
	if (!options->every_resource && hit->resource != options->resource)
		return 0;
	if (options->thread != VIEW_ANY && hit->thread != options->thread)
		return 0;
	if (options->processes &&
	    (hit->thread == PROFILE_NONE || !options->processes[profile->threads[hit->thread].process]))
		return 0;
	if (options->label_sets && !options->label_sets[profile_hit_labels(profile, index)])
		return 0;
	return counted_in_time(profile, options, hit);
}

/* --- selections --- */

static const bool *random_subset(struct random *random, bool *room, size_t count)
{
	if (random_below(random, 2))
		return NULL;
	for (size_t i = 0; i < count; i++)
		room[i] = random_below(random, 2);
	return room;
}

/* Returns a time near the time of a hit, counted from the start of the recording; often exactly that. */
static uint64_t random_time(struct random *random, const struct profile *profile)
{
	uint64_t time_ns = profile->hits[random_below(random, profile->hit_count)].time_ns;
	uint64_t since = time_ns > profile->start_ns ? time_ns - profile->start_ns : random_below(random, 3);
	return since + random_below(random, 3) - (since > 0);
}

/* `room` has room for the subsets. */
static struct view_options random_options(struct random *random, const struct profile *profile, bool *room)
{
	struct view_options options = { .resource = (uint32_t)random_below(random, profile->resource_count),
					.thread = VIEW_ANY };
	options.processes = random_subset(random, room, profile->process_count);
	options.label_sets = random_subset(random, room + profile->process_count, profile->label_set_count);
	if (random_below(random, 3) == 0)
		options.thread = (uint32_t)random_below(random, profile->thread_count);
	if (random_below(random, 2))
		options.from_ns = random_time(random, profile);
	if (random_below(random, 2))
		options.to_ns = random_time(random, profile);
	return options;
}

/* --- comparisons --- */

static void check_view(const struct profile *profile, const struct view_options *options)
{
	struct error error = { 0 };
	struct view *view = view_new(profile, options, &error);
	if (!view)
		fail_msg("%s", error.message);
	uint64_t *hits = calloc(profile->node_count, sizeof(*hits));
	uint64_t total = 0, rows = 0;
	double squares = 0;
	assert_non_null(hits);
	for (size_t i = 0; i < profile->hit_count; i++) {
		uint64_t found = counted(profile, options, i);
		if (found == 0)
			continue;
		hits[profile->hits[i].node] += found;
		total += found;
		uint64_t samples = UINT64_C(1) + profile->hits[i].more_samples;
		double size = (double)found / (double)samples;
		squares += (double)samples * size * size;
		rows += samples;
	}
	assert_memory_equal(view->node_hits, hits, profile->node_count * sizeof(*hits));
	assert_int_equal(view->total, total);
	assert_int_equal(view->weight[0], total);
	if (options->every_resource) {
		assert_null(view->resource);
		assert_int_equal(view->samples, 0);
	} else {
		const struct profile_resource *resource = &profile->resources[options->resource];
		bool is_time = strcmp(profile_string(profile, resource->unit), "ns") == 0;
		uint64_t samples = resource->kind == RESOURCE_EXACT    ? 0
				   : resource->kind == RESOURCE_MERGED ? total
								       : rows;
		bool is_weighted = resource->kind == RESOURCE_SAMPLED && is_time && rows > 0;
		double independent = is_weighted ? (double)total * (double)total / squares : (double)samples;
		assert_ptr_equal(view->resource, resource);
		assert_int_equal(view->samples, samples);
		assert_true(view->independent >= independent * (1 - 1e-12) &&
			    view->independent <= independent * (1 + 1e-12));
	}
	free(hits);
	view_free(view);
}

static void check_narrow(const struct profile *profile, const struct view_options *options)
{
	struct profile narrow;
	size_t next = 0;
	assert_int_equal(narrow_init(&narrow, profile, options, NULL), 0);
	for (size_t i = 0; i < profile->hit_count; i++) {
		struct profile_hit expected = profile->hits[i];
		uint64_t found = counted(profile, options, i);
		if (found == 0)
			continue;
		assert_true(next < narrow.hit_count);
		if (found < expected.count) {
			uint64_t time_ns = narrow.hits[next].time_ns;
			assert_true(time_ns <= expected.time_ns);
			assert_true(options->to_ns == 0 || time_ns - profile->start_ns <= options->to_ns);
			expected.count = found;
			expected.time_ns = time_ns;
		}
		assert_memory_equal(&narrow.hits[next++], &expected, sizeof(narrow.hits[0]));
	}
	assert_int_equal(narrow.hit_count, next);
	assert_int_equal(narrow.hit_label_count, 0);
	assert_ptr_equal(narrow.nodes, profile->nodes);
	narrow_release(&narrow);
}

static void check_shares(const struct profile *profile, const struct view_options *options, enum share_owner of)
{
	size_t owners = of == SHARE_OF_THREAD ? profile->thread_count : profile->process_count, listed = 0;
	uint64_t *hits = calloc(owners + 1, sizeof(*hits));
	assert_non_null(hits);
	for (size_t i = 0; i < profile->hit_count; i++) {
		uint32_t thread = profile->hits[i].thread;
		size_t owner = thread == PROFILE_NONE  ? owners
			       : of == SHARE_OF_THREAD ? thread
						       : profile->threads[thread].process;
		hits[owner] += counted(profile, options, i);
	}
	struct share_list *list = analyze_shares(profile, options, of, NULL);
	assert_non_null(list);
	assert_int_equal(list->of, of);
	for (size_t i = 0; i < list->count; i++) {
		const struct share *share = &list->shares[i];
		assert_int_equal(share->hits, hits[share->owner == PROFILE_NONE ? owners : share->owner]);
		assert_true(share->hits > 0);
		if (i > 0)
			assert_true(share[-1].hits > share->hits ||
				    (share[-1].hits == share->hits && share[-1].owner < share->owner));
	}
	for (size_t i = 0; i <= owners; i++)
		listed += hits[i] > 0;
	assert_int_equal(list->count, listed);
	share_list_free(list);
	free(hits);
}

static void random_selections(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= PROFILES; seed++) {
		struct random random = { .state = seed };
		struct profile *profile = profile_new();
		assert_non_null(profile);
		assert_true(sample_profile_grow(profile, &random, HITS) && sample_profile_symbolize(profile, &random));
		profile->resources[0].unit = (uint32_t)profile_add_string(profile, "ns");
		profile->resources[0].kind = RESOURCE_SAMPLED;
		bool *room = calloc(profile->process_count + profile->label_set_count, sizeof(*room));
		assert_non_null(room);
		for (unsigned i = 0; i < SELECTIONS; i++) {
			struct view_options options = random_options(&random, profile, room);
			check_view(profile, &options);
			check_shares(profile, &options, SHARE_OF_THREAD);
			check_shares(profile, &options, SHARE_OF_PROCESS);
			check_narrow(profile, &options);
			options.every_resource = true;
			check_view(profile, &options);
			options.resource = PROFILE_NONE; /* of all resources */
			check_narrow(profile, &options);
		}
		free(room);
		profile_free(profile);
	}
}

/* Each end of a range of time, to the nanosecond. */
static void ends_of_ranges(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths.profile->start_ns = 100;
	static const uint64_t times[] = { 0, 99, 100, 101, 102, 103 };
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		paths.time_ns = times[i];
		paths_add(&paths, "f", UINT64_C(1) << i);
	}
	for (uint64_t from = 0; from < 5; from++) {
		for (uint64_t to = 0; to < 6; to++) {
			const struct view_options options = { .thread = VIEW_ANY, .from_ns = from, .to_ns = to };
			check_view(paths.profile, &options);
		}
	}
	paths_end(&paths);
}

/* A wait of 40 hits of 10 ns: ranges that follow each other have all of its hits once, and the one with its end has the last ones. */
static void parts_of_a_wait(void **state)
{
	(void)state;
	struct paths paths;
	struct profile_hit *hit;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths.profile->start_ns = 1000;
	paths.profile->resources[0].interval = 10;
	paths.profile->resources[0].unit = (uint32_t)profile_add_string(paths.profile, "ns");
	paths.time_ns = 1500;
	paths_add(&paths, "main;wait", 40);
	hit = &paths.profile->hits[0];
	static const struct {
		uint64_t from_ns, to_ns, hits, time_ns;
	} ranges[] = { { 0, 105, 0, 0 },      { 0, 200, 9, 1190 },    { 200, 500, 30, 1490 }, { 500, 0, 1, 1500 },
		       { 501, 0, 0, 0 },      { 0, 111, 1, 1110 },    { 111, 120, 0, 0 },     { 111, 121, 1, 1120 },
		       { 490, 491, 1, 1490 }, { 105, 600, 40, 1500 }, { 0, 1, 0, 0 } };
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		const struct view_options options = { .thread = VIEW_ANY,
						      .from_ns = ranges[i].from_ns,
						      .to_ns = ranges[i].to_ns };
		struct profile narrow;
		check_view(paths.profile, &options);
		assert_int_equal(narrow_init(&narrow, paths.profile, &options, NULL), 0);
		assert_int_equal(narrow.hit_count, ranges[i].hits > 0);
		if (ranges[i].hits > 0) {
			assert_int_equal(narrow.hits[0].count, ranges[i].hits);
			assert_int_equal(narrow.hits[0].time_ns, ranges[i].time_ns);
		}
		narrow_release(&narrow);
	}
	/* A wait from before the start, two samples in a row, and distances that no number of ns can have. */
	hit->count = 100;
	check_view(paths.profile, &(struct view_options){ .thread = VIEW_ANY, .to_ns = 100 });
	check_view(paths.profile, &(struct view_options){ .thread = VIEW_ANY, .from_ns = 1, .to_ns = 100 });
	hit->more_samples = 1;
	check_view(paths.profile, &(struct view_options){ .thread = VIEW_ANY, .from_ns = 250, .to_ns = 300 });
	paths.profile->resources[0].interval = UINT64_MAX;
	check_view(paths.profile, &(struct view_options){ .thread = VIEW_ANY, .from_ns = 250, .to_ns = 300 });
	check_view(paths.profile, &(struct view_options){ .thread = VIEW_ANY, .to_ns = 300 });
	check_view(paths.profile, &(struct view_options){ .thread = VIEW_ANY, .to_ns = 600 });
	paths_end(&paths);
}

/* A time that the program states is not the time that passes. */
static void times_of_the_program_have_no_parts(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths.profile->start_ns = 1000;
	paths.profile->resources[0].interval = 10;
	paths.profile->resources[0].name = (uint32_t)profile_add_string(paths.profile, "own:simulated");
	paths.profile->resources[0].unit = (uint32_t)profile_add_string(paths.profile, "ns");
	paths.time_ns = 1500;
	paths_add(&paths, "main;step", 40);
	for (uint64_t to_ns = 500; to_ns <= 501; to_ns++) {
		struct profile narrow;
		const struct view_options options = { .thread = VIEW_ANY, .to_ns = to_ns };
		assert_int_equal(narrow_init(&narrow, paths.profile, &options, NULL), 0);
		assert_int_equal(narrow.hit_count, to_ns > 500);
		assert_true(to_ns == 500 || narrow.hits[0].count == 40);
		narrow_release(&narrow);
	}
	paths_end(&paths);
}

/* So many hits that two threads add them up. */
static void many_hits(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths.profile->resources[0].unit = (uint32_t)profile_add_string(paths.profile, "ns");
	paths_add(&paths, "f;g", 1);
	for (size_t i = 0; i < (1 << 20) + 2; i++)
		assert_int_equal(profile_add_hit(paths.profile, 0, PROFILE_NONE, (uint32_t)(i % 3), 0, i), 0);
	check_view(paths.profile, &(struct view_options){ .thread = VIEW_ANY });
	check_view(paths.profile, &(struct view_options){ .thread = VIEW_ANY, .to_ns = 1 });
	paths_end(&paths);
}

static void missing_resources_and_threads(void **state)
{
	(void)state;
	struct paths paths;
	struct error error = { 0 };
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "f", 1);
	assert_null(view_new(paths.profile, &(struct view_options){ .resource = 1, .thread = VIEW_ANY }, &error));
	assert_string_equal(error.message, "the profile has no resource number 1");
	assert_null(view_new(paths.profile, &(struct view_options){ .thread = 0 }, &error));
	assert_string_equal(error.message, "the profile has no thread number 0");
	assert_null(analyze_shares(paths.profile, &(struct view_options){ .resource = 1 }, SHARE_OF_THREAD, &error));
	assert_int_equal(error.code, ERROR_NOT_FOUND);
	paths_end(&paths);
}

/* --- shares and their errors --- */

static void errors_of_shares(void **state)
{
	(void)state;
	struct share rows[] = { { .owner = 4, .hits = 90 },
				{ .owner = PROFILE_NONE, .hits = 50 },
				{ .hits = 50 },
				{ .owner = 7, .hits = 1 } };
	struct share errors[] = { { .owner = PROFILE_NONE, .hits = 9 },
				  { .owner = 4, .hits = 8 },
				  { .owner = 1, .hits = 7 },
				  { .owner = 7, .hits = 3 } };
	const struct share_list of_rows = { .shares = rows, .count = 4 }, of_errors = { .shares = errors, .count = 4 };
	static const uint64_t expected[] = { 8, 9, 0, 3 };
	uint64_t *found = share_errors(&of_rows, &of_errors, NULL);
	assert_memory_equal(found, expected, sizeof(expected));
	free(found);
}

/* Processes 0, 2 and 3 run `sh`, process 1 runs `true`; process 3 has no hits, one hit has no thread. */
static void processes_of_one_name_are_one_program(void **state)
{
	(void)state;
	static const char *const names[] = { "sh", "true", "sh", "sh" };
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	struct profile *profile = paths.profile;
	profile->process_count = profile->thread_count = 0;
	for (uint32_t i = 0; i < 4; i++) {
		const struct profile_process process = { .pid = 100 + i,
							 .name = (uint32_t)profile_add_string(profile, names[i]) };
		assert_int_equal(profile_add_process(profile, &process), i);
		assert_int_equal(profile_add_thread(profile, &(struct profile_thread){ .tid = 100 + i, .process = i }),
				 i);
	}
	for (uint32_t i = 0; i < 3; i++) {
		paths.thread = i;
		paths_add(&paths, "f", 10 + i);
	}
	paths.thread = PROFILE_NONE;
	paths_add(&paths, "f", 1);
	const struct view_options options = { .thread = VIEW_ANY };
	struct share_list *list = analyze_shares(profile, &options, SHARE_OF_PROGRAM, NULL);
	assert_int_equal(list->count, 3);
	const struct share expected[] = { { .owner = 0, .members = 2, .hits = 22 },
					  { .owner = 1, .members = 1, .hits = 11 },
					  { .owner = PROFILE_NONE, .members = 1, .hits = 1 } };
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(list->shares[i].owner, expected[i].owner);
		assert_int_equal(list->shares[i].members, expected[i].members);
		assert_int_equal(list->shares[i].hits, expected[i].hits);
	}
	share_list_free(list);
	struct error error;
	ALLOC_FAIL_EACH(share_list_free(analyze_shares(profile, &options, SHARE_OF_PROGRAM, &error)));
	paths_end(&paths);
}

static void try_shares(const struct profile *profile)
{
	struct error error = { 0 };
	bool processes[] = { true };
	struct share_list *list = analyze_shares(
		profile, &(struct view_options){ .thread = VIEW_ANY, .processes = processes }, SHARE_OF_THREAD, &error);
	uint64_t *errors = list ? share_errors(list, list, &error) : NULL;
	assert_int_equal(error.code, errors ? 0 : ERROR_MEMORY);
	free(errors);
	share_list_free(list);
}

static void without_memory(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "f", 1);
	ALLOC_FAIL_EACH(try_shares(paths.profile));
	struct profile narrow;
	struct error error = { 0 };
	const struct view_options options = { .thread = VIEW_ANY, .processes = (const bool[]){ true } };
	for (unsigned long number = 1; number <= 2; number++) {
		alloc_fail_start(number);
		assert_int_equal(narrow_init(&narrow, paths.profile, &options, &error), ERROR_MEMORY);
		assert_true(alloc_fail_stop());
	}
	paths_end(&paths);
}

/* --- the cache --- */

/* Views that differ in one option each from the first one. */
static size_t different_options(struct view_options *options, const bool *processes, const bool *label_sets)
{
	const struct view_options usual = { .thread = VIEW_ANY };
	size_t count = 0;
	for (size_t i = 0; i < 13; i++)
		options[i] = usual;
	count++;
	options[count++].resource = 1;
	options[count++].every_resource = true;
	options[count++].by = VIEW_LINE;
	options[count++].no_inlines = true;
	options[count++].untrimmed = true;
	options[count++].no_stitch = true;
	options[count++].processes = processes;
	options[count++].processes = processes + 2;
	options[count++].label_sets = label_sets;
	options[count++].thread = 0;
	options[count++].from_ns = 1;
	options[count++].to_ns = 1;
	return count;
}

/* The last views are kept, and given again for the same options. */
static void cache_of_views(void **state)
{
	(void)state;
	struct paths paths;
	struct random random = { .state = 8 };
	struct view_cache cache = { 0 };
	struct view_options options[13];
	static const bool processes[] = { true, false, false, true }, label_sets[] = { true };
	const struct view *kept[VIEW_CACHE_VIEWS + 1] = { NULL }; /* the last views first */
	size_t keys[VIEW_CACHE_VIEWS + 1], count = 0;
	paths_start(&paths, RESOURCE_SAMPLED);
	const struct profile_process process = { .pid = 1 };
	const struct profile_resource resource = { .interval = 1 };
	profile_add_process(paths.profile, &process);
	profile_add_process(paths.profile, &process);
	profile_add_resource(paths.profile, &resource);
	profile_add_thread(paths.profile, &(struct profile_thread){ .tid = 1 });
	paths_add(&paths, "f", 1);
	size_t different = different_options(options, processes, label_sets);
	assert_int_equal(different, 13);
	for (unsigned i = 0; i < 400; i++) {
		size_t key = random_below(&random, different), at = 0;
		const struct view *view = view_cache_get(&cache, paths.profile, &options[key], NULL);
		assert_non_null(view);
		while (at < count && keys[at] != key)
			at++;
		if (at < count)
			assert_ptr_equal(view, kept[at]);
		else
			count += count < VIEW_CACHE_VIEWS;
		at = at < count ? at : count - 1;
		memmove(keys + 1, keys, at * sizeof(keys[0]));
		memmove(kept + 1, kept, at * sizeof(kept[0]));
		keys[0] = key;
		kept[0] = view;
		for (size_t k = 0; k < VIEW_CACHE_VIEWS; k++)
			assert_ptr_equal(cache.views[k].view, k < count ? kept[k] : NULL);
		assert_int_equal(view->options.by, options[key].by);
		assert_int_equal(view->options.to_ns, options[key].to_ns);
	}
	/* A view with the nodes of hits also serves a request without them, but not the other way round. */
	struct view_options with = options[0];
	with.keep_view_nodes = true;
	view_cache_release(&cache);
	const struct view *without = view_cache_get(&cache, paths.profile, &options[0], NULL);
	const struct view *nodes = view_cache_get(&cache, paths.profile, &with, NULL);
	assert_ptr_not_equal(nodes, without);
	assert_non_null(nodes->view_node);
	assert_ptr_equal(view_cache_get(&cache, paths.profile, &options[0], NULL), nodes);
	/* A failure keeps what there is. */
	struct error error = { 0 };
	assert_null(view_cache_get(&cache, paths.profile, &(struct view_options){ .resource = 9 }, &error));
	assert_int_equal(error.code, ERROR_NOT_FOUND);
	assert_ptr_equal(cache.views[0].view, nodes);
	assert_ptr_equal(cache.views[1].view, without);
	/* Another profile has other views. */
	struct paths other;
	paths_start(&other, RESOURCE_SAMPLED);
	paths_add(&other, "f", 1);
	assert_ptr_equal(view_cache_get(&cache, other.profile, &options[0], NULL)->profile, other.profile);
	view_cache_release(&cache);
	paths_end(&other);
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_selections),
		cmocka_unit_test(ends_of_ranges),
		cmocka_unit_test(parts_of_a_wait),
		cmocka_unit_test(times_of_the_program_have_no_parts),
		cmocka_unit_test(many_hits),
		cmocka_unit_test(missing_resources_and_threads),
		cmocka_unit_test(errors_of_shares),
		cmocka_unit_test(without_memory),
		cmocka_unit_test(processes_of_one_name_are_one_program),
		cmocka_unit_test(cache_of_views),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
