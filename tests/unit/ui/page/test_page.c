/* The page: its engine answers requests about profiles that were written for it, and its data are unpacked as browsers do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "profile_file/writer.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"
#include "ui/page/engine.h"
#include "ui/page/write.h"

/* Returns the bytes of a profile with these stacks, as a page contains it. */
static struct buffer make_profile(uint64_t hits)
{
	struct paths paths;
	struct buffer bytes;
	struct error error;
	paths_start(&paths, RESOURCE_SAMPLED);
	assert_int_equal(profile_add_process(paths.profile, &(struct profile_process){ .pid = 4 }), 0);
	assert_int_equal(profile_add_thread(paths.profile, &(struct profile_thread){ .tid = 4 }), 0);
	for (uint64_t i = 0; i < hits; i++)
		paths_add(&paths, "main;f", 1);
	paths_add(&paths, "main;g;f", 1);
	paths_add(&paths, "main;g", 2);
	buffer_init(&bytes);
	struct writer *writer = writer_to_memory(&bytes, &error);
	assert_non_null(writer);
	assert_int_equal(writer_finish(writer, paths.profile, &error), 0);
	writer_free(writer);
	paths_end(&paths);
	return bytes;
}

static struct engine engine;

static int start(void **state)
{
	(void)state;
	struct error error = { 0 };
	engine = (struct engine){ 0 };
	for (int side = 0; side < 2; side++) {
		struct buffer bytes = make_profile(side ? 17 : 5);
		assert_int_equal(engine_load(&engine, side, bytes.bytes, bytes.size, &error), 0);
		buffer_release(&bytes);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	engine_release(&engine);
	return 0;
}

static void assert_answer(const char *request, const char *part)
{
	struct error error = { 0 };
	char *answer = engine_answer(&engine, request, &error);
	if (!answer)
		fail_msg("%s: %s", request, error.message);
	if (!strstr(answer, part))
		fail_msg("%s: %s is not in %s", request, part, answer);
	free(answer);
}

static void assert_refused(const char *request, int code, const char *part)
{
	struct error error = { 0 };
	assert_null(engine_answer(&engine, request, &error));
	assert_int_equal(error.code, code);
	if (!strstr(error.message, part))
		fail_msg("%s: %s", request, error.message);
}

static void reports(void **state)
{
	(void)state;
	assert_answer("report=functions\n", "{\"path\": [\"f\"], \"fraction\": 0.75, ");
	assert_answer("side=b\nreport=functions\n", "{\"path\": [\"f\"], \"fraction\": 0.9, ");
	assert_answer("report=body\nlimit=1\n", "\"left_out\": 1}");
	assert_answer("report=functions\nthreshold=80%\n", "\"left_out\": 2}");
	assert_answer("report=functions\nzeros=on\nthreshold=80%\n", "\"left_out\": 0}");
	assert_answer("report=down\nroot=g\n", "{\"path\": [\"g\", \"f\"], \"fraction\": 0.125, ");
	assert_answer("report=whatif\nterm=main;g=0\n", "\"predicted_total\": 0.625");
	/* A search keeps what it finds before the limit applies. */
	assert_answer("report=functions\nsearch=G\nlimit=1\n", "{\"path\": [\"g\"], ");
	assert_answer("report=functions\nsearch=G\nlimit=1\n", "\"left_out\": 0}");
	assert_answer("report=functions\nsearch=a\n", "{\"path\": [\"main\"], ");
	assert_answer("report=functions\nsearch=none\n", "\"left_out\": 0}");
	assert_answer("report=info\n", "\"samples\": 7");
	assert_answer("report=diff\nof=functions\n", "\"hits_a\": 6, \"hits_b\": 18");
}

static void load(struct engine *to, enum diff_sides side, uint64_t hits)
{
	struct error error = { 0 };
	struct buffer bytes = make_profile(hits);
	assert_int_equal(engine_load(to, side, bytes.bytes, bytes.size, &error), 0);
	buffer_release(&bytes);
}

/* Recordings of a side have numbers, in the order in which they are loaded; a comparison is of all of them. */
static void several_recordings_a_side(void **state)
{
	(void)state;
	load(&engine, DIFF_A, 6);
	load(&engine, DIFF_B, 19);
	load(&engine, DIFF_A, 7);
	static const struct {
		const char *side;
		unsigned hits;
	} rows[] = { { "a", 5 }, { "a1", 5 }, { "a2", 6 }, { "a3", 7 }, { "b", 17 }, { "b2", 19 } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char request[64], part[64];
		snprintf(request, sizeof(request), "report=functions\nside=%s\n", rows[i].side);
		snprintf(part, sizeof(part), "\"total_hits\": %u", rows[i].hits + 3);
		assert_answer(request, part);
	}
	assert_answer("report=diff\nof=functions\n", "\"hits_a\": 21, \"hits_b\": 38");
	struct picture picture;
	struct error error = { 0 };
	assert_int_equal(picture_make(&picture, &engine, "side=b2\nshape=changes\n", &error), 0);
	assert_float_equal(picture.pair->total[DIFF_A], 9, 0);
	assert_float_equal(picture.pair->total[DIFF_B], 21, 0);
	picture_release(&picture);
	static const char *const refused[] = { "a0", "a4", "b3", "c", "", "a2x" };
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		char request[64];
		snprintf(request, sizeof(request), "report=functions\nside=%s\n", refused[i]);
		assert_refused(request, ERROR_USAGE, "the page has no profile");
	}
}

