/* Counts of source positions: names, discriminators, recursion, what is lost, and each allocation failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "analyze/source_counts.h"
#include "analyze/source_names.h"
#include "support/alloc_fail.h"
#include "support/sample_profile.h"

static uint32_t text(struct profile *profile, const char *string)
{
	return (uint32_t)profile_add_string(profile, string);
}

static struct profile *make(void)
{
	struct profile *profile = profile_new();
	struct profile_module module = { .path = text(profile, "/p"), .kind = MODULE_FILE };
	struct profile_resource resource = { .name = text(profile, "cpu"), .interval = 1 };
	assert_true(profile_add_module(profile, &module) == 0);
	assert_true(profile_add_resource(profile, &resource) == 0);
	return profile;
}

static uint32_t function(struct profile *profile, const char *linkage, const char *file, uint32_t line)
{
	struct profile_function row = { .name = text(profile, linkage),
					.linkage = text(profile, linkage),
					.file = text(profile, file),
					.line = line };
	return (uint32_t)profile_add_function(profile, &row);
}

/* Adds a node whose location has one frame. */
static uint32_t node(struct profile *profile, uint32_t parent, uint32_t called, uint32_t line, uint32_t discriminator)
{
	struct profile_frame frame = { .function = called, .line = line, .discriminator = discriminator };
	uint32_t first = (uint32_t)profile_add_frame(profile, &frame);
	uint32_t location = (uint32_t)profile_add_location(profile, 0, 0x1000 + profile->location_count);
	profile->locations[location].first_frame = first;
	profile->locations[location].frame_count = 1;
	return (uint32_t)profile_add_node(profile, parent, location);
}

static void hits(struct profile *profile, uint32_t at, uint64_t count)
{
	assert_int_equal(profile_add_hit(profile, 0, PROFILE_NONE, at, 0, count), 0);
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(source_name_length("parse"), 5);
	assert_int_equal(source_name_length("parse.llvm.123"), 5);
	assert_int_equal(source_name_length("parse.part.0.constprop.1"), 5);
	assert_int_equal(source_name_length("parse.__uniq.77.llvm.5"), strlen("parse.__uniq.77"));
	assert_int_equal(source_name_length("_ZN4core3ptr13drop$LT$std..rt$GT$17hE"),
			 strlen("_ZN4core3ptr13drop$LT$std..rt$GT$17hE"));
	assert_true(source_name_is_usable("_ZN1aIiE1bEv"));
	assert_false(source_name_is_usable(""));
	assert_false(source_name_is_usable("-[Foo bar:]"));
}

