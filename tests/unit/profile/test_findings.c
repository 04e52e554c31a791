/* The list of findings: texts, merging, order, the closing line, notes of older files, and the table in docs/resources.md. */
#include "profile/findings.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"
#include "profile/quality.h"
#include "support/alloc_fail.h"

static const char *text_of(const struct profile *profile, size_t index)
{
	assert_true(index < profile->finding_count);
	return profile_string(profile, profile->findings[index].text);
}

static void test_texts(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	finding_add(profile, FINDING_THREADS_NOT_RECORDED, 1, "{# thread was|# threads were} not recorded: limit %d",
		    7);
	finding_add(profile, FINDING_PROCESSES_NOT_RECORDED, 10, "{# process was|# processes were} not recorded");
	finding_add(profile, FINDING_CALLS_UNCOUNTED, 0, "{# call|# calls}");
	finding_add(profile, FINDING_EVENTS_LOST, UINT64_MAX, "#%%");
	/* The result of a conversion is not expanded again. */
	finding_add(profile, FINDING_FILE_UNREADABLE, 3, "'%s'", "a{b|c}#");
	assert_int_equal(profile->findings_error, 0);
	assert_string_equal(text_of(profile, 0), "1 thread was not recorded: limit 7");
	assert_string_equal(text_of(profile, 1), "10 processes were not recorded");
	assert_string_equal(text_of(profile, 2), "0 calls");
	assert_string_equal(text_of(profile, 3), "18446744073709551615%");
	assert_string_equal(text_of(profile, 4), "'a{b|c}#'");
	assert_string_equal(profile_string(profile, profile->findings[1].code), "processes-not-recorded");
	assert_int_equal(profile->findings[1].severity, FINDING_WARNING);
	assert_int_equal(profile->findings[1].count, 10);
	profile_free(profile);
}

static void add_threads(struct profile *profile, uint64_t count, const char *reason)
{
	finding_add(profile, FINDING_THREADS_NOT_RECORDED, count, "{# thread was|# threads were} not recorded: %s",
		    reason);
}

static void test_merging(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	add_threads(profile, 1, "limit 7");
	add_threads(profile, 2, "no memory");
	add_threads(profile, 1, "limit 7");
	add_threads(profile, 5, "limit 7");
	add_threads(profile, 3, "no memory");
	finding_add(profile, FINDING_PROCESSES_NOT_RECORDED, 7, "# threads were not recorded: limit 7");
	assert_int_equal(profile->finding_count, 3);
	assert_string_equal(text_of(profile, 0), "7 threads were not recorded: limit 7");
	assert_int_equal(profile->findings[0].count, 7);
	assert_string_equal(text_of(profile, 1), "5 threads were not recorded: no memory");
	assert_string_equal(text_of(profile, 2), "7 threads were not recorded: limit 7");
	assert_ptr_equal(finding_find(profile, FINDING_PROCESSES_NOT_RECORDED), &profile->findings[2]);
	assert_null(finding_find(profile, FINDING_OWN_MALLOC));
	profile_free(profile);
}

/* Findings of a sum: one of a kind, with the counts added up; where other numbers differ, the first text. */
static void test_sums(void **state)
{
	(void)state;
	struct profile *one = profile_new(), *two = profile_new();
	add_threads(one, 3, "limit 7");
	add_threads(two, 5, "limit 7");
	finding_add(one, FINDING_PATHS_BROKEN, 10, "only 47.53 %% of the call paths reach their root");
	finding_add(two, FINDING_PATHS_BROKEN, 20, "only 31 %% of the call paths reach their root");
	finding_add(two, FINDING_BACKEND_REFUSED, 0, "not by bpf");
	struct profile *sum = profile_new();
	for (int i = 0; i < 2; i++)
		assert_int_equal(findings_sum(sum, one) | findings_sum(sum, two), 0);
	assert_int_equal(sum->finding_count, 3);
	assert_string_equal(text_of(sum, 0), "16 threads were not recorded: limit 7");
	assert_int_equal(sum->findings[0].count, 16);
	assert_string_equal(text_of(sum, 1),
			    "only 47.53 % of the call paths reach their root (in one of several recordings)");
	assert_int_equal(sum->findings[1].count, 60);
	assert_string_equal(text_of(sum, 2), "not by bpf");
	const struct profile_cause whole = { .count = 90, .whole = true }, broken = { .count = 10 };
	assert_int_equal(profile_count_cause(sum, "end", &whole) | profile_count_cause(sum, "lost", &broken), 0);
	quality_sum_findings(sum);
	const struct profile_finding *found = finding_find(sum, FINDING_PATHS_BROKEN);
	assert_int_equal(found->count, 10);
	assert_string_equal(profile_string(sum, found->text), "only 90.00 % of the call paths reach their root");
	profile_free(sum);
	profile_free(one);
	profile_free(two);
}

