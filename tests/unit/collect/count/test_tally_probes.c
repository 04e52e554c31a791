/* Probe points in a tally (collect/count/probes.c, probe_names.c, path_nodes.c, compensate.c, probes_off.c,
 * signature.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/count/signature.h"
#include "collect/count/tally.h"
#include "profile/findings.h"
#include "support/alloc_fail.h"
#include "support/tally_world.h"

/* The program's code, and after it its probe descriptors. */
enum { PROGRAM = 0x400000, MAIN = 0x1000, SORT = 0x2000, DATA = 0x8000, SIZE = 0x10000, LINE_BYTES = 16 };
enum {
	PROBE_MAIN = PROGRAM + DATA,
	PROBE_SORT = PROBE_MAIN + 0x60,
	PROBE_ROW = PROBE_SORT + 0x60,
	PROBE_SWAP = PROBE_ROW + 0x60
};
enum { OUTSIDE = 0x999000 };

/* --- a tally: main calls sort, which has a region "row" in which swap is inlined --- */

struct world {
	struct tally_world tally;
	tally_offset probes, thread, main, sort, row, swap;
};

static void add_probe(struct world *world, uint64_t address, enum probe_kind kind, uint64_t code, uint32_t line,
		      const struct tally_world_texts *texts)
{
	const struct tally_probe probe = {
		.address = address, .code = code, .kind = (uint16_t)kind, .level = 1, .line = line
	};
	tally_world_add_probe(&world->tally, world->probes, &probe, texts);
}

static tally_offset call(struct world *world, tally_offset node, uint64_t call_site, uint64_t function, uint64_t count,
			 uint32_t flags)
{
	tally_offset child = tally_world_call(&world->tally, world->thread, node, call_site, function, count);
	const struct tally_node *parent = tally_world_node(&world->tally, node);
	tally_offset edge = (tally_offset)((uintptr_t)parent->edges - tally_world_address(1) + 1);
	tally_world_edge(&world->tally, edge)->flags = flags;
	return child;
}

/* `swap_code`: the address from which swap's descriptor was first used. */
static struct world make_world(enum tally_measurement measurement, uint64_t swap_code)
{
	struct world world = { 0 };
	struct tally_world *tally = &world.tally;
	tally_world_init(tally, measurement);
	tally_world_add_request(tally, 1000);
	tally_offset process = tally_world_add_process(tally, 0);
	tally_world_process(tally, process)->hooks = TALLY_HOOK_PROBE;
	tally_world_add_module(tally, process, "/bin/program", PROGRAM, PROGRAM + SIZE, PROGRAM);
	world.probes = tally_world_add_chunk(tally, TALLY_PROBES, 0, 0, TALLY_GRANULE);
	add_probe(&world, PROBE_MAIN, PROBE_FUNCTION, PROGRAM + MAIN + 9, 3,
		  &(struct tally_world_texts){ "main", "", "a.c", "" });
	add_probe(&world, PROBE_SORT, PROBE_FUNCTION, PROGRAM + SORT + 9, 20,
		  &(struct tally_world_texts){ "sort", "", "a.c", "order" });
	add_probe(&world, PROBE_ROW, PROBE_REGION, PROGRAM + SORT + 0x15, 33,
		  &(struct tally_world_texts){ "row", "sort", "a.c", "" });
	add_probe(&world, PROBE_SWAP, PROBE_FUNCTION, swap_code, 50,
		  &(struct tally_world_texts){ "swap", "void swap(int *, int *)", "a.c", "order" });
	world.thread = tally_world_add_thread(tally, 0, 0);
	world.main = call(&world, tally_world_root(world.thread), OUTSIDE, PROBE_MAIN, 1, 0);
	world.sort = call(&world, world.main, PROGRAM + MAIN + 0x21, PROBE_SORT, 4, 0);
	world.row = call(&world, world.sort, PROGRAM + MAIN + 0x21, PROBE_ROW, 40, TALLY_EDGE_INLINED);
	world.swap = call(&world, world.row, PROGRAM + MAIN + 0x21, PROBE_SWAP, 400, TALLY_EDGE_INLINED);
	return world;
}

