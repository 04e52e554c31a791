/* Converts a hand-made profile of compiler hooks to gmon.out: arcs, samples, blocks, and missing files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gprof/from_profile.h"
#include "gprof/gmon_files.h"
#include "gprof/image.h"
#include "gprof/object.h"
#include "processor/names.h"
#include "profile/profile.h"
#include "support/alloc_fail.h"

#define LIBRARY "/lib/" ARCH_MULTIARCH "/libm.so.6"

enum { PROGRAM, LIBM, ANON, GONE, MODULES };
enum { CPU, CALLS, BLOCKS, REAL };

struct made {
	struct profile *profile;
	struct object program, library;
	char *path;
};

static uint32_t checked(int64_t id)
{
	assert_true(id >= 0);
	return (uint32_t)id;
}

static uint32_t text(struct profile *profile, const char *string)
{
	return checked(profile_add_string(profile, string));
}

static void add_resource(struct profile *profile, const char *name, const char *unit, uint8_t kind, uint64_t interval)
{
	struct profile_resource resource = {
		.name = text(profile, name),
		.title = text(profile, name),
		.unit = text(profile, unit),
		.kind = kind,
		.interval = interval,
	};
	checked(profile_add_resource(profile, &resource));
}

static void add_module(struct profile *profile, const char *path, uint8_t kind, const struct object *object)
{
	struct profile_module module = { .path = text(profile, path), .kind = kind };
	if (object) {
		module.build_id_bytes = (uint8_t)object->build_id_bytes;
		memcpy(module.build_id, object->build_id, object->build_id_bytes);
	}
	checked(profile_add_module(profile, &module));
}

static struct made make(uint64_t interval)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	assert_true(length > 0);
	path[length] = '\0';
	struct made made = { .profile = profile_new(), .path = strdup(path) };
	assert_int_equal(object_read(&made.program, made.path, NULL), 0);
	assert_int_equal(object_read(&made.library, LIBRARY, NULL), 0);
	struct profile_process process = { .pid = 7, .name = text(made.profile, strrchr(made.path, '/') + 1) };
	checked(profile_add_process(made.profile, &process));
	add_resource(made.profile, "cpu", "ns", RESOURCE_SAMPLED, interval);
	add_resource(made.profile, "calls", "call", RESOURCE_EXACT, 1);
	add_resource(made.profile, "blocks", "block", RESOURCE_EXACT, 1);
	add_resource(made.profile, "real", "ns", RESOURCE_EXACT, 1);
	add_module(made.profile, made.path, MODULE_FILE, &made.program);
	add_module(made.profile, LIBRARY, MODULE_FILE, &made.library);
	add_module(made.profile, "[anon]", MODULE_ANON, NULL);
	add_module(made.profile, "/gone/libm.so.6", MODULE_FILE, NULL);
	return made;
}

static void unmake(struct made *made)
{
	profile_free(made->profile);
	free(made->path);
}

/* Adds hits at a path of (module, address) pairs, terminated by PROFILE_NONE. */
static void hit(struct made *made, uint32_t resource, uint64_t count, const uint64_t (*path)[2])
{
	uint32_t node = PROFILE_ROOT;
	for (; (*path)[0] != PROFILE_NONE; path++) {
		int64_t location = profile_add_location(made->profile, (uint32_t)(*path)[0], (*path)[1]);
		node = checked(profile_add_node(made->profile, node, checked(location)));
	}
	assert_int_equal(profile_add_hit(made->profile, 0, PROFILE_NONE, node, resource, count), 0);
}

#define HIT(made, resource, count, ...) \
	hit(made, resource, count, (const uint64_t[][2]){ __VA_ARGS__, { PROFILE_NONE, 0 } })

static struct gmon gmon_of(const struct made *made, uint32_t module, uint32_t resource)
{
	struct gmon gmon;
	struct error error = { 0 };
	gmon_init(&gmon);
	if (gmon_from_profile(made->profile, module, resource, &gmon, &error) < 0)
		fail_msg("%s", error.message);
	return gmon;
}