static void requests_that_are_refused(void **state)
{
	(void)state;
	assert_refused("report=nothing\n", ERROR_USAGE, "no report 'nothing'");
	assert_refused("", ERROR_USAGE, "no report ''");
	assert_refused("report\n", ERROR_USAGE, "KEY=VALUE");
	assert_refused("colour=red\n", ERROR_USAGE, "unknown key 'colour'");
	assert_refused("report=functions\nresource=none\n", ERROR_NOT_FOUND, "none");
	assert_refused("report=functions\nthread=9\n", ERROR_NOT_FOUND, "no thread");
	assert_refused("report=functions\nprocess=9\n", ERROR_NOT_FOUND, "process");
	assert_refused("report=functions\nlabel=a=b\n", ERROR_NOT_FOUND, "label");
	assert_refused("report=functions\nfrom=2\nto=1\n", ERROR_USAGE, "empty");
	assert_refused("report=functions\nby=colour\n", ERROR_USAGE, "colour");
	assert_refused("report=functions\nlimit=-1\n", ERROR_USAGE, "-1");
	assert_refused("report=functions\nuntrimmed=maybe\n", ERROR_USAGE, "maybe");
	assert_refused("report=down\nroot=nothing\n", ERROR_NOT_FOUND, "nothing");
	assert_refused("report=diff\nof=tree\n", ERROR_USAGE, "no list 'tree'");
	struct buffer terms;
	buffer_init(&terms);
	buffer_append_string(&terms, "report=whatif\n");
	for (int i = 0; i <= PAGE_TERMS_MAX; i++)
		buffer_append_string(&terms, "term=main=1\n");
	buffer_append_byte(&terms, 0);
	assert_refused((const char *)terms.bytes, ERROR_LIMIT, "at most 32");
	buffer_release(&terms);
}

/* The first report has rows of several kinds; the limit is of each kind. */
static void first_report(void **state)
{
	(void)state;
	assert_answer("report=summary\n", "{\"entry\": \"body\", \"function\": \"f\", \"fraction\": 0.75, ");
	assert_answer("report=summary\nlimit=1\n", "{\"entry\": \"body\", \"function\": \"f\", ");
	assert_answer("report=summary\n", "{\"entry\": \"path\", \"function\": \"main\", \"fraction\": 1, ");
	assert_answer("report=summary\n", "\"command\": \"cpprof report --up f\", \"why\": \"who calls it\"");
	struct error error = { 0 };
	char *answer = engine_answer(&engine, "report=summary\nlimit=1\n", &error);
	assert_non_null(answer);
	assert_null(strstr(answer, "\"entry\": \"body\", \"function\": \"g\""));
	free(answer);
}

/* A page without machine code states that; a file in place of a root selects its lines. */
static void code_and_lines(void **state)
{
	(void)state;
	assert_refused("report=asm\nroot=f\n", ERROR_NOT_FOUND,
		       "cannot disassemble 'f': the page was made without machine code");
	assert_answer("report=source\nfile=none.c\n", "\"entries\": [");
}

/* A report's needs are checked without making it. */
static void whether_a_report_can_be_made(void **state)
{
	(void)state;
	assert_answer("report=functions\nhas=on\n", "{}");
	assert_refused("report=pages\nhas=on\n", ERROR_NOT_FOUND, "no addresses");
	assert_refused("report=groups\nhas=on\n", ERROR_NOT_FOUND, "group");
}

