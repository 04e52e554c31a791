/* Import and export of gmon.out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/format.h"
#include "gprof/gmon.h"
#include "profile/findings.h"
#include "support/alloc_fail.h"
#include "support/tiny_elf.h"

static const uint64_t LOW = TINY_BASE, HIGH = TINY_BASE + TINY_TEXT_BYTES; /* code of the image */

static char image[] = "/tmp/cpprof-gmon-XXXXXX";

static int make_image(void **state)
{
	struct buffer bytes;
	int fd = mkstemp(image);
	(void)state;
	buffer_init(&bytes);
	tiny_elf(&bytes, NULL, NULL, true);
	bool is_written = fd >= 0 && write(fd, bytes.bytes, bytes.size) == (ssize_t)bytes.size;
	buffer_release(&bytes);
	/* The users of the tests' profiles are not known: root then reads the programs that everybody may read. */
	is_written = is_written && fchmod(fd, 0755) == 0;
	return is_written ? close(fd) : -1;
}

static int remove_image(void **state)
{
	(void)state;
	return unlink(image);
}

/* --- import --- */

static struct gmon new_gmon(void)
{
	struct gmon gmon;
	gmon_init(&gmon);
	return gmon;
}

static void add_histogram(struct gmon *gmon, uint64_t low, uint64_t high, uint32_t rate, const char *dimension,
			  uint64_t *bins, size_t count)
{
	struct gmon_histogram shape = { .low = low, .high = high, .rate = rate, .abbreviation = 's' };
	snprintf(shape.dimension, sizeof(shape.dimension), "%s", dimension);
	shape.bins = bins;
	shape.bin_count = count;
	assert_true(gmon_add_histogram(gmon, &shape) >= 0);
}

/* Returns the file of a gmon, which is released. */
static struct buffer bytes_of(struct gmon *gmon)
{
	struct buffer bytes;
	struct sink sink;
	struct error error = { 0 };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	sink_init(&sink, out);
	assert_int_equal(gmon_merge_equal(gmon), 0);
	assert_int_equal(gmon_write(gmon, &sink, &error), 0);
	fclose(out);
	gmon_release(gmon);
	buffer_init(&bytes);
	buffer_append(&bytes, text, size);
	free(text);
	return bytes;
}

static struct profile *import_bytes(const struct buffer *bytes, const char *of, struct error *error)
{
	FILE *in = fmemopen(bytes->bytes, bytes->size, "r");
	assert_non_null(in);
	struct profile *profile = format_find("gmon")->import(in, "it", of, error);
	fclose(in);
	return profile;
}

static struct profile *import(struct gmon *gmon)
{
	struct buffer bytes = bytes_of(gmon);
	struct error error = { 0 };
	struct profile *profile = import_bytes(&bytes, image, &error);
	if (!profile)
		fail_msg("%s", error.message);
	assert_int_equal(profile_check(profile), 0);
	assert_true(profile->ended);
	buffer_release(&bytes);
	return profile;
}

static void assert_resource(const struct profile *profile, uint32_t id, const char *const texts[3], unsigned kind,
			    uint64_t interval, uint64_t total)
{
	const struct profile_resource *resource = &profile->resources[id];
	assert_string_equal(profile_string(profile, resource->name), texts[0]);
	assert_string_equal(profile_string(profile, resource->title), texts[1]);
	assert_string_equal(profile_string(profile, resource->unit), texts[2]);
	assert_string_equal(profile_string(profile, resource->backend), "import");
	assert_int_equal(resource->kind, kind);
	assert_int_equal(resource->interval, interval);
	assert_int_equal(resource->total, total);
}

static uint64_t address_of(const struct profile *profile, uint32_t node)
{
	return profile->locations[profile->nodes[node].location].address;
}