/* The numbers come from getBaseDiscriminatorFromDiscriminator in LLVM. */
static void test_discriminators(void **state)
{
	(void)state;
	static const struct {
		uint32_t raw, base;
	} rows[] = {
		{ 0, 0 }, { 1, 0 }, { 2, 1 }, { 4, 2 }, { 62, 31 }, { 3, 0 }, { 0x40 | 0x80, 0x20 }, { 0x102, 1 }
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(source_base_discriminator(rows[i].raw), rows[i].base);
}

/* f calls itself at three depths: one context, and its samples count once. */
static void test_recursion_counts_once(void **state)
{
	(void)state;
	struct profile *profile = make();
	uint32_t f = function(profile, "f", "a.c", 10), at = PROFILE_ROOT;
	for (int depth = 0; depth < 3; depth++)
		at = node(profile, at, f, 12, 0);
	hits(profile, at, 7);
	struct error error = { 0 };
	struct source_counts *counts = source_counts_new(profile, 0, NEST_ALL, &error);
	assert_non_null(counts);
	assert_int_equal(counts->context_count, 1);
	assert_int_equal(counts->contexts[0].head, 7);
	assert_int_equal(counts->call_count, 1);
	assert_int_equal(counts->calls[0].count, 7);
	assert_int_equal(counts->line_count, 1);
	assert_int_equal(counts->lines[0].position.offset, 2);
	source_counts_free(counts);
	profile_free(profile);
}

/* Counted calls belong to their callee alone, and each recursive one counts. */
static void test_calls(void **state)
{
	(void)state;
	struct profile *profile = make();
	profile->resources[0].kind = RESOURCE_EXACT;
	profile->resources[0].unit = text(profile, "call");
	uint32_t f = function(profile, "f", "a.c", 10), g = function(profile, "g", "a.c", 20);
	uint32_t outer = node(profile, PROFILE_ROOT, f, 12, 0), inner = node(profile, outer, f, 12, 0);
	hits(profile, outer, 1);
	hits(profile, inner, 5);
	hits(profile, node(profile, inner, g, 20, 0), 7);
	struct source_counts *counts = source_counts_new(profile, 0, NEST_ALL, NULL);
	assert_non_null(counts);
	assert_int_equal(counts->context_count, 2);
	assert_int_equal(counts->contexts[0].head, 6);
	assert_int_equal(counts->contexts[1].head, 7);
	assert_int_equal(counts->call_count, 2);
	assert_int_equal(counts->calls[0].count, 5);
	assert_int_equal(counts->calls[1].count, 7);
	source_counts_free(counts);
	profile_free(profile);
}

/* A callee of another file begins anew by file, and continues with all calls. */
static void test_files(void **state)
{
	(void)state;
	struct profile *profile = make();
	uint32_t f = function(profile, "f", "a.c", 10), g = function(profile, "g", "b.c", 1);
	hits(profile, node(profile, node(profile, PROFILE_ROOT, f, 11, 0), g, 2, 0), 3);
	static const struct {
		enum source_nesting nesting;
		bool is_below;
	} rows[] = { { NEST_INLINED, false }, { NEST_FILE, false }, { NEST_ALL, true } };
	for (size_t i = 0; i < 3; i++) {
		struct source_counts *counts = source_counts_new(profile, 0, rows[i].nesting, NULL);
		assert_non_null(counts);
		assert_int_equal(counts->context_count, 2);
		assert_int_equal(counts->contexts[1].parent != PROFILE_NONE, rows[i].is_below);
		assert_int_equal(counts->contexts[0].total, rows[i].is_below ? 3 : 0);
		source_counts_free(counts);
	}
	profile_free(profile);
}

static void test_losses(void **state)
{
	(void)state;
	struct profile *profile = make();
	uint32_t f = function(profile, "f", "a.c", 10), other = function(profile, "f", "b.c", 20);
	uint32_t bare = function(profile, "bare", "", 0), nameless = function(profile, "", "a.c", 30);
	hits(profile, node(profile, PROFILE_ROOT, f, 0, 0), 1);
	hits(profile, node(profile, PROFILE_ROOT, f, 9, 0), 2);
	hits(profile, node(profile, PROFILE_ROOT, bare, 0, 0), 4);
	hits(profile, node(profile, PROFILE_ROOT, other, 21, 0), 8);
	hits(profile, PROFILE_ROOT, 16);
	hits(profile, node(profile, PROFILE_ROOT, nameless, 31, 0), 32);
	struct source_counts *counts = source_counts_new(profile, 0, NEST_FILE, NULL);
	assert_non_null(counts);
	assert_int_equal(counts->hits, 63);
	assert_int_equal(counts->losses.line_zero, 1);
	assert_int_equal(counts->losses.above_start, 2);
	assert_int_equal(counts->losses.without_lines, 52);
	assert_int_equal(counts->losses.names, 1);
	assert_int_equal(counts->line_count, 1);
	source_counts_free(counts);
	profile_free(profile);
}

static void test_no_memory(void **state)
{
	(void)state;
	struct random random = { .state = 5 };
	struct profile *profile = profile_new();
	assert_true(sample_profile_grow(profile, &random, 200) && sample_profile_symbolize(profile, &random));
	ALLOC_FAIL_EACH({
		struct error error = { 0 };
		struct source_counts *counts = source_counts_new(profile, 0, NEST_ALL, &error);
		assert_true(counts || error.code == ERROR_MEMORY);
		source_counts_free(counts);
	});
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_discriminators),
		cmocka_unit_test(test_recursion_counts_once),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