/* A picture keeps its view while others are made and forgotten. */
static void views_of_pictures_stay(void **state)
{
	(void)state;
	struct error error = { 0 };
	struct picture picture, others[VIEW_CACHE_VIEWS];
	assert_int_equal(picture_make(&picture, &engine, "", &error), 0);
	const struct view *view = picture.own;
	for (unsigned i = 1; i < VIEW_CACHE_VIEWS; i++) {
		char request[64];
		snprintf(request, sizeof(request), "to=%u\n", i);
		assert_int_equal(picture_make(&others[i], &engine, request, &error), 0);
	}
	assert_int_equal(picture_make(&others[0], &engine, "to=1000\n", &error), ERROR_LIMIT);
	view_cache_trim(&engine.views, 0);
	assert_int_equal(picture_make(&others[0], &engine, "", &error), 0);
	assert_ptr_equal(others[0].own, view);
	picture_release(&picture);
	for (unsigned i = 0; i < VIEW_CACHE_VIEWS; i++)
		picture_release(&others[i]);
	view_cache_trim(&engine.views, 0);
	assert_null(engine.views.views[0].view);
}

static void one_profile_has_no_second(void **state)
{
	(void)state;
	struct error error = { 0 };
	struct engine single = { 0 };
	struct buffer bytes = make_profile(1);
	assert_int_equal(engine_load(&single, 0, bytes.bytes, bytes.size, &error), 0);
	assert_null(engine_answer(&single, "side=b\nreport=functions\n", &error));
	assert_int_equal(error.code, ERROR_USAGE);
	assert_null(engine_answer(&single, "report=diff\nof=functions\n", &error));
	assert_true(engine_load(&single, 0, bytes.bytes, bytes.size / 2, &error) == 0 ||
		    error.code == ERROR_CORRUPT); /* a cut file is read up to its last whole block */
	assert_true(engine_load(&single, 0, "no profile", 10, &error) < 0);
	buffer_release(&bytes);
	engine_release(&single);
}

static void pictures(void **state)
{
	(void)state;
	static const struct {
		const char *request;
		uint64_t weight; /* of all boxes */
		bool holds;      /* it is known that one of them is g */
	} rows[] = { { "", 8, true },
		     { "shape=callers\n", 8, false },
		     { "shape=up\nroot=g\n", 3, false },
		     { "shape=down\nroot=f\n", 6, false },
		     { "shape=down\nroot=main\n", 8, true },
		     { "shape=changes\n", 20, true }, /* the larger of both profiles */
		     { "side=b\nshape=changes\n", 20, true },
		     { "other=cpu\n", 8, true } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct picture picture;
		struct error error = { 0 };
		struct flame_box box;
		uint64_t hits;
		assert_int_equal(picture_make(&picture, &engine, rows[i].request, &error), 0);
		assert_int_equal(flame_box(picture.flame, FLAME_ROOT, &box), 0);
		assert_int_equal(box.weight, rows[i].weight);
		assert_int_equal(picture_search(&picture, "G", &hits), 1);
		assert_int_equal(hits, 3);
		assert_int_equal(picture_holds(&picture, FLAME_ROOT), rows[i].holds);
		assert_false(picture_holds(&picture, 1000));
		assert_int_equal(picture_search(&picture, "", &hits), 0);
		assert_null(picture.marks);
		assert_false(picture_holds(&picture, FLAME_ROOT));
		picture_release(&picture);
	}
	static const char *const refused[] = { "shape=round\n", "shape=up\n",   "shape=down\nroot=none\n",
					       "thread=7\n",    "other=none\n", "shape=changes\nthread=7\n" };
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct picture picture;
		struct error error = { 0 };
		assert_true(picture_make(&picture, &engine, refused[i], &error) < 0);
		assert_true(error.message[0] != 0);
	}
}

static void assert_whole_path(const char *request, uint32_t node, const char *expected)
{
	struct picture picture;
	struct error error = { 0 };
	assert_int_equal(picture_make(&picture, &engine, request, &error), 0);
	char *path = picture_whole_path(&picture, node, &error);
	if (expected)
		assert_string_equal(path, expected);
	else
		assert_null(path);
	free(path);
	picture_release(&picture);
}