static uint64_t count_of(const struct gmon *gmon, uint64_t from, uint64_t self)
{
	for (size_t i = 0; i < gmon->arc_count; i++)
		if (gmon->arcs[i].from == from && gmon->arcs[i].self == self)
			return gmon->arcs[i].count;
	return 0;
}

static void test_arcs(void **state)
{
	(void)state;
	struct made made = make(1000000);
	uint64_t main_at = made.program.low + 0x100, work_at = main_at + 0x40, sin_at = made.library.low + 0x200;
	HIT(&made, CALLS, 1, { LIBM, 99 }, { PROGRAM, main_at }); /* called from another object */
	HIT(&made, CALLS, UINT64_C(5) << 32, { PROGRAM, main_at + 4 }, { PROGRAM, work_at });
	HIT(&made, CALLS, 6, { LIBM, 99 }, { PROGRAM, main_at + 4 }, { PROGRAM, work_at }); /* another path */
	HIT(&made, CALLS, 3, { PROGRAM, main_at + 9 }, { PROGRAM, work_at });               /* another call site */
	HIT(&made, CALLS, 2, { PROGRAM, work_at });                                         /* no caller */
	HIT(&made, CALLS, 7, { PROGRAM, work_at + 5 }, { LIBM, sin_at });
	HIT(&made, CALLS, 4, { LIBM, sin_at + 5 }, { LIBM, sin_at + 0x30 });
	HIT(&made, CALLS, 9, { PROGRAM, work_at + 5 }, { ANON, 16 });
	struct gmon gmon = gmon_of(&made, PROGRAM, PROFILE_NONE);
	assert_true(made.program.outside > made.program.low && made.program.outside < made.program.high);
	assert_int_equal(gmon.arc_count, 4);
	assert_int_equal(count_of(&gmon, made.program.outside, main_at), 1);
	assert_int_equal(count_of(&gmon, made.program.outside, work_at), 2);
	assert_int_equal(count_of(&gmon, main_at + 5, work_at), (UINT64_C(5) << 32) + 6);
	assert_int_equal(count_of(&gmon, main_at + 10, work_at), 3);
	gmon_release(&gmon);
	gmon = gmon_of(&made, LIBM, PROFILE_NONE);
	assert_int_equal(gmon.arc_count, 2);
	assert_int_not_equal(made.library.outside, 0);
	assert_int_equal(count_of(&gmon, made.library.outside, sin_at), 7);
	assert_int_equal(count_of(&gmon, sin_at + 6, sin_at + 0x30), 4);
	gmon_release(&gmon);
	assert_int_equal(gmon_program(made.profile), PROGRAM);
	unmake(&made);
}

static uint64_t bin_at(const struct gmon *gmon, uint64_t address)
{
	const struct gmon_histogram *histogram = &gmon->histograms[0];
	return histogram->bins[(address - histogram->low) / 2];
}

static void test_samples(void **state)
{
	(void)state;
	static const struct {
		uint64_t interval;
		uint32_t rate, per_hit;
	} cases[] = { { 1000000, 1000, 1 }, { 1500000, 2000, 3 }, { 1234567, 810, 1 }, { 1, 1000000000, 1 } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made made = make(cases[i].interval);
		uint64_t at = (made.program.low + 0x100) & ~UINT64_C(1);
		HIT(&made, CPU, 5, { PROGRAM, at });
		HIT(&made, CPU, 2, { PROGRAM, at + 9 }, { PROGRAM, at + 1 });
		HIT(&made, CPU, 7, { PROGRAM, at + 9 }, { LIBM, made.library.low }); /* time in another object */
		HIT(&made, CPU, 3, { PROGRAM, made.program.high - 1 });
		HIT(&made, CPU, 9, { PROGRAM, UINT64_MAX - 1 }); /* outside of the text */
		struct gmon gmon = gmon_of(&made, PROGRAM, PROFILE_NONE);
		assert_int_equal(gmon.histogram_count, 1);
		assert_int_equal(gmon.histograms[0].rate, cases[i].rate);
		assert_string_equal(gmon.histograms[0].dimension, "seconds");
		assert_true(gmon.histograms[0].low <= made.program.low && gmon.histograms[0].high >= made.program.high);
		assert_int_equal(gmon.histograms[0].low % 2, 0);
		assert_int_equal(gmon.histograms[0].high - gmon.histograms[0].low, 2 * gmon.histograms[0].bin_count);
		assert_int_equal(bin_at(&gmon, at), 7 * cases[i].per_hit);
		assert_int_equal(bin_at(&gmon, made.program.high - 1), 3 * cases[i].per_hit);
		gmon_release(&gmon);
		unmake(&made);
	}
}