/* --- names, as the symbolizer gives them --- */

static uint32_t function_of(struct profile *profile, const char *name)
{
	uint32_t text = (uint32_t)profile_add_string(profile, name);
	for (uint32_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].name == text)
			return i;
	const struct profile_function function = { .name = text, .linkage = text };
	return (uint32_t)profile_add_function(profile, &function);
}

static void add_frame(struct profile *profile, struct profile_location *location, const char *name, bool inlined)
{
	const struct profile_frame frame = { .function = function_of(profile, name),
					     .line = (uint32_t)(location->address % 0x1000 / LINE_BYTES),
					     .inlined = inlined };
	int64_t id = profile_add_frame(profile, &frame);
	if (location->frame_count++ == 0)
		location->first_frame = (uint32_t)id;
}

/* In sort's code, swap is inlined at 0x2100, and `less` is inlined into swap at 0x2180. */
static void name_all(struct profile *profile)
{
	for (size_t i = 0; i < profile->location_count; i++) {
		struct profile_location *location = &profile->locations[i];
		uint64_t at = location->address;
		if (at >= SORT + 0x180 && at < SORT + 0x200)
			add_frame(profile, location, "less", true);
		if (at >= SORT + 0x100 && at < SORT + 0x200)
			add_frame(profile, location, "swap", true);
		add_frame(profile, location,
			  at < MAIN   ? "start"
			  : at < SORT ? "main"
			  : at < DATA ? "sort"
				      : "data",
			  false);
	}
	profile->symbolized = true;
}

static struct profile *read_world(const struct world *world)
{
	struct error error = { 0 };
	struct tally *tally = tally_open_bytes(world->tally.bytes, world->tally.size, "world", &error);
	if (!tally)
		fail_msg("%s", error.message);
	struct profile *profile = profile_new();
	assert_int_equal(tally_locations(tally, profile, &error), 0);
	name_all(profile);
	assert_int_equal(tally_hits(tally, profile, &error), 0);
	tally_free(tally);
	assert_int_equal(profile_check(profile), 0);
	return profile;
}

/* Writes a path with all frames, outermost first, each with its line. */
static void path_text(const struct profile *profile, uint32_t node, char *text, size_t bytes)
{
	char inner[258] = "";
	snprintf(text, bytes, "%s", "");
	for (; node != PROFILE_ROOT; node = profile->nodes[node].parent) {
		const struct profile_location *location = &profile->locations[profile->nodes[node].location];
		for (uint32_t i = 0; i < location->frame_count; i++) {
			const struct profile_frame *frame = &profile->frames[location->first_frame + i];
			snprintf(inner, sizeof(inner), "%s%s", text[0] ? ", " : "", text);
			snprintf(text, bytes, "%s %u%s",
				 profile_string(profile, profile->functions[frame->function].name), frame->line, inner);
		}
	}
}

static uint64_t hits_at(const struct profile *profile, const char *resource, const char *path)
{
	uint32_t id = profile_find_resource(profile, resource);
	uint64_t sum = 0;
	char text[256];
	assert_int_not_equal(id, PROFILE_NONE);
	for (size_t i = 0; i < profile->hit_count; i++) {
		path_text(profile, profile->hits[i].node, text, sizeof(text));
		if (profile->hits[i].resource == id && strcmp(text, path) == 0)
			sum += profile->hits[i].count;
	}
	return sum;
}

static const struct profile_function *find_function(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->function_count; i++)
		if (strcmp(profile_string(profile, profile->functions[i].name), name) == 0)
			return &profile->functions[i];
	fail_msg("no function is called '%s'", name);
	return NULL;
}

static const char *text_of(const struct profile *profile, enum finding_code code)
{
	const struct profile_finding *finding = finding_find(profile, code);
	return finding ? profile_string(profile, finding->text) : "";
}

static void release(struct world *world, struct profile *profile)
{
	profile_free(profile);
	tally_world_release(&world->tally);
}