/* The views of one request keep what others may use: the transformed profile. */
static void transformed_paths(void **state)
{
	(void)state;
	struct error error = { 0 };
	const struct profile *side;
	uint64_t detail_ns;
	assert_answer("report=functions\ntransform=drop=g\n", "\"transforms\": [\"drop=g\"], \"kind\": ");
	assert_answer("report=functions\ntransform=drop=g\n", "\"total_hits\": 5, ");
	assert_answer("report=body\ntransform=merge=f\ntransform=focus=g\n", "{\"path\": [\"g\"], \"fraction\": 1, ");
	assert_answer("side=b\nreport=functions\ntransform=drop=g\n", "\"total_hits\": 17, ");
	assert_answer("report=diff\nof=functions\ntransform=drop=g\n", "\"hits_a\": 5, \"hits_b\": 17, ");
	assert_refused("report=functions\ntransform=drop=none\n", ERROR_NOT_FOUND, "no function 'none'");
	assert_refused("report=functions\ntransform=none\n", ERROR_USAGE, "'none' is no transform");
	assert_whole_path("", 0, "");
	assert_whole_path("transform=drop=f\n", 2, "main;g");
	assert_whole_path("transform=path=main;g\n", 2, "g;f");
	assert_whole_path("", 1000, NULL);
	assert_whole_path("shape=callers\n", 1, NULL);
	struct timeline *timeline = engine_timeline(&engine, "transform=drop=g\n", 1, &side, &error);
	assert_non_null(timeline);
	assert_int_equal(timeline->outside, 5);
	assert_ptr_equal(side, timeline->profile);
	timeline_free(timeline);
	assert_int_equal(engine_sample_lane(&engine, "transform=drop=g\n", 0, 0, &detail_ns, &error), 0);
	assert_int_equal(engine_sample_lane(&engine, "transform=drop=none\n", 0, 0, &detail_ns, &error),
			 ERROR_NOT_FOUND);
}

static void assert_short(struct picture *picture, const char *name, const char *expected)
{
	struct buffer text;
	buffer_init(&text);
	picture_short_name(picture, name, 40, &text);
	buffer_append_byte(&text, 0);
	assert_int_equal(buffer_error(&text), 0);
	assert_string_equal((const char *)text.bytes, expected);
	buffer_release(&text);
}

/* The labels of a picture have their names in the picture; other names are shortened by themselves. */
static void short_names(void **state)
{
	(void)state;
	static const char *const requests[] = { "shape=names\n", "shape=changes\n", "" };
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		struct picture picture;
		struct error error = { 0 };
		assert_int_equal(picture_make(&picture, &engine, requests[i], &error), 0);
		assert_int_equal(!picture.flame, i == 0);
		assert_short(&picture, "g", "g");
		assert_short(&picture, "ns::none(int)", "ns::none");
		picture_release(&picture);
	}
}

static void timelines(void **state)
{
	(void)state;
	struct error error = { 0 };
	const struct profile *side;
	struct timeline *timeline = engine_timeline(&engine, "", 4, &side, &error);
	assert_non_null(timeline);
	timeline_free(timeline);
	assert_null(engine_timeline(&engine, "resource=none\n", 4, &side, &error));
	assert_null(engine_timeline(&engine, "key=none\n", 4, &side, &error));
	assert_int_equal(error.code, ERROR_NOT_FOUND);
	assert_int_equal(engine_has_times(&engine, "key=none\n", &error), 0);
}

/* The hits of the profile have no times, so that the lane of their thread is empty. */
static void lanes_of_threads(void **state)
{
	(void)state;
	struct error error = { 0 };
	uint64_t detail_ns = 1;
	assert_int_equal(engine_sample_lane(&engine, "side=b\n", 0, 0, &detail_ns, &error), 0);
	assert_int_equal(detail_ns, 0);
	assert_int_equal(engine.lanes[ENGINE_SAMPLED].lanes->lanes[0].call_count, 0);
	assert_int_equal(engine_sample_lane(&engine, "", 1, 0, &detail_ns, &error), ERROR_NOT_FOUND);
	assert_int_equal(engine_sample_lane(&engine, "resource=none\n", 0, 0, &detail_ns, &error), ERROR_NOT_FOUND);
	assert_non_null(engine.lanes[ENGINE_SAMPLED].lanes);
}

static void ask_all(void)
{
	struct error error = { 0 };
	struct picture picture;
	const struct profile *side;
	char *answer = engine_answer(&engine, "report=functions\nthread=all\nprocess=#0\n", &error);
	assert_true(answer || error.code < 0);
	free(answer);
	if (picture_make(&picture, &engine, "shape=up\nroot=g\n", &error) == 0)
		picture_release(&picture);
	if (picture_make(&picture, &engine, "shape=names\n", &error) == 0) {
		struct buffer text;
		buffer_init(&text);
		picture_short_name(&picture, "g", 3, &text);
		buffer_release(&text);
		picture_release(&picture);
	}
	if (picture_make(&picture, &engine, "shape=changes\n", &error) == 0)
		picture_release(&picture);
	free(engine_answer(&engine, "report=diff\nof=functions\n", &error));
	if (picture_make(&picture, &engine, "transform=drop=g\ntransform=merge=f\n", &error) == 0) {
		free(picture_whole_path(&picture, 1, &error));
		picture_release(&picture);
	}
	view_cache_trim(&engine.views, 0);
	timeline_free(engine_timeline(&engine, "transform=drop=g\n", 4, &side, &error));
	timeline_free(engine_timeline(&engine, "", 4, &side, &error));
	uint64_t detail_ns;
	engine_sample_lane(&engine, "", 0, 0, &detail_ns, &error);
}