/* A function of three bytes, and another one that begins in the last of the two-byte units that the first one uses.
 * Neither is called. */
__asm__(".pushsection .text\n"
	".balign 4\n"
	".globl odd_first\n"
	".type odd_first, @function\n"
	"odd_first: .skip 3\n"
	".globl odd_second\n"
	".type odd_second, @function\n"
	"odd_second: .skip 1\n"
	".balign 4\n"
	".popsection\n");

static uint64_t symbol_at(const char *path, const char *name)
{
	struct image image;
	uint64_t start = 0;
	assert_int_equal(image_open(&image, path, &(struct image_options){ 0 }, NULL), 0);
	for (size_t i = 0; i < image.symbol_count; i++)
		if (strcmp(image.symbols[i].name, name) == 0)
			start = image.symbols[i].start;
	image_close(&image);
	assert_int_not_equal(start, 0);
	return start;
}

static void test_shared_unit(void **state)
{
	(void)state;
	struct made made = make(1000000);
	uint64_t first = symbol_at(made.path, "odd_first"), second = symbol_at(made.path, "odd_second");
	assert_int_equal(second, first + 3);
	HIT(&made, CPU, 5, { PROGRAM, first + 2 });
	HIT(&made, CPU, 7, { PROGRAM, second });
	struct gmon gmon = gmon_of(&made, PROGRAM, PROFILE_NONE);
	assert_int_equal(bin_at(&gmon, first), 5);
	assert_int_equal(bin_at(&gmon, second), 7);
	gmon_release(&gmon);
	unmake(&made);
}

/* Counted times become ticks of 0.1 ms if nothing was sampled, or if the caller requests them. */
static void test_exact_times(void **state)
{
	(void)state;
	struct made made = make(1000000);
	uint64_t at = (made.program.low + 0x100) & ~UINT64_C(1);
	HIT(&made, REAL, 30000, { PROGRAM, at });
	HIT(&made, REAL, 2520000, { PROGRAM, at });
	struct gmon gmon = gmon_of(&made, PROGRAM, PROFILE_NONE);
	assert_int_equal(gmon.histograms[0].rate, 10000);
	assert_int_equal(bin_at(&gmon, at), 26);
	gmon_release(&gmon);
	HIT(&made, CPU, 2, { PROGRAM, at });
	gmon = gmon_of(&made, PROGRAM, PROFILE_NONE);
	assert_int_equal(bin_at(&gmon, at), 2);
	gmon_release(&gmon);
	gmon = gmon_of(&made, PROGRAM, REAL);
	assert_int_equal(bin_at(&gmon, at), 26);
	gmon_release(&gmon);
	struct error error = { 0 };
	gmon_init(&gmon);
	assert_int_equal(gmon_from_profile(made.profile, PROGRAM, BLOCKS, &gmon, &error), ERROR_UNSUPPORTED);
	gmon_release(&gmon);
	unmake(&made);
}

/* The file was rebuilt, or does not exist any more: the range of the histogram then comes from the recorded
 * addresses. */