/* --- names and lines --- */

static void probe_points_are_functions(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS, PROGRAM + SORT + 0x111);
	struct profile *profile = read_world(&world);
	assert_int_equal(hits_at(profile, "calls", "start 0, main 3"), 1); /* main's caller has no probe */
	assert_int_equal(hits_at(profile, "calls", "start 0, main 2, sort 20"), 4);
	/* A region has the line at which it begins; swap, which is inlined into it, has its own line. */
	assert_int_equal(hits_at(profile, "calls", "start 0, main 2, sort 33, sort: row 33"), 40);
	assert_int_equal(hits_at(profile, "calls", "start 0, main 2, sort 33, sort: row 33, swap 50"), 400);
	release(&world, profile);
}

static void symbols_functions_are_theirs(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS, PROGRAM + SORT + 0x111);
	struct profile *profile = read_world(&world);
	assert_int_not_equal(find_function(profile, "sort")->linkage, 0);
	assert_int_not_equal(find_function(profile, "swap")->linkage, 0);
	assert_string_equal(profile_string(profile, find_function(profile, "sort")->group), "order");
	assert_string_equal(profile_string(profile, find_function(profile, "swap")->group), "order");
	assert_string_equal(profile_string(profile, find_function(profile, "main")->group), "");
	size_t called_sort = 0;
	for (size_t i = 0; i < profile->function_count; i++)
		called_sort += strcmp(profile_string(profile, profile->functions[i].name), "sort") == 0;
	assert_int_equal(called_sort, 1);
	release(&world, profile);
}

/* Without debug information, an inlined function has no frame: its name is made from the signature in its
 * descriptor. */
static void own_words_where_symbols_have_none(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS, PROGRAM + SORT + 0x55);
	struct profile *profile = read_world(&world);
	const struct profile_function *swap = find_function(profile, "swap(int *, int *)");
	assert_int_equal(swap->linkage, 0);
	assert_int_equal(swap->line, 50);
	assert_string_equal(profile_string(profile, swap->file), "a.c");
	assert_string_equal(profile_string(profile, swap->group), "order");
	assert_int_equal(hits_at(profile, "calls", "start 0, main 2, sort 33, sort: row 33, swap(int *, int *) 50"),
			 400);
	release(&world, profile);
}

static void samples_are_where_they_were(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS, PROGRAM + SORT + 0x111);
	struct tally_world *tally = &world.tally;
	tally_world_add_tick(tally, world.thread, world.sort, PROGRAM + SORT + 0x30, 1, 1);
	tally_world_add_tick(tally, world.thread, world.row, PROGRAM + SORT + 0x40, 2, 1);
	tally_world_add_tick(tally, world.thread, world.swap, PROGRAM + SORT + 0x120, 3, 1);
	tally_world_add_tick(tally, world.thread, world.swap, PROGRAM + SORT + 0x190, 4, 1);
	tally_world_add_tick(tally, world.thread, world.swap, PROGRAM + SORT + 0x60, 5, 1); /* no frame of swap */
	struct profile *profile = read_world(&world);
	assert_int_equal(hits_at(profile, "cpu", "start 0, main 2, sort 3"), 1);
	assert_int_equal(hits_at(profile, "cpu", "start 0, main 2, sort 33, sort: row 4"), 2);
	assert_int_equal(hits_at(profile, "cpu", "start 0, main 2, sort 33, sort: row 33, swap 18"), 3);
	assert_int_equal(hits_at(profile, "cpu", "start 0, main 2, sort 33, sort: row 33, swap 25, less 25"), 4);
	assert_int_equal(hits_at(profile, "cpu", "start 0, main 2, sort 33, sort: row 33, swap 50"), 5);
	release(&world, profile);
}