/* Adds up recordings that have one finding each, with these counts, and compares the sum. */
static void assert_sum(enum finding_code code, const char *format, const uint64_t counts[3], const char *expected,
		       uint64_t expected_count)
{
	struct profile *sum = profile_new();
	for (size_t i = 0; i < 3 && counts[i] > 0; i++) {
		struct profile *one = profile_new();
		finding_add(one, code, counts[i], format, 7);
		assert_int_equal(findings_sum(sum, one), 0);
		profile_free(one);
	}
	assert_int_equal(sum->finding_count, 1);
	assert_string_equal(text_of(sum, 0), expected);
	assert_int_equal(sum->findings[0].count, expected_count);
	profile_free(sum);
}

/* Rates and sizes do not add up, and a sum of findings in the singular and in the plural is one finding. */
static void test_sums_of_counts(void **state)
{
	(void)state;
	static const char running[] = "{# process|# processes} that the command started still {runs|run}, limit %d";
	static const char refused[] = "{# process was|# processes were} not recorded: {it belongs|they belong} to %d";
	static const char libraries[] = "{# library has|# libraries have} a malloc of {its|their} own: %d";
	static const char costly[] = "# samples a second slow the program %d";
	assert_sum(FINDING_PROCESSES_STILL_RUNNING, running, (const uint64_t[3]){ 1, 1 },
		   "1 process that the command started still runs, limit 7 (in each of 2 recordings)", 2);
	assert_sum(FINDING_PROCESSES_STILL_RUNNING, running, (const uint64_t[3]){ 1, 1, 1 },
		   "1 process that the command started still runs, limit 7 (in each of 3 recordings)", 3);
	assert_sum(FINDING_PROCESSES_STILL_RUNNING, running, (const uint64_t[3]){ 1, 1, 4 },
		   "6 processes that the command started still run, limit 7", 6);
	assert_sum(FINDING_PROCESSES_STILL_RUNNING, running, (const uint64_t[3]){ 2, 1, 1 },
		   "4 processes that the command started still run, limit 7", 4);
	assert_sum(FINDING_PROCESSES_NOT_RECORDED, refused, (const uint64_t[3]){ 1, 2 },
		   "3 processes were not recorded: they belong to 7", 3);
	assert_sum(FINDING_ALLOCATORS_UNCOUNTED, libraries, (const uint64_t[3]){ 7, 1, 7 },
		   "15 libraries have a malloc of their own: 7", 15);
	assert_sum(FINDING_SAMPLES_COSTLY, costly, (const uint64_t[3]){ 43551, 45508, 100 },
		   "45508 samples a second slow the program 7 (in one of several recordings)", 45508);
	assert_sum(FINDING_SAMPLES_COSTLY, costly, (const uint64_t[3]){ 43551, 43551 },
		   "43551 samples a second slow the program 7", 43551);
}

static void test_order(void **state)
{
	(void)state;
	static const char *const expected[] = { "error", "warning 1", "warning 2", "note 1", "note 2" };
	struct profile *profile = profile_new();
	struct finding_walk walk = { 0 };
	assert_null(finding_next(profile, &walk));
	finding_add(profile, FINDING_USER_MODE_ONLY, 0, "note 1");
	finding_add(profile, FINDING_EVENTS_LOST, 0, "warning 1");
	finding_add(profile, FINDING_BACKEND_REFUSED, 0, "note 2");
	finding_add(profile, FINDING_OUT_OF_MEMORY, 0, "error");
	finding_add(profile, FINDING_OWN_MALLOC, 0, "warning 2");
	walk = (struct finding_walk){ 0 };
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_string_equal(profile_string(profile, finding_next(profile, &walk)->text), expected[i]);
	assert_null(finding_next(profile, &walk));
	assert_null(finding_next(profile, &walk));
	profile_free(profile);
}