/* The hit `at` is at `address`, called from `site` (0: it has no caller). */
static void assert_hit(const struct profile *profile, size_t at, uint32_t resource, uint64_t site, uint64_t address,
		       uint64_t count)
{
	const struct profile_hit *hit = &profile->hits[at];
	uint32_t parent = profile->nodes[hit->node].parent;
	assert_int_equal(hit->resource, resource);
	assert_int_equal(hit->time_ns, 0);
	assert_int_equal(hit->thread, PROFILE_NONE);
	assert_int_equal(hit->count, count);
	assert_int_equal(address_of(profile, hit->node), address);
	assert_int_equal(parent == PROFILE_ROOT, site == 0);
	if (site) {
		assert_int_equal(address_of(profile, parent), site);
		assert_int_equal(profile->nodes[parent].parent, PROFILE_ROOT);
	}
}

static void test_arcs_and_blocks(void **state)
{
	struct gmon gmon = new_gmon();
	(void)state;
	gmon_add_arc(&gmon, 0, LOW + 0x200, 3);
	gmon_add_arc(&gmon, LOW + 0x11, LOW + 0x100, 7);
	gmon_add_arc(&gmon, LOW + 0x12, LOW + 0x100, 0); /* never called: no hits */
	gmon_add_block(&gmon, LOW + 0x300, 5);
	gmon_add_block(&gmon, LOW + 0x310, UINT64_C(1) << 40);
	struct profile *profile = import(&gmon);
	assert_int_equal(profile->resource_count, 2);
	assert_resource(profile, 0, (const char *[]){ "calls", "Calls", "call" }, RESOURCE_EXACT, 1, 10);
	assert_resource(profile, 1, (const char *[]){ "blocks", "Basic Blocks", "block" }, RESOURCE_EXACT, 1,
			(UINT64_C(1) << 40) + 5);
	assert_int_equal(profile->hit_count, 4);
	assert_hit(profile, 0, 0, 0, LOW + 0x200, 3);
	assert_hit(profile, 1, 0, LOW + 0x10, LOW + 0x100, 7);
	assert_hit(profile, 2, 1, 0, LOW + 0x300, 5);
	assert_hit(profile, 3, 1, 0, LOW + 0x310, UINT64_C(1) << 40);
	assert_false(profile->symbolized);
	assert_int_equal(profile->finding_count, 0);

	char *real = realpath(image, NULL);
	assert_int_equal(profile->module_count, 1);
	assert_int_equal(profile->modules[0].kind, MODULE_FILE);
	assert_int_equal(profile->modules[0].build_id_bytes, 0);
	assert_string_equal(profile_string(profile, profile->modules[0].path), real);
	assert_int_equal(profile->process_count, 1);
	assert_string_equal(profile_string(profile, profile->processes[0].name), strrchr(image, '/') + 1);
	free(real);
	profile_free(profile);
}

/* A call that returns to address 1 is at address 0; only a return address of 0 has no call. */
static void test_first_call_site(void **state)
{
	struct gmon gmon = new_gmon();
	(void)state;
	gmon_add_arc(&gmon, 1, LOW + 0x100, 7);
	struct profile *profile = import(&gmon);
	assert_int_equal(profile->hit_count, 1);
	uint32_t parent = profile->nodes[profile->hits[0].node].parent;
	assert_int_not_equal(parent, PROFILE_ROOT);
	assert_int_equal(address_of(profile, parent), 0);
	assert_int_equal(profile->nodes[parent].parent, PROFILE_ROOT);
	profile_free(profile);
}

static void test_blocks_alone(void **state)
{
	struct gmon gmon = new_gmon();
	(void)state;
	gmon_add_block(&gmon, LOW, 2);
	struct profile *profile = import(&gmon);
	assert_int_equal(profile->resource_count, 1);
	assert_resource(profile, 0, (const char *[]){ "blocks", "Basic Blocks", "block" }, RESOURCE_EXACT, 1, 2);
	assert_hit(profile, 0, 0, 0, LOW, 2);
	profile_free(profile);
}

/* Which options and files `import` and `export` accept. */
static void test_row(void **state)
{
	const struct format *format = format_find("gmon");
	(void)state;
	assert_int_equal(format->options, FORMAT_RESOURCE | FORMAT_OBJECT | FORMAT_SELECTION);
	assert_int_equal(format->needs, FORMAT_NEEDS_IMAGE);
	assert_int_equal(format->paths, FORMAT_NO_PATHS);
	assert_true(format->has_several && format->is_binary);
}