static void test_unknown_file(void **state)
{
	(void)state;
	struct made made = make(1000000);
	HIT(&made, CALLS, 1, { LIBM, 8 }, { GONE, 0x1234 });
	HIT(&made, CPU, 5, { GONE, 0x1235 });
	HIT(&made, BLOCKS, 8, { GONE, 0x2234 });
	made.profile->modules[PROGRAM].build_id[0] ^= 1;
	HIT(&made, CPU, 4, { PROGRAM, 0x5000 });
	struct gmon gmon = gmon_of(&made, GONE, PROFILE_NONE);
	assert_int_equal(gmon.histograms[0].low, 0x1000);
	assert_int_equal(gmon.histograms[0].high, 0x3000);
	assert_int_equal(bin_at(&gmon, 0x1234), 5);
	assert_int_equal(count_of(&gmon, 0, 0x1234), 1);
	assert_int_equal(gmon.block_count, 1);
	assert_int_equal(gmon.blocks[0].count, 8);
	gmon_release(&gmon);
	gmon = gmon_of(&made, PROGRAM, PROFILE_NONE);
	assert_int_equal(gmon.histograms[0].low, 0x5000);
	gmon_release(&gmon);
	unmake(&made);
}

static void assert_holds_arcs(const char *folder, const char *name, size_t arcs)
{
	char path[4096];
	struct gmon gmon;
	struct error error = { 0 };
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *in = fopen(path, "re");
	assert_non_null(in);
	gmon_init(&gmon);
	assert_int_equal(gmon_read(&gmon, in, path, &error), 0);
	assert_int_equal(gmon.arc_count, arcs);
	gmon_release(&gmon);
	fclose(in);
	unlink(path);
}

static void test_files(void **state)
{
	(void)state;
	struct made made = make(1000000);
	struct error error = { 0 };
	char folder[] = "/tmp/test_gmon_XXXXXX";
	assert_non_null(mkdtemp(folder));
	assert_int_equal(gmon_files_write(made.profile, folder, NULL, &error), 0);
	uint64_t at = made.program.low + 0x100;
	HIT(&made, CALLS, 1, { LIBM, 99 }, { PROGRAM, at });
	HIT(&made, CALLS, 1, { PROGRAM, at }, { PROGRAM, at + 64 });
	HIT(&made, CALLS, 1, { PROGRAM, at }, { LIBM, made.library.low + 64 });
	HIT(&made, BLOCKS, 1, { GONE, 64 });
	HIT(&made, CALLS, 1, { PROGRAM, at }, { ANON, 64 });
	struct buffer names;
	buffer_init(&names);
	assert_int_equal(gmon_files_write(made.profile, folder, &names, &error), 3);
	buffer_append_byte(&names, 0);
	assert_non_null(strstr((const char *)names.bytes, "/gmon.out, "));
	assert_non_null(strstr((const char *)names.bytes, "/gmon.out.libm.so.6, "));
	assert_non_null(strstr((const char *)names.bytes, "/gmon.out.libm.so.6.2"));
	assert_holds_arcs(folder, "gmon.out", 2);
	assert_holds_arcs(folder, "gmon.out.libm.so.6", 1);
	assert_holds_arcs(folder, "gmon.out.libm.so.6.2", 0);
	buffer_release(&names);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(gmon_files_write(made.profile, folder, NULL, &error), ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, folder));
	unmake(&made);
}

static void try_make(const struct made *made)
{
	struct gmon gmon;
	struct error error = { 0 };
	gmon_init(&gmon);
	int code = gmon_from_profile(made->profile, PROGRAM, PROFILE_NONE, &gmon, &error);
	/* In the jail, an allocation that fails is a limit that is exceeded. */
	assert_true(code == 0 || ((code == ERROR_MEMORY || code == ERROR_LIMIT) && error.message[0]));
	gmon_release(&gmon);
}

static void test_no_memory(void **state)
{
	(void)state;
	struct made made = make(1000000);
	uint64_t at = made.program.low + 0x100;
	HIT(&made, CALLS, 1, { PROGRAM, at }, { PROGRAM, at + 64 });
	HIT(&made, CPU, 1, { PROGRAM, at }, { PROGRAM, at + 64 });
	ALLOC_FAIL_EACH(try_make(&made));
	unmake(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arcs),         cmocka_unit_test(test_samples),
		cmocka_unit_test(test_shared_unit),  cmocka_unit_test(test_exact_times),
		cmocka_unit_test(test_unknown_file), cmocka_unit_test(test_files),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