/* Compares the closing line's texts, joined by ';', and the number of findings that it leaves out. */
static void assert_closing(const struct profile *profile, const char *expected, size_t expected_more)
{
	const struct profile_finding *closing[FINDINGS_CLOSING_MAX];
	char text[256] = "";
	size_t more, used = 0, count = findings_closing(profile, closing, &more);
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ";" : "",
					 profile_string(profile, closing[i]->text));
	assert_string_equal(text, expected);
	assert_int_equal(more, expected_more);
}

static void test_closing(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	assert_closing(profile, "", 0);
	finding_add(profile, FINDING_UNWIND_ROWS, 0, "rows"); /* a note that only info prints */
	finding_add(profile, FINDING_BACKEND_REFUSED, 0, "not by bpf");
	assert_closing(profile, "not by bpf", 0);
	finding_add(profile, FINDING_EVENTS_LOST, 0, "events"); /* a warning that only info prints */
	assert_closing(profile, "not by bpf", 1);
	finding_add(profile, FINDING_UNSAMPLED, 0, "cpu");
	finding_add(profile, FINDING_UNSAMPLED, 0, "user"); /* the closing line has one finding of each code */
	assert_closing(profile, "cpu;not by bpf", 2);
	finding_add(profile, FINDING_CALLS_UNCOUNTED, 0, "calls");
	finding_add(profile, FINDING_OUT_OF_MEMORY, 0, "memory");
	assert_closing(profile, "memory;cpu;calls;not by bpf", 2);
	finding_add(profile, FINDING_PATHS_FOLDED, 0, "paths");
	assert_closing(profile, "memory;cpu;calls;paths", 2);
	finding_add(profile, FINDING_TALLY_CUT, 0, "tally");
	assert_closing(profile, "memory;cpu;calls;paths", 3);
	profile_free(profile);
}

/* A trace prints errors, warnings and notes of the closing line, except those that only a recording's line has. */
static void test_traced(void **state)
{
	(void)state;
	static const struct {
		enum finding_code code;
		bool is_traced;
	} cases[] = {
		{ FINDING_OUT_OF_MEMORY, true }, { FINDING_EVENTS_LOST, true },     { FINDING_BACKEND_REFUSED, true },
		{ FINDING_UNWIND_ROWS, false },  { FINDING_SAMPLES_COSTLY, false }, { FINDING_UNSAMPLED, false },
	};
	struct profile *profile = profile_new();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		finding_add(profile, cases[i].code, 0, "text");
		if (finding_is_traced(profile, &profile->findings[i]) != cases[i].is_traced)
			fail_msg("%s", finding_codes[cases[i].code].name);
	}
	profile_free(profile);
}

/* Lost samples and broken call paths are findings of each reading, but only once. */
static void test_quality(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	struct profile_cause causes[] = { { .count = 99, .whole = true }, { .count = 1 } };
	profile->causes = causes;
	profile->cause_count = 2;
	quality_add_findings(profile);
	assert_int_equal(profile->finding_count, 0);
	profile->lost = 1;
	causes[1].count = 9;
	for (int i = 0; i < 2; i++)
		quality_add_findings(profile);
	assert_int_equal(profile->finding_count, 2);
	assert_string_equal(text_of(profile, 0), "1 sample was lost besides 0 recorded");
	assert_string_equal(text_of(profile, 1), "only 91.66 % of the call paths reach their root");
	assert_int_equal(finding_find(profile, FINDING_PATHS_BROKEN)->count, 9);
	profile->causes = NULL;
	profile->cause_count = 0;
	profile_free(profile);
}

static struct quality_shares shares(uint64_t whole, uint64_t guessed, uint64_t broken)
{
	const struct quality quality = {
		.stacks = whole + guessed + broken, .whole = whole, .guessed = guessed, .broken = broken
	};
	return quality_shares_of(&quality);
}

static void assert_share(double share, double expected)
{
	if (share < expected - 1e-6 || share > expected + 1e-6)
		fail_msg("%f, not %f", share, expected);
}