static void test_empty_file(void **state)
{
	struct gmon gmon = new_gmon();
	(void)state;
	struct profile *profile = import(&gmon);
	assert_int_equal(profile->resource_count + profile->hit_count + profile->node_count, 1); /* the root */
	assert_int_equal(profile->module_count, 1);
	profile_free(profile);
}

/* A bin is the second byte of the unit in its middle. A bin narrower than a unit is its first byte. */
static void test_addresses_of_bins(void **state)
{
	static const struct {
		unsigned range, bins;
		unsigned at[4]; /* offsets of the first bins */
	} cases[] = {
		{ 8, 4, { 1, 3, 5, 7 } },    { 12, 4, { 1, 4, 7, 10 } },
		{ 16, 4, { 1, 5, 9, 13 } },  { 20, 4, { 3, 8, 13, 18 } },
		{ 24, 4, { 3, 9, 15, 21 } }, { 40, 4, { 5, 15, 25, 35 } },
		{ 4, 4, { 0, 1, 2, 3 } },    { 2, 4, { 0, 0, 1, 1 } },
		{ 10, 4, { 1, 3, 6, 8 } },   { 4000, 4, { 499, 1499, 2499, 3499 } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gmon gmon = new_gmon();
		uint64_t bins[4] = { 1, 20, 300, 4000 };
		add_histogram(&gmon, LOW + 0x1000, LOW + 0x1000 + cases[i].range, 100, "seconds", bins, cases[i].bins);
		struct profile *profile = import(&gmon);
		assert_int_equal(profile->hit_count, 4);
		for (size_t bin = 0; bin < 4; bin++)
			assert_hit(profile, bin, 0, 0, LOW + 0x1000 + cases[i].at[bin], bins[bin]);
		profile_free(profile);
	}
}

/* Bins of no bytes at the end of the address space: their middle does not wrap around. */
static void test_addresses_at_the_end(void **state)
{
	struct gmon gmon = new_gmon();
	uint64_t bins[4] = { 1, 1, 1, 1 };
	(void)state;
	add_histogram(&gmon, UINT64_MAX - 2, UINT64_MAX, 100, "seconds", bins, 4);
	struct profile *profile = import(&gmon);
	for (size_t bin = 0; bin < 4; bin++)
		assert_hit(profile, bin, 0, 0, UINT64_MAX - 2 + bin / 2, 1);
	profile_free(profile);
}

static void test_rates(void **state)
{
	static const struct {
		uint32_t rate;
		const char *dimension;
		bool is_time;
		uint64_t interval;
	} cases[] = {
		{ 100, "seconds", true, 10000000 }, { 3, "seconds", true, 333333333 },
		{ 7, "seconds", true, 142857143 },                                      /* rounded up */
		{ 1000000000, "seconds", true, 1 }, { 4000000000, "seconds", true, 1 }, /* less than a nanosecond */
		{ 1, "seconds", true, 1000000000 }, { 0, "seconds", false, 1 },         /* not known */
		{ 100, "bytes", false, 1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gmon gmon = new_gmon();
		uint64_t bins[2] = { 4, 0 }, others[2] = { 0, 5 };
		add_histogram(&gmon, LOW, LOW + 4, cases[i].rate, cases[i].dimension, bins, 2);
		add_histogram(&gmon, LOW + 64, LOW + 68, cases[i].rate, cases[i].dimension, others, 2);
		struct profile *profile = import(&gmon);
		assert_int_equal(profile->resource_count, 1);
		assert_resource(profile, 0,
				cases[i].is_time ? (const char *[]){ "cpu", "CPU Time", "ns" }
						 : (const char *[]){ "samples", "Samples", "sample" },
				RESOURCE_MERGED, cases[i].interval, 9 * cases[i].interval);
		assert_int_equal(profile->hit_count, 2);
		assert_hit(profile, 0, 0, 0, LOW + 1, 4);
		assert_hit(profile, 1, 0, 0, LOW + 67, 5);
		profile_free(profile);
	}
}

static void test_addresses_outside(void **state)
{
	struct gmon gmon = new_gmon();
	char expected[128];
	(void)state;
	gmon_add_arc(&gmon, LOW + 1, LOW - 1, 1);
	gmon_add_arc(&gmon, LOW + 1, LOW - 2, 0); /* not counted */
	gmon_add_arc(&gmon, 1, LOW, 1);           /* only the called address has to be inside */
	gmon_add_arc(&gmon, LOW + 1, HIGH - 1, 1);
	gmon_add_arc(&gmon, LOW + 1, HIGH, 1);
	gmon_add_block(&gmon, HIGH + 1, 9);
	struct profile *profile = import(&gmon);
	const struct profile_finding *finding = finding_find(profile, FINDING_ADDRESSES_OUTSIDE);
	assert_int_equal(profile->finding_count, 1);
	assert_non_null(finding);
	assert_int_equal(finding->count, 3);
	snprintf(expected, sizeof(expected), "3 addresses of it are not in the code of %s", image);
	assert_string_equal(profile_string(profile, finding->text), expected);
	assert_int_equal(profile->hit_count, 5);
	profile_free(profile);

	gmon = new_gmon();
	gmon_add_block(&gmon, HIGH, 9);
	profile = import(&gmon);
	finding = finding_find(profile, FINDING_ADDRESSES_OUTSIDE);
	assert_non_null(finding);
	snprintf(expected, sizeof(expected), "1 address of it is not in the code of %s", image);
	assert_string_equal(profile_string(profile, finding->text), expected);
	profile_free(profile);
}

static void assert_refused(struct gmon *gmon, const char *of, int code, const char *words)
{
	struct buffer bytes = bytes_of(gmon);
	struct error error = { 0 };
	assert_null(import_bytes(&bytes, of, &error));
	assert_int_equal(error.code, code);
	assert_non_null(strstr(error.message, words));
	buffer_release(&bytes);
}

static void test_most_counts(void **state)
{
	static const uint64_t most = UINT64_C(1) << 48;
	static const char words[] = "it: the counts add up to more than 2^48";
	(void)state;
	for (uint64_t more = 0; more < 2; more++) {
		/* All in one block, in the last of two, in an arc and a block. */
		for (unsigned first = 0; first < 3; first++) {
			struct gmon gmon = new_gmon();
			if (first == 1)
				gmon_add_block(&gmon, LOW, 5);
			if (first == 2)
				gmon_add_arc(&gmon, 0, LOW, 5);
			gmon_add_block(&gmon, LOW + 1, most - (first > 0 ? 5 : 0) + more);
			if (more) {
				assert_refused(&gmon, image, ERROR_LIMIT, words);
				continue;
			}
			struct profile *profile = import(&gmon);
			assert_int_equal(profile->hits_added, most);
			profile_free(profile);
		}
	}
	struct gmon gmon = new_gmon();
	gmon_add_block(&gmon, LOW, UINT64_MAX);
	assert_refused(&gmon, image, ERROR_LIMIT, words);
}

/* Counts of an arc are sums of records of 32 bits; so many records are not written here. */
static void test_most_calls(void **state)
{
	struct gmon gmon = new_gmon();
	(void)state;
	gmon_add_arc(&gmon, 0, LOW, UINT64_C(1) << 33);
	gmon_add_arc(&gmon, 0, LOW + 4, 1);
	gmon_add_block(&gmon, LOW, (UINT64_C(1) << 48) - (UINT64_C(1) << 33));
	assert_refused(&gmon, image, ERROR_LIMIT, "more than 2^48");
}

static void test_wrong_image(void **state)
{
	struct gmon gmon = new_gmon();
	(void)state;
	assert_refused(&gmon, "/nonexistent/program", ERROR_NOT_FOUND, "cannot read '/nonexistent/program'");
	gmon = new_gmon();
	assert_refused(&gmon, "/etc/passwd", ERROR_FORMAT, "/etc/passwd");
	struct error error = { 0 };
	struct buffer bytes = { .bytes = (uint8_t *)(char[]){ "main;a 12\n" }, .size = 10 };
	assert_null(import_bytes(&bytes, image, &error));
	assert_int_equal(error.code, ERROR_FORMAT);
	assert_non_null(strstr(error.message, "it"));
}

/* A program with a build-id: this one. */
static void test_build_id(void **state)
{
	struct gmon gmon = new_gmon();
	struct buffer bytes = bytes_of(&gmon);
	struct error error = { 0 };
	(void)state;
	struct profile *profile = import_bytes(&bytes, "/proc/self/exe", &error);
	assert_non_null(profile);
	assert_int_equal(profile->modules[0].build_id_bytes, 20);
	uint8_t any = 0;
	for (size_t i = 0; i < 20; i++)
		any |= profile->modules[0].build_id[i];
	assert_int_not_equal(any, 0);
	buffer_release(&bytes);
	profile_free(profile);
}

/* --- export --- */

static int export_bytes(const struct profile *profile, const char *object, struct buffer *bytes, struct error *error)
{
	struct format_input input = { .profile = profile,
				      .object = object,
				      .view = { .resource = PROFILE_NONE, .thread = VIEW_ANY } };
	struct sink sink;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return error_set(error, ERROR_MEMORY, "out of memory");
	sink_init(&sink, out);
	int code = format_export(format_find("gmon"), &input, &sink, error);
	fclose(out);
	buffer_append(bytes, text, size);
	free(text);
	return code;
}

/* Returns the number of calls in the exported file of an object; the tests give each module another one. */
static uint64_t exported_calls(const struct profile *profile, const char *object)
{
	struct gmon gmon = new_gmon();
	struct buffer bytes;
	struct error error = { 0 };
	buffer_init(&bytes);
	assert_int_equal(export_bytes(profile, object, &bytes, &error), 0);
	FILE *in = fmemopen(bytes.bytes, bytes.size, "r");
	assert_int_equal(gmon_read(&gmon, in, "it", &error), 0);
	uint64_t calls = gmon.arc_count ? gmon.arcs[0].count : 0;
	assert_true(gmon.arc_count <= 1);
	fclose(in);
	gmon_release(&gmon);
	buffer_release(&bytes);
	return calls;
}

static void add_calls(struct profile *profile, const char *path, unsigned kind, uint64_t calls)
{
	struct profile_module module = { .path = (uint32_t)profile_add_string(profile, path), .kind = (uint8_t)kind };
	uint32_t id = (uint32_t)profile_add_module(profile, &module);
	uint32_t location = (uint32_t)profile_add_location(profile, id, 0x1000);
	uint32_t node = (uint32_t)profile_add_node(profile, PROFILE_ROOT, location);
	assert_int_equal(profile_add_hit(profile, 0, PROFILE_NONE, node, 0, calls), 0);
}

/* Modules whose files do not exist: their addresses are kept. */
static struct profile *libraries(void)
{
	struct profile *profile = profile_new();
	struct profile_resource calls = { .name = (uint32_t)profile_add_string(profile, "calls"),
					  .kind = RESOURCE_EXACT,
					  .interval = 1 };
	struct profile_process process = { .name = (uint32_t)profile_add_string(profile, "prog") };
	profile_add_resource(profile, &calls);
	profile_add_process(profile, &process);
	add_calls(profile, "/gone/a/libx.so.1", MODULE_FILE, 0);
	add_calls(profile, "/gone/prog", MODULE_FILE, 1);
	add_calls(profile, "/gone/b/libx.so.1", MODULE_FILE, 2);
	add_calls(profile, "/gone/c/libx.so.1", MODULE_FILE, 3);
	add_calls(profile, "libx.so.2", MODULE_FILE, 4);
	add_calls(profile, "[vdso]", MODULE_VDSO, 5);
	return profile;
}

static void test_objects(void **state)
{
	static const struct {
		const char *object;
		uint64_t calls;
	} found[] = {
		{ NULL, 1 },          { "prog", 1 },        { "gone/prog", 1 },
		{ "/gone/prog", 1 },  { "libx.so.1", 2 }, /* the first one with calls */
		{ "a/libx.so.1", 0 }, { "c/libx.so.1", 3 }, { "libx.so.2", 4 },
	};
	static const char *const missing[] = { "rog", "libx.so", "x.so.2", "c/libx.so.2", "/more/gone/prog", "[vdso]" };
	struct profile *profile = libraries();
	(void)state;
	for (size_t i = 0; i < sizeof(found) / sizeof(*found); i++)
		assert_int_equal(exported_calls(profile, found[i].object), found[i].calls);
	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++) {
		struct error error = { 0 };
		struct buffer bytes;
		char expected[128];
		buffer_init(&bytes);
		assert_int_equal(export_bytes(profile, missing[i], &bytes, &error), ERROR_NOT_FOUND);
		snprintf(expected, sizeof(expected), "this profile has no program or library '%s'", missing[i]);
		assert_string_equal(error.message, expected);
		assert_int_equal(bytes.size, 0);
		buffer_release(&bytes);
	}
	profile_free(profile);
}

static void test_names_without_addresses(void **state)
{
	struct profile *profile = profile_new();
	struct error error = { 0 };
	struct buffer bytes;
	(void)state;
	buffer_init(&bytes);
	assert_int_equal(export_bytes(profile, NULL, &bytes, &error), ERROR_NOT_FOUND);
	assert_string_equal(error.message, "cannot write gmon.out: the profile has names, but no addresses");
	buffer_release(&bytes);
	profile_free(profile);
}

static void test_round_trip(void **state)
{
	struct gmon gmon = new_gmon();
	uint64_t bins[TINY_TEXT_BYTES / 2] = { [1] = 70000, [0x800] = 5 };
	struct error error = { 0 };
	struct buffer again;
	(void)state;
	gmon_add_arc(&gmon, LOW + 0x11, LOW + 0x100, 7);
	gmon_add_block(&gmon, LOW + 0x300, 5);
	add_histogram(&gmon, LOW, HIGH, 100, "seconds", bins, TINY_TEXT_BYTES / 2);
	struct buffer once = bytes_of(&gmon);
	struct profile *profile = import_bytes(&once, image, &error);
	assert_non_null(profile);
	buffer_init(&again);
	assert_int_equal(export_bytes(profile, NULL, &again, &error), 0);
	assert_int_equal(once.size, again.size);
	assert_memory_equal(once.bytes, again.bytes, once.size);
	buffer_release(&once);
	buffer_release(&again);
	profile_free(profile);
}

/* --- no memory --- */

static void try_import(const struct buffer *bytes)
{
	struct error error = { 0 };
	struct profile *profile = import_bytes(bytes, image, &error);
	/* elf/ reports parts of the image for which it has no memory as missing. */
	if (!profile && error.code != ERROR_MEMORY && !strstr(error.message, image))
		fail_msg("%s", error.message);
	/* Without memory for its section headers, the image has no code. */
	assert_true(!profile || profile->hit_count == 5);
	profile_free(profile);
}

static void try_export(const struct profile *profile)
{
	struct error error = { 0 };
	struct buffer bytes;
	buffer_init(&bytes);
	int code = export_bytes(profile, "libx.so.1", &bytes, &error);
	assert_true(code == 0 || (code == ERROR_MEMORY && error.code == ERROR_MEMORY));
	buffer_release(&bytes);
}

static void test_no_memory(void **state)
{
	struct gmon gmon = new_gmon();
	uint64_t bins[2] = { 4, 2 };
	(void)state;
	gmon_add_arc(&gmon, LOW + 1, LOW, 3);
	gmon_add_block(&gmon, LOW + 2, 3);
	gmon_add_block(&gmon, HIGH + 2, 3); /* a finding */
	add_histogram(&gmon, LOW, LOW + 4, 100, "seconds", bins, 2);
	struct buffer bytes = bytes_of(&gmon);
	struct profile *profile = libraries();
	ALLOC_FAIL_EACH(try_import(&bytes));
	ALLOC_FAIL_EACH(try_export(profile));
	profile_free(profile);
	buffer_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arcs_and_blocks),
		cmocka_unit_test(test_first_call_site),
		cmocka_unit_test(test_blocks_alone),
		cmocka_unit_test(test_row),
		cmocka_unit_test(test_empty_file),
		cmocka_unit_test(test_addresses_of_bins),
		cmocka_unit_test(test_addresses_at_the_end),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_addresses_outside),
		cmocka_unit_test(test_most_counts),
		cmocka_unit_test(test_most_calls),
		cmocka_unit_test(test_wrong_image),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_names_without_addresses),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, make_image, remove_image);
}