/* A call from a region has the line of the call inside the region. */
static void calls_from_regions_have_lines(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS, PROGRAM + SORT + 0x111);
	call(&world, world.row, PROGRAM + SORT + 0x71, PROBE_MAIN, 6, 0);
	call(&world, world.swap, PROGRAM + SORT + 0x131, PROBE_MAIN, 7, 0);
	struct profile *profile = read_world(&world);
	assert_int_equal(hits_at(profile, "calls", "start 0, main 2, sort 33, sort: row 7, main 3"), 6);
	assert_int_equal(hits_at(profile, "calls", "start 0, main 2, sort 33, sort: row 33, swap 19, main 3"), 7);
	release(&world, profile);
}

/* --- times --- */

static uint64_t total_of(const struct profile *profile, const char *resource)
{
	return profile->resources[profile_find_resource(profile, resource)].total;
}

static void probes_are_subtracted(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS_TIMED, PROGRAM + SORT + 0x111);
	struct tally_world *tally = &world.tally; /* 2 ticks of its clock are 1 ns */
	tally_world_header(tally)->probe_inside = (struct tally_cost){ -200, 600 };
	tally_world_header(tally)->probe_outside = (struct tally_cost){ 200, 300 };
	tally_world_node(tally, world.main)->exclusive_ticks = 2000;
	tally_world_node(tally, world.sort)->exclusive_ticks = 2000;
	tally_world_node(tally, world.row)->exclusive_ticks = 2000;
	tally_world_node(tally, world.swap)->exclusive_ticks = 2 * 100;
	struct profile *profile = read_world(&world);
	/* 1 call of main, 4 from main, 40 from sort, 400 from row: the middle of the limits. */
	assert_int_equal(hits_at(profile, "real", "start 0, main 3"), 1000 - 1);
	assert_int_equal(hits_at(profile, "real-error", "start 0, main 3"), 1);
	assert_int_equal(hits_at(profile, "real", "start 0, main 2, sort 20"), 1000 - 11);
	assert_int_equal(hits_at(profile, "real-error", "start 0, main 2, sort 20"), 4);
	assert_int_equal(hits_at(profile, "real", "start 0, main 2, sort 33, sort: row 33"), 1000 - 108);
	assert_int_equal(hits_at(profile, "real-error", "start 0, main 2, sort 33, sort: row 33"), 36);
	/* The lower limit is 0: up to 240 of 100 ns may be the probe's, or it has hidden 80. */
	assert_int_equal(hits_at(profile, "real", "start 0, main 2, sort 33, sort: row 33, swap 50"), 90);
	assert_int_equal(hits_at(profile, "real-error", "start 0, main 2, sort 33, sort: row 33, swap 50"), 90);
	assert_int_equal(hits_at(profile, "real-raw", "start 0, main 2, sort 33, sort: row 33, swap 50"), 100);
	const struct profile_resource *real = &profile->resources[profile_find_resource(profile, "real")];
	assert_string_equal(
		profile_string(profile, real->note),
		"without the probes' time, which is -0.2 to 0.6 ns of a call and 0.2 to 0.3 ns of its caller");
	assert_int_equal(total_of(profile, "real-raw"), 3100);
	assert_int_equal(total_of(profile, "real"), 999 + 989 + 892 + 90);
	release(&world, profile);
}

/* If the calibrated probe takes more than was measured, all of that may be the probe's. */
static void no_time_is_beyond_its_error(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS_TIMED, PROGRAM + SORT + 0x111);
	tally_world_header(&world.tally)->probe_inside = (struct tally_cost){ 1000, 2000 };
	tally_world_node(&world.tally, world.swap)->exclusive_ticks = 2 * 100;
	struct profile *profile = read_world(&world);
	assert_int_equal(hits_at(profile, "real", "start 0, main 2, sort 33, sort: row 33, swap 50"), 50);
	assert_int_equal(hits_at(profile, "real-error", "start 0, main 2, sort 33, sort: row 33, swap 50"), 50);
	assert_int_equal(hits_at(profile, "real-raw", "start 0, main 2, sort 33, sort: row 33, swap 50"), 100);
	release(&world, profile);
}