/* The shares add up to 100, and rounding hides no broken stack. */
static void test_shares(void **state)
{
	(void)state;
	struct quality_shares all = shares(7, 0, 0), one_broken = shares(99999999, 0, 1), mixed = shares(1, 1, 1);
	assert_share(all.whole, 100);
	assert_share(all.guessed + all.broken, 0);
	assert_share(one_broken.whole, 99.99);
	assert_share(one_broken.guessed, 0);
	assert_share(one_broken.broken, 0.01);
	assert_share(mixed.whole, 33.33);
	assert_share(mixed.broken, 33.34);
	assert_share(mixed.guessed, 33.33);
	struct profile *profile = profile_new();
	struct profile_cause causes[] = { { .count = 5, .whole = true },
					  { .count = 3, .whole = true, .completed = true },
					  { .count = 2, .whole = true, .guessed = true },
					  { .count = 1 } };
	profile->causes = causes;
	profile->cause_count = 4;
	const struct quality quality = quality_of(profile);
	assert_int_equal(quality.stacks, 11);
	assert_int_equal(quality.whole, 8);
	assert_int_equal(quality.completed, 3);
	assert_int_equal(quality.guessed, 2);
	assert_int_equal(quality.broken, 1);
	profile->causes = NULL;
	profile->cause_count = 0;
	profile_free(profile);
}

/* Adds a resource of a kind, with hit rows of 3 and of 4 hits. */
static void add_hits(struct profile *profile, enum resource_kind kind)
{
	struct profile_resource resource = { .kind = (uint8_t)kind, .interval = 1 };
	uint32_t id = (uint32_t)profile_add_resource(profile, &resource);
	for (uint64_t count = 3; count < 5; count++)
		assert_int_equal(profile_add_hit(profile, 0, PROFILE_NONE, PROFILE_ROOT, id, count), 0);
}

/* A row of sampled data is one sample, one of merged data is as many as it has hits, and one of exact counts is none. */
static void test_samples(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	assert_int_equal(quality_of(profile).samples, 0);
	add_hits(profile, RESOURCE_SAMPLED);
	assert_int_equal(quality_of(profile).samples, 2);
	add_hits(profile, RESOURCE_MERGED);
	assert_int_equal(quality_of(profile).samples, 2 + 7);
	add_hits(profile, RESOURCE_EXACT);
	assert_int_equal(quality_of(profile).samples, 2 + 7);
	profile_free(profile);
}

/* Guessed paths reach their root. Without stacks, nothing is missing. */
static void test_guessed_paths_are_rooted(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	quality_add_findings(profile);
	assert_int_equal(profile->finding_count, 0);
	assert_share(quality_percent(0, 0), 100);
	struct profile_cause guessed = { .count = 1, .whole = true, .guessed = true }, broken = { .count = 1 };
	assert_int_equal(profile_count_cause(profile, "rule", &guessed), 0);
	quality_add_findings(profile);
	assert_int_equal(profile->finding_count, 0);
	assert_int_equal(profile_count_cause(profile, "broken", &broken), 0);
	quality_add_findings(profile);
	assert_string_equal(text_of(profile, 0), "only 50.00 % of the call paths reach their root");
	profile_free(profile);
	profile = profile_new();
	assert_int_equal(profile_count_cause(profile, "broken", &broken), 0); /* a single stack counts, too */
	quality_add_findings(profile);
	assert_string_equal(text_of(profile, 0), "only 0.00 % of the call paths reach their root");
	profile_free(profile);
}

/* A finding whose code a later version added is kept, but is not in the closing line. */
static void test_unknown_code(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	finding_add(profile, FINDING_CALLS_UNCOUNTED, 2, "# calls");
	profile->findings[0].code = (uint32_t)profile_add_string(profile, "of-a-later-version");
	assert_null(finding_code_find("of-a-later-version"));
	assert_closing(profile, "", 1);
	assert_string_equal(finding_severity_name(FINDING_SEVERITIES), "");
	profile_free(profile);
}

static void test_older_notes(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	profile_add_note(profile, "warning", "one");
	profile_add_note(profile, "host", "h");
	profile_add_note(profile, "warning", "two");
	assert_int_equal(findings_convert_notes(profile), 0);
	assert_int_equal(profile->note_count, 1);
	assert_string_equal(profile_note(profile, "host"), "h");
	assert_int_equal(profile->finding_count, 2);
	assert_string_equal(text_of(profile, 0), "one");
	assert_string_equal(text_of(profile, 1), "two");
	assert_int_equal(profile->findings[1].severity, FINDING_WARNING);
	assert_int_equal(profile->findings[1].count, 0);
	assert_int_equal(profile_check(profile), 0);
	assert_int_equal(findings_convert_notes(profile), 0);
	assert_int_equal(profile->finding_count, 2);
	profile_free(profile);
}