static void without_memory(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(ask_all());
}

/* Returns what page_embed writes. */
static char *embedded(const void *bytes, size_t size)
{
	char *text = NULL;
	size_t length = 0;
	struct error error;
	struct sink sink;
	FILE *out = open_memstream(&text, &length);
	sink_init(&sink, out);
	assert_int_equal(page_embed(&sink, "part", 0, bytes, size, &error), 0);
	fclose(out);
	return text;
}

/* Decodes base64, as RFC 4648 defines it. Returns the number of bytes. */
static size_t decode(const char *text, size_t length, uint8_t *bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t size = 0;
	assert_int_equal(length % 4, 0);
	for (size_t i = 0; i < length; i += 4) {
		uint32_t bits = 0;
		size_t padding = 0;
		for (size_t k = 0; k < 4; k++) {
			const char *digit = strchr(digits, text[i + k]);
			padding += text[i + k] == '=';
			assert_true(digit || text[i + k] == '=');
			bits = bits << 6 | (digit ? (uint32_t)(digit - digits) : 0);
		}
		assert_true(padding <= 2 && (padding == 0 || i + 4 == length));
		for (size_t k = 0; k < 3 - padding; k++)
			bytes[size++] = (uint8_t)(bits >> (16 - 8 * k));
	}
	return size;
}

/* Decodes the parts of an element from `text` on into `bytes`, and sets *count to their number. Returns the number of bytes. */
static size_t decode_parts(const char *text, uint8_t *bytes, size_t *count)
{
	static const char before[] = "<script type=\"text/plain\">", after[] = "</script>\n";
	size_t size = 0;
	for (*count = 0; strncmp(text, before, strlen(before)) == 0; ++*count) {
		const char *data = text + strlen(before), *end = strchr(data, '<');
		assert_memory_equal(end, after, strlen(after));
		assert_true(end - data <= 64 * 1024);
		size += decode(data, (size_t)(end - data), bytes + size);
		text = end + strlen(after);
	}
	assert_string_equal(text, "</div>\n");
	return size;
}

static void embedded_data_is_deflated_base64(void **state)
{
	(void)state;
	static const size_t sizes[] = { 0, 1, 2, 3, 1000, 48 * 1024, 300000 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint8_t *bytes = malloc(sizes[i] + 1), *unpacked = malloc(sizes[i] + 1);
		uint32_t random = 1;
		for (size_t k = 0; k < sizes[i]; k++)
			bytes[k] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
		char *text = embedded(bytes, sizes[i]);
		char before[100];
		snprintf(before, sizeof(before), "<div hidden id=\"part\" data-bytes=\"%zu\">", sizes[i]);
		assert_memory_equal(text, before, strlen(before));
		size_t parts;
		uint8_t *packed = malloc(strlen(text));
		size_t packed_bytes = decode_parts(text + strlen(before), packed, &parts);
		assert_true(parts == packed_bytes / (48 * 1024) + (packed_bytes % (48 * 1024) > 0));
		uLongf size = sizes[i] + 1;
		assert_int_equal(uncompress(unpacked, &size, packed, packed_bytes), Z_OK);
		assert_int_equal(size, sizes[i]);
		assert_memory_equal(unpacked, bytes, sizes[i]);
		free(packed);
		free(text);
		free(bytes);
		free(unpacked);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reports, start, end),
		cmocka_unit_test_setup_teardown(first_report, start, end),
		cmocka_unit_test_setup_teardown(code_and_lines, start, end),
		cmocka_unit_test_setup_teardown(several_recordings_a_side, start, end),
		cmocka_unit_test_setup_teardown(requests_that_are_refused, start, end),
		cmocka_unit_test_setup_teardown(whether_a_report_can_be_made, start, end),
		cmocka_unit_test_setup_teardown(views_of_pictures_stay, start, end),
		cmocka_unit_test(one_profile_has_no_second),
		cmocka_unit_test_setup_teardown(pictures, start, end),
		cmocka_unit_test_setup_teardown(transformed_paths, start, end),
		cmocka_unit_test_setup_teardown(short_names, start, end),
		cmocka_unit_test_setup_teardown(timelines, start, end),
		cmocka_unit_test_setup_teardown(lanes_of_threads, start, end),
		cmocka_unit_test_setup_teardown(without_memory, start, end),
		cmocka_unit_test(embedded_data_is_deflated_base64),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