/* Costs that no probe has are not subtracted. */
static void impossible_costs_are_ignored(void **state)
{
	(void)state;
	static const struct tally_cost costs[] = { { 10, 5 }, { 0, INT64_MAX }, { INT64_MIN, 5 } };
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		struct world world = make_world(TALLY_PATHS_TIMED, PROGRAM + SORT + 0x111);
		tally_world_header(&world.tally)->probe_inside = costs[i];
		tally_world_node(&world.tally, world.swap)->exclusive_ticks = 2 * 100;
		struct profile *profile = read_world(&world);
		assert_int_equal(hits_at(profile, "real", "start 0, main 2, sort 33, sort: row 33, swap 50"), 100);
		assert_int_equal(profile_find_resource(profile, "real-raw"), PROFILE_NONE);
		release(&world, profile);
	}
}

static void waits_are_a_resource(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS_TIMED, PROGRAM + SORT + 0x111);
	const struct tally_probe lock = { .address = PROBE_SWAP + 0x60,
					  .kind = PROBE_WAIT,
					  .flags = TALLY_PROBE_WAITS };
	tally_world_add_probe(&world.tally, world.probes, &lock,
			      &(struct tally_world_texts){ "lock", "", "", "RUNTIME" });
	tally_offset node = call(&world, world.main, PROGRAM + MAIN + 0x31, PROBE_SWAP + 0x60, 5, 0);
	tally_world_node(&world.tally, node)->exclusive_ticks = 2 * 70;
	tally_world_node(&world.tally, world.sort)->exclusive_ticks = 2 * 30;
	tally_world_header(&world.tally)->probe_inside = (struct tally_cost){ 1000, 3000 };
	struct profile *profile = read_world(&world);
	assert_int_equal(hits_at(profile, "real", "start 0, main 3, lock 0"), 70 - 5 * 2);
	assert_int_equal(hits_at(profile, "wait", "start 0, main 3, lock 0"), 70 - 5 * 2);
	const struct profile_resource *wait = &profile->resources[profile_find_resource(profile, "wait")];
	assert_int_equal(wait->total, 70 - 5 * 2);
	assert_string_equal(
		profile_string(profile, wait->note),
		"without the probes' time, which is 1.0 to 3.0 ns of a call and 0.0 to 0.0 ns of its caller");
	assert_int_equal(hits_at(profile, "wait-raw", "start 0, main 3, lock 0"), 70);
	assert_int_equal(hits_at(profile, "wait-error", "start 0, main 3, lock 0"), 5);
	release(&world, profile);
}

/* --- probe points that were off --- */

static void what_was_off_is_reported(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS, PROGRAM + SORT + 0x111);
	struct tally_probe probe = { .address = PROBE_SWAP + 0x60,
				     .flags = TALLY_PROBE_OFF | TALLY_PROBE_THROTTLED,
				     .throttled_calls = 1000,
				     .throttled_ns = 41500,
				     .switched = 1 };
	tally_world_add_probe(&world.tally, world.probes, &probe, &(struct tally_world_texts){ "tiny", "", "a.c", "" });
	probe = (struct tally_probe){ .address = PROBE_SWAP + 0xc0, .flags = TALLY_PROBE_OFF, .switched = 1 };
	tally_world_add_probe(&world.tally, world.probes, &probe,
			      &(struct tally_world_texts){ "quiet", "", "a.c", "" });
	snprintf(tally_world_header(&world.tally)->rules_finding, 8, "no rule");
	snprintf(tally_world_header(&world.tally)->implementation, 8, "mine");
	struct profile *profile = read_world(&world);
	assert_string_equal(text_of(profile, FINDING_POINTS_THROTTLED),
			    "tiny turned itself off, after 1000 calls of 41.5 ns each");
	assert_string_equal(text_of(profile, FINDING_POINTS_SWITCHED_OFF), "quiet was switched off");
	assert_string_equal(text_of(profile, FINDING_RULE_REFUSED), "no rule");
	assert_string_equal(profile_note(profile, "implementation"), "mine");
	assert_string_equal(profile_string(profile, profile->resources[profile_find_resource(profile, "calls")].note),
			    "1 probe point turned itself off after many calls, 1 probe point was switched off for a "
			    "time: see cpprof info");
	release(&world, profile);
}