static void test_soundness(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	finding_add(profile, FINDING_CALLS_UNCOUNTED, 2, "# calls");
	struct profile_finding good = profile->findings[0];
	assert_int_equal(profile_check(profile), 0);
	profile->findings[0].severity = FINDING_SEVERITIES;
	assert_int_equal(profile_check(profile), ERROR_CORRUPT);
	profile->findings[0] = good;
	profile->findings[0].code = (uint32_t)profile->strings.count;
	assert_int_equal(profile_check(profile), ERROR_CORRUPT);
	profile->findings[0] = good;
	profile->findings[0].text = (uint32_t)profile->strings.count;
	assert_int_equal(profile_check(profile), ERROR_CORRUPT);
	profile_free(profile);
}

/* If memory is short, a finding is either complete or absent, and then the error is stored. */
static void add_some(void)
{
	struct profile *profile = profile_new();
	if (!profile)
		return;
	add_threads(profile, 3, "limit 7");
	add_threads(profile, 4, "limit 7");
	bool is_whole = profile->finding_count == 1 && profile->findings[0].count == 7;
	if (profile->findings_error == 0 ? !is_whole : profile->findings_error != ERROR_MEMORY || is_whole)
		fail_msg("error %d, %zu findings", profile->findings_error, profile->finding_count);
	assert_int_equal(profile_check(profile), 0);
	profile_free(profile);
}

static void test_no_memory(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(add_some());
	/* The first error is kept. */
	struct profile *profile = profile_new();
	profile->findings_error = ERROR_LIMIT;
	alloc_fail_start(1);
	add_threads(profile, 3, "limit 7");
	assert_true(alloc_fail_stop());
	assert_int_equal(profile->findings_error, ERROR_LIMIT);
	profile_free(profile);
}

static void test_limit(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	assert_int_equal(profile_add_note(profile, "warning", "one"), 0);
	profile->finding_count = PROFILE_NONE;
	assert_int_equal(findings_convert_notes(profile), ERROR_LIMIT);
	profile->finding_count = 0;
	profile_free(profile);
}

/* --- docs/resources.md --- */

static void append_row(struct buffer *out, const struct finding_code_row *row)
{
	static const char *const outputs[] = { "closing line", "closing line of record", "reading", "info" };
	buffer_printf(out, "| `%s` | %s | %s | %s |\n", row->name, finding_severity_name(row->severity),
		      outputs[row->output], row->unit);
}

static void test_docs(void **state)
{
	(void)state;
	struct buffer expected;
	static char page[65536];
	FILE *file = fopen(FINDINGS_PAGE, "re");
	assert_non_null(file);
	page[fread(page, 1, sizeof(page) - 1, file)] = 0;
	fclose(file);
	buffer_init(&expected);
	buffer_append_string(&expected, "| code | severity | first shown | count |\n|---|---|---|---|\n");
	for (size_t i = 0; i < FINDING_CODE_COUNT; i++)
		append_row(&expected, &finding_codes[i]);
	buffer_append_byte(&expected, 0);
	const char *table = strstr(page, "| code |");
	assert_non_null(table);
	if (strcmp(table, (const char *)expected.bytes) != 0)
		fail_msg("docs/resources.md does not end with this table:\n%s", (const char *)expected.bytes);
	buffer_release(&expected);
}

static void test_codes(void **state)
{
	(void)state;
	for (size_t i = 0; i < FINDING_CODE_COUNT; i++)
		assert_ptr_equal(finding_code_find(finding_codes[i].name), &finding_codes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),       cmocka_unit_test(test_merging),
		cmocka_unit_test(test_sums),        cmocka_unit_test(test_sums_of_counts),
		cmocka_unit_test(test_order),       cmocka_unit_test(test_closing),
		cmocka_unit_test(test_traced),      cmocka_unit_test(test_quality),
		cmocka_unit_test(test_shares),      cmocka_unit_test(test_unknown_code),
		cmocka_unit_test(test_older_notes), cmocka_unit_test(test_soundness),
		cmocka_unit_test(test_no_memory),   cmocka_unit_test(test_docs),
		cmocka_unit_test(test_codes),       cmocka_unit_test(test_limit),
		cmocka_unit_test(test_samples),     cmocka_unit_test(test_guessed_paths_are_rooted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