/* --- damaged files, no memory --- */

static int code_of_opening(const struct world *world)
{
	struct error error = { 0 };
	struct tally *tally = tally_open_bytes(world->tally.bytes, world->tally.size, "world", &error);
	tally_free(tally);
	assert_true(tally || error.message[0]);
	return tally ? 0 : error.code;
}

static void damage_is_found(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS, PROGRAM + SORT + 0x111);
	struct tally_probes *probes = (struct tally_probes *)(world.tally.bytes + world.probes);
	const struct tally_probe first = probes->probes[0];
	uint64_t bytes = probes->probes_bytes;
	assert_int_equal(code_of_opening(&world), 0);
	const struct {
		uint64_t probes_bytes;
		uint32_t bytes, signature;
	} bad[] = {
		{ TALLY_GRANULE, first.bytes, 0 },
		{ bytes + 8, first.bytes, 0 },
		{ bytes, 0, 0 },
		{ bytes, sizeof(first), 0 },
		{ bytes, first.bytes + 4, 0 },
		{ bytes, TALLY_GRANULE, 0 },
		{ bytes, first.bytes, first.bytes },
		{ bytes, first.bytes, UINT32_MAX },
		{ sizeof(first) / 2, first.bytes, 0 },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		probes->probes_bytes = bad[i].probes_bytes;
		probes->probes[0].bytes = bad[i].bytes;
		probes->probes[0].signature = bad[i].signature;
		if (code_of_opening(&world) != ERROR_CORRUPT)
			fail_msg("damage %zu was not found", i);
	}
	tally_world_release(&world.tally);
}

/* The texts of a descriptor must end with a NUL. */
static void texts_end(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS, PROGRAM + SORT + 0x111);
	struct tally_probes *probes = (struct tally_probes *)(world.tally.bytes + world.probes);
	uint32_t bytes = probes->probes[0].bytes;
	memset(probes->probes[0].texts, 'x', bytes - sizeof(probes->probes[0]));
	assert_int_equal(code_of_opening(&world), ERROR_CORRUPT);
	tally_world_release(&world.tally);
}

static void try_to_read(const struct world *world)
{
	struct error error = { 0 };
	struct tally *tally = tally_open_bytes(world->tally.bytes, world->tally.size, "world", &error);
	struct profile *profile = tally ? profile_new() : NULL;
	int result = profile ? tally_locations(tally, profile, &error) : ERROR_MEMORY;
	if (result == 0)
		result = tally_hits(tally, profile, &error);
	assert_true(result == 0 || result == ERROR_MEMORY);
	profile_free(profile);
	tally_free(tally);
}

static void no_memory_is_an_error(void **state)
{
	(void)state;
	struct world world = make_world(TALLY_PATHS, PROGRAM + SORT + 0x111);
	tally_world_add_tick(&world.tally, world.thread, world.row, PROGRAM + SORT + 0x40, 2, 1);
	ALLOC_FAIL_EACH(try_to_read(&world));
	tally_world_release(&world.tally);
}

/* --- signatures --- */

static void signatures_become_names(void **state)
{
	(void)state;
	static const struct {
		const char *signature, *name;
	} cases[] = {
		{ "work", "work" },
		{ "", "" },
		{ "int main()", "main" },
		{ "int main(int, char **)", "main" },
		{ "void work(int)", "work(int)" },
		{ "static int ns::C<T>::work(T) [with T = double]", "ns::C<double>::work(double)" },
		{ "T twice(T) [with T = int]", "int twice<int>(int)" },
		{ "T twice(T) [T = int]", "int twice<int>(int)" },
		{ "virtual const char *Base::name() const", "Base::name() const" },
		{ "Number &Number::operator=(const Number &)", "Number::operator=(const Number &)" },
		{ "void Stack<T, N>::push(T) [with T = int; int N = 4]", "Stack<int, 4>::push(int)" },
		{ "int sum(First, Rest ...) [with First = int; Rest = {char, long}]",
		  "int sum<int, char, long>(int, char, long)" },
		{ "int sum(First, Rest...) [First = int, Rest = <char, long>]",
		  "int sum<int, char, long>(int, char, long)" },
		{ "int sum(First, Rest ...) [with First = int; Rest = {}]", "int sum<int>(int)" },
		{ "void all(Rest...) [Rest = <>]", "void all<>()" },
		{ "typename T::kind f(typename T::kind) [with T = K; typename T::kind = int]", "int f<K>(int)" },
		{ "decltype (g(x)) f(T) [with T = int; decltype (g(x)) = long]", "long f<int>(int)" },
		{ "void C<T>::put(std::size_t) [with T = int; std::size_t = unsigned long]",
		  "C<int>::put(unsigned long)" },
		{ "U ns::C<T>::work(T, U) [with U = int; T = double]", "int ns::C<double>::work<int>(double, int)" },
		{ "U ns::C<double>::work(T, U) [T = double, U = int]", "int ns::C<double>::work<int>(double, int)" },
		{ "constexpr void put(A) [with A = std::pair<int, char>]",
		  "void put<std::pair<int, char>>(std::pair<int, char>)" },
		{ "ns::C<T>::operator int() const [with T = char]", "ns::C<char>::operator int() const" },
		{ "ns::C<T>::~C() [with T = char]", "ns::C<char>::~C()" },
		{ "main()::<lambda(int, int)>", "main()::<lambda(int, int)>" },
		{ "void put(T) [with bool (* F)(A, A) = ns::operator<; T = int]", "void put<int>(int)" },
		{ "broken [", "[" }, /* incomplete: the parser must end */
		{ "broken [with T", "T" },
		{ "broken [with T]", "broken" },
		{ " [] = ]", "" },
	};
	struct buffer name;
	buffer_init(&name);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buffer_clear(&name);
		signature_append(&name, cases[i].signature);
		buffer_append_byte(&name, 0);
		assert_string_equal((const char *)name.bytes, cases[i].name);
	}
	buffer_release(&name);
}

static void symbols_are_recognised(void **state)
{
	(void)state;
	static const struct {
		const char *symbol, *signature;
		bool fits;
	} cases[] = {
		{ "work", "work", true },
		{ "work(int)", "work", true },
		{ "int ns::C<double>::work<int>(double, int)", "U ns::C<T>::work(T, U) [with U = int; T = double]",
		  true },
		{ "ns::C<char>::~C()", "~C", true },
		{ "ns::C<char>::operator int() const", "operator int", true },
		{ "main::{lambda(int, int)#1}::operator()(int, int) const", "operator()", true },
		{ "main::{lambda(int, int)#1}::operator()(int, int) const", "main()::<lambda(int, int)>", true },
		{ "work", "worker", false },
		{ "worker", "work", false },
		{ "ns::work::other()", "work", false },
		{ "", "work", false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (signature_is_of(cases[i].symbol, cases[i].signature) != cases[i].fits)
			fail_msg("'%s' and '%s'", cases[i].symbol, cases[i].signature);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probe_points_are_functions),
		cmocka_unit_test(symbols_functions_are_theirs),
		cmocka_unit_test(own_words_where_symbols_have_none),
		cmocka_unit_test(samples_are_where_they_were),
		cmocka_unit_test(calls_from_regions_have_lines),
		cmocka_unit_test(probes_are_subtracted),
		cmocka_unit_test(no_time_is_beyond_its_error),
		cmocka_unit_test(impossible_costs_are_ignored),
		cmocka_unit_test(waits_are_a_resource),
		cmocka_unit_test(what_was_off_is_reported),
		cmocka_unit_test(damage_is_found),
		cmocka_unit_test(texts_end),
		cmocka_unit_test(no_memory_is_an_error),
		cmocka_unit_test(signatures_become_names),
		cmocka_unit_test(symbols_are_recognised),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
