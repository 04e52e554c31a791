/* Import and export of folded stacks; the events of a trace; the paths that a format gets. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "formats/format.h"
#include "support/alloc_fail.h"
#include "support/sample_profile.h"

static struct profile *import_bytes(const char *text, size_t size, struct error *error)
{
	FILE *in = fmemopen((void *)(size ? text : "\n"), size ? size : 1, "r");
	assert_non_null(in);
	struct profile *profile = format_find("folded")->import(in, "it", NULL, error);
	fclose(in);
	return profile;
}

static struct profile *import(const char *text)
{
	struct error error = { 0 };
	struct profile *profile = import_bytes(text, strlen(text), &error);
	if (!profile)
		fail_msg("%s", error.message);
	assert_int_equal(profile_check(profile), 0);
	return profile;
}

static int export_to(FILE *out, const struct profile *profile, const struct view_options *view, struct error *error)
{
	struct format_input input = { .profile = profile, .view = *view };
	struct sink sink;
	input.view.thread = VIEW_ANY;
	sink_init(&sink, out);
	return format_export(format_find("folded"), &input, &sink, error);
}

static char *export_with(const struct profile *profile, const struct view_options *selection)
{
	char *text = NULL;
	size_t size;
	struct error error = { 0 };
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	int code = export_to(out, profile, selection, &error);
	fclose(out);
	if (code < 0)
		fail_msg("%s", error.message);
	return text;
}

static void assert_exports(const struct profile *profile, struct view_options selection, const char *expected)
{
	char *text = export_with(profile, &selection);
	assert_string_equal(text, expected);
	free(text);
}

static void assert_folds(const char *text, const char *expected)
{
	struct profile *profile = import(text);
	assert_exports(profile, (struct view_options){ 0 }, expected);
	profile_free(profile);
}

static void test_find(void **state)
{
	(void)state;
	assert_non_null(format_find("folded"));
	assert_null(format_find("unfolded"));
	assert_ptr_equal(formats[0], format_find(formats[0]->name));
}

/* The abilities of each format, which decide about the options of `import` and `export`. */
static void test_rows(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		unsigned options, needs;
		enum format_paths paths;
		bool has_several, is_binary, imports;
	} rows[] = {
		{ "folded", FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION, 0, FORMAT_BY_FUNCTION, false, false,
		  true },
		{ "gcc-profile", FORMAT_RESOURCE | FORMAT_SELECTION, 0, FORMAT_NO_PATHS, false, true, false },
		{ "llvm-profile", FORMAT_RESOURCE | FORMAT_SELECTION, 0, FORMAT_NO_PATHS, false, false, false },
		{ "llvm-profile-flat", FORMAT_RESOURCE | FORMAT_SELECTION, 0, FORMAT_NO_PATHS, false, false, false },
		{ "events", FORMAT_EVENT_SELECTION, FORMAT_NEEDS_TRACE, FORMAT_NO_PATHS, true, false, false },
		{ "pprof", FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION, 0, FORMAT_BY_LINE, true, true, true },
		{ "callgrind", FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION, 0, FORMAT_BY_LINE, true, false,
		  true },
		{ "otlp", FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION, FORMAT_NEEDS_START, FORMAT_BY_LINE, true,
		  true, false },
		{ "chrome", FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION, FORMAT_TAKES_TRACE, FORMAT_BY_LINE,
		  true, false, true },
		{ "firefox", FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION, FORMAT_TAKES_TRACE, FORMAT_BY_LINE,
		  true, true, true },
		{ "speedscope", FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION, FORMAT_TAKES_TRACE, FORMAT_BY_LINE,
		  true, false, true },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct format *format = format_find(rows[i].name);
		assert_non_null(format);
		assert_int_equal(format->options, rows[i].options);
		assert_int_equal(format->needs, rows[i].needs);
		assert_int_equal(format->paths, rows[i].paths);
		assert_int_equal(format->has_several, rows[i].has_several);
		assert_int_equal(format->is_binary, rows[i].is_binary);
		assert_int_equal(format->import != NULL, rows[i].imports);
		assert_non_null(format->export);
	}
}

/* A format is known by the start of a file, and folded stacks only where no other format is. */
static void test_recognised(void **state)
{
	(void)state;
	static const struct {
		const char *start, *name;
	} rows[] = {
		{ "", "folded" },
		{ "# a comment\n\nmain;f 1\n", "folded" },
		{ "main;f 1.5\n", "folded" },
		{ "main;f\n", NULL },
		{ "12\n", NULL },
		{ "{\"a\": 1}\n", NULL },
		{ " \n{\"meta\": {}, \"threads\": []}", "firefox" },
		{ "[{\"ph\": \"X\"}]", "chrome" },
		{ "{\"x\": 1, \"traceEvents\": []}", "chrome" },
		{ "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\"}", "speedscope" },
		{ "# callgrind format\nversion: 1\n", "callgrind" },
		{ "version: 1\nevents: Ir\n", "callgrind" },
		{ "prog 4711 [001] 1.5: 250000 cpu-clock:\n", "perf-script" },
		{ "4711 12:00:01 close(3) = 0\n", "strace" },
		{ "strace: Process 4711 attached\n[pid  4711] close(3 <unfinished ...>\n", "strace" },
		{ "% time     seconds  usecs/call     calls    errors syscall\n", "strace" },
		{ "execve(\"/bin/true\", [\"tr", "strace" },
		{ "close(3", NULL },
		{ "main();f(int) 12\n", "folded" },
		{ "v 10400 3\nX ./prog\n", "heaptrack" },
		{ "v 10400\n", "folded" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct format *format =
			format_recognise((const unsigned char *)rows[i].start, strlen(rows[i].start));
		const char *name = format ? format->name : "none", *expected = rows[i].name ? rows[i].name : "none";
		if (strcmp(name, expected) != 0)
			fail_msg("'%s': %s, and not %s", rows[i].start, name, expected);
	}
}

static void test_lines(void **state)
{
	(void)state;
	assert_folds("", "");
	assert_folds("a;b;c 12\n", "a;b;c 12\n");
	assert_folds("a;b;c 12", "a;b;c 12\n");                         /* no newline at the end */
	assert_folds("a;b 1\r\nb 2\r\n", "a;b 1\nb 2\n");               /* CR LF */
	assert_folds("# x 1\n\n  \na 1\n", "a 1\n");                    /* comments and empty lines */
	assert_folds("#\n#!/bin/sh\n#x;b 2\n#x 1\n", "#x 1\n#x;b 2\n"); /* only the first two lines are comments */
	assert_folds("a;b 1\na;b;c 2\na 4\na;bc 8\n", "a 4\na;b 1\na;b;c 2\na;bc 8\n");
	assert_folds("a;b 1\na;c 2\na;b 3\n", "a;b 4\na;c 2\n");          /* equal paths merge */
	assert_folds("operator new;a b c 3\n", "operator new;a b c 3\n"); /* blanks in names */
	assert_folds("a;b\t7\n", "a;b 7\n");
	assert_folds("a;;b 1\n;a 2\na; 3\n", ";a 2\na; 3\na;;b 1\n"); /* empty names */
	assert_folds("a 5000000000\na 281474976710656\n", "a 281474976710656\na 5000000000\n");
	assert_folds("a 0\nb 1\n", "b 1\n");
	assert_folds("a;b 1\na-b 1\na 1\n", "a 1\na-b 1\na;b 1\n"); /* sorted as bytes: '-' is before ';' */
	assert_folds("a;a;a 2\na;a 1\n", "a;a 1\na;a;a 2\n");       /* recursion is kept */
	assert_folds("a;b \t 7 \t \r\n", "a;b 7\n");                /* blanks around the count */
	assert_folds("#x y 1\n#\ty 2\n#x 3y\n#x 3/\n#x 3:\n", "#x y 1\n");
	assert_folds("#0 0\n#a 1\n# 1\n#9 9\n", "#9 9\n#a 1\n");
	assert_folds("  a 1\n", "  a 1\n"); /* blanks at the start belong to the name */
	assert_folds("main5 1\nmai 2\n", "mai 2\nmain5 1\n");
}

static void assert_refused(const char *text, size_t size, const char *words)
{
	struct error error = { 0 };
	assert_null(import_bytes(text, size, &error));
	assert_true(error.code < 0);
	if (!strstr(error.message, words))
		fail_msg("'%s' does not say '%s'", error.message, words);
}

static void test_bad_lines(void **state)
{
	(void)state;
	static const char *const lines[] = { "a;b",  "12",     " 12",  "a b",   "a -1",
					     "a 1x", "a 0x10", "a .5", "a 1e3", "a +1" };
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char text[64];
		int size = snprintf(text, sizeof(text), "main 1\n\n%s\nmain 2\n", lines[i]);
		assert_refused(text, (size_t)size, "it:3: expected 'a;b;c COUNT'");
	}
	assert_refused("a 1.5\n", 6, "it:1: expected 'a;b;c COUNT', and COUNT is a whole number");
	assert_refused("a 281474976710657\n", 18, "at most 2^48");
	assert_refused("a 99999999999999999999999999\n", 29, "at most 2^48");
	assert_refused("a\0b 1\n", 6, "binary");
	assert_refused("a .1\n", 5, "expected 'a;b;c COUNT'");
	assert_refused("a 1/\n", 5, "it:1: expected 'a;b;c COUNT'");
	assert_refused("a 1:\n", 5, "it:1: expected 'a;b;c COUNT'");
	assert_refused("a 5 \n7\n", 7, "it:2: expected 'a;b;c COUNT'");
}

/* Lines whose counts add up to 2^62 and more: a profile has room for no more. */
static void test_most_hits(void **state)
{
	(void)state;
	enum { LINES = 1 << 14 };
	for (unsigned more = 0; more < 2; more++) {
		struct buffer text;
		struct error error = { 0 };
		buffer_init(&text);
		for (int i = 0; i < LINES; i++)
			buffer_append_string(&text, "a 281474976710656\n"); /* 2^48 */
		if (more)
			buffer_append_string(&text, "b 1\n");
		struct profile *profile = import_bytes((const char *)text.bytes, text.size, &error);
		assert_int_equal(profile == NULL, more);
		if (profile)
			assert_int_equal(profile->hits_added, PROFILE_HITS_MOST);
		else
			assert_string_equal(error.message, "it:16385: the counts add up to more than 2^62");
		profile_free(profile);
		buffer_release(&text);
	}
}

static ssize_t fail_to_read(void *cookie, char *bytes, size_t size)
{
	(void)cookie, (void)bytes, (void)size;
	errno = EIO;
	return -1;
}

static void test_unreadable(void **state)
{
	(void)state;
	struct error error = { 0 };
	FILE *in = fopencookie(NULL, "r", (cookie_io_functions_t){ .read = fail_to_read });
	assert_non_null(in);
	errno = ENOENT; /* of an earlier call */
	assert_null(format_find("folded")->import(in, "it", NULL, &error));
	assert_string_equal(error.message, "cannot read 'it': Input/output error");
	assert_int_equal(error.code, ERROR_SYSTEM);
	fclose(in);
}

/* A line shares frames with the line before; words of eight bytes are compared at a time. */
static void test_shared_frames(void **state)
{
	(void)state;
	assert_folds("abcdefgh;b 1\nabcdefgh;c 2\n", "abcdefgh;b 1\nabcdefgh;c 2\n");
	assert_folds("abcdefg;b 1\nabcdefg;bc 2\nabcdefg 4\n", "abcdefg 4\nabcdefg;b 1\nabcdefg;bc 2\n");
	assert_folds("abcdefghijklmnop 1\nabcdefghijklmno 2\n", "abcdefghijklmno 2\nabcdefghijklmnop 1\n");
	assert_folds("abcdefgh;ijklmno 1\nabcdefgh;ijklmnp 2\n", "abcdefgh;ijklmno 1\nabcdefgh;ijklmnp 2\n");
	assert_folds("a;b;c 1\na;b 2\na;b;c;d 4\nb;c 8\n", "a;b 2\na;b;c 1\na;b;c;d 4\nb;c 8\n");
	/* Each path is one chain of nodes. */
	struct profile *profile = import("a;b;c 1\na;b 2\nab;b 3\na;b;cd 4\na;b;c 5\n");
	assert_int_equal(profile->node_count, 1 + 4 + 2);
	assert_int_equal(profile->hits[0].node, profile->hits[4].node);
	for (size_t i = 0; i < profile->hit_count; i++) {
		assert_int_equal(profile->hits[i].time_ns, 0);
		assert_int_equal(profile->hits[i].resource, 0);
		assert_int_equal(profile->hits[i].count, i + 1);
	}
	profile_free(profile);
}

static void test_imported_profile(void **state)
{
	(void)state;
	struct profile *profile = import("main;f 2\nmain 1\nmain;f;main 7\n");
	assert_int_equal(profile->resource_count, 1);
	const struct profile_resource *resource = &profile->resources[0];
	assert_string_equal(profile_string(profile, resource->name), "samples");
	assert_string_equal(profile_string(profile, resource->title), "Samples");
	assert_string_equal(profile_string(profile, resource->unit), "sample");
	assert_string_equal(profile_string(profile, resource->backend), "import");
	assert_int_equal(resource->kind, RESOURCE_MERGED);
	assert_int_equal(resource->interval, 1);
	assert_int_equal(profile->process_count, 1);
	assert_string_equal(profile_string(profile, profile->processes[0].name), "imported");
	assert_int_equal(profile->thread_count, 0);
	assert_int_equal(profile->hits[0].thread, PROFILE_NONE);
	assert_int_equal(profile->module_count, 1);
	assert_int_equal(profile->modules[0].kind, MODULE_NAMES);
	assert_string_equal(profile_string(profile, profile->modules[0].path), "[imported]");
	assert_int_equal(profile->function_count, 2); /* one per name */
	assert_int_equal(profile->location_count, 2);
	assert_int_equal(profile->node_count, 4);
	for (size_t i = 0; i < profile->location_count; i++) {
		assert_int_equal(profile->locations[i].module, 0);
		assert_int_equal(profile->locations[i].frame_count, 1);
		assert_int_equal(profile->frames[profile->locations[i].first_frame].function, i);
	}
	for (size_t i = 0; i < profile->function_count; i++) {
		const char *name = profile_string(profile, profile->functions[i].name);
		assert_int_equal(profile->functions[i].role, strcmp(name, "main") == 0 ? ROLE_MAIN : ROLE_NONE);
	}
	assert_true(profile->symbolized && profile->ended);
	profile_free(profile);
}

/* Random stacks: import keeps every hit, and a second export and import changes nothing. */
static void test_round_trip(void **state)
{
	(void)state;
	struct random random = { .state = 3 };
	for (int round = 0; round < 50; round++) {
		struct buffer text;
		uint64_t total = 0;
		buffer_init(&text);
		for (uint64_t lines = random_below(&random, 400); lines > 0; lines--) {
			for (uint64_t depth = 1 + random_below(&random, 9); depth > 0; depth--)
				buffer_printf(&text, "f%.*s %llu%s", (int)random_below(&random, 3),
					      "::", (unsigned long long)random_below(&random, 4), depth > 1 ? ";" : "");
			uint64_t count = 1 + random_below(&random, 100);
			total += count;
			buffer_printf(&text, " %llu\n", (unsigned long long)count);
		}
		buffer_append_byte(&text, 0);
		struct profile *first = import((const char *)text.bytes);
		uint64_t sum = 0;
		for (size_t i = 0; i < first->hit_count; i++)
			sum += first->hits[i].count;
		assert_int_equal(sum, total);
		char *once = export_with(first, &(struct view_options){ 0 });
		assert_folds(once, once);
		free(once);
		profile_free(first);
		buffer_release(&text);
	}
}

/* --- a recorded profile --- */

static uint32_t add_function(struct profile *profile, const char *name, uint8_t role)
{
	struct profile_function function = { .name = (uint32_t)profile_add_string(profile, name),
					     .module = PROFILE_NONE,
					     .role = role };
	return (uint32_t)profile_add_function(profile, &function);
}

/* A location of up to two frames, `inlined` innermost (or PROFILE_NONE). */
static uint32_t add_location(struct profile *profile, uint32_t inlined, uint32_t function)
{
	uint32_t id = (uint32_t)profile_add_location(profile, 0, profile->location_count);
	struct profile_location *location = &profile->locations[id];
	location->first_frame = (uint32_t)profile->frame_count;
	location->frame_count = inlined == PROFILE_NONE ? 1 : 2;
	struct profile_frame frame = { .function = inlined, .inlined = true };
	if (inlined != PROFILE_NONE)
		profile_add_frame(profile, &frame);
	frame = (struct profile_frame){ .function = function };
	profile_add_frame(profile, &frame);
	return id;
}

/* _start, __libc_start_main, and main with "read;all" inlined. Each path has a different number of hits. */
static struct profile *recorded(void)
{
	struct profile *profile = profile_new();
	struct profile_module module = { .path = (uint32_t)profile_add_string(profile, "/usr/bin/prog") };
	struct profile_resource resource = { .kind = RESOURCE_SAMPLED, .interval = 1 };
	profile_add_module(profile, &module);
	profile_add_resource(profile, &resource);
	profile_add_resource(profile, &resource);
	uint32_t start = add_location(profile, PROFILE_NONE, add_function(profile, "_start", ROLE_START));
	uint32_t libc = add_location(profile, PROFILE_NONE, add_function(profile, "__libc_start_main", ROLE_START));
	uint32_t main_function = add_function(profile, "main", ROLE_MAIN);
	uint32_t read = add_function(profile, "read;all", ROLE_NONE);
	uint32_t in_main = add_location(profile, read, main_function);
	uint32_t path[] = { start, libc, in_main, libc };
	uint32_t node = PROFILE_ROOT;
	for (uint32_t i = 0; i < 4; i++) {
		node = (uint32_t)profile_add_node(profile, node, path[i]);
		profile_add_hit(profile, 0, PROFILE_NONE, node, 0, 1 + i);
	}
	uint32_t unnamed = (uint32_t)profile_add_location(profile, 0, 0x1a40);
	profile_add_hit(profile, 0, PROFILE_NONE, (uint32_t)profile_add_node(profile, 3, unnamed), 0, 10);
	profile_add_hit(profile, 0, PROFILE_NONE, PROFILE_ROOT, 0, 20);
	profile_add_hit(profile, 0, PROFILE_NONE, 3, 1, 30);
	assert_int_equal(profile_check(profile), 0);
	return profile;
}

static void test_recorded(void **state)
{
	(void)state;
	struct profile *profile = recorded();
	assert_exports(profile, (struct view_options){ 0 },
		       "[no stack] 20\n__libc_start_main 2\n_start 1\nmain;read:all 3\n"
		       "main;read:all;__libc_start_main 4\nmain;read:all;prog+0x1a40 10\n");
	assert_exports(profile, (struct view_options){ .no_inlines = true },
		       "[no stack] 20\n__libc_start_main 2\n_start 1\nmain 3\n"
		       "main;__libc_start_main 4\nmain;prog+0x1a40 10\n");
	assert_exports(profile, (struct view_options){ .untrimmed = true },
		       "[no stack] 20\n_start 1\n_start;__libc_start_main 2\n_start;__libc_start_main;main;read:all 3\n"
		       "_start;__libc_start_main;main;read:all;__libc_start_main 4\n"
		       "_start;__libc_start_main;main;read:all;prog+0x1a40 10\n");
	assert_exports(profile, (struct view_options){ .resource = 1 }, "main;read:all 30\n");
	struct error error;
	assert_int_equal(export_to(stdout, profile, &(struct view_options){ .resource = 2 }, &error), ERROR_NOT_FOUND);
	FILE *full = fopen("/dev/full", "w");
	assert_int_equal(export_to(full, profile, &(struct view_options){ 0 }, &error), ERROR_NO_SPACE);
	fclose(full);
	profile_free(profile);
}

/* Names that are written in another way, because a reader would take them for something else. */
static void test_unusual_names(void **state)
{
	(void)state;
	static const struct {
		const char *names[2]; /* of a path; NULL: it has one frame */
		const char *expected;
	} cases[] = {
		{ { "a\nb\rc" }, "a b c 1\n" },   { { " " }, "[blank] 1\n" },
		{ { " \t\r\n" }, "[blank] 1\n" }, { { " x" }, " x 1\n" },
		{ { "", "x" }, ";x 1\n" },        { { "#" }, "[#] 1\n" },
		{ { "#", "x" }, "#;x 1\n" },      { { "#x" }, "#x 1\n" },
		{ { "# x" }, "[#] x 1\n" },       { { "#\tx", "y" }, "[#]\tx;y 1\n" },
		{ { "#\rx" }, "[#] x 1\n" },      { { "x", "# y" }, "x;# y 1\n" },
		{ { "x", "#" }, "x;# 1\n" },      { { "a;b", "c:d" }, "a:b;c:d 1\n" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile *profile = profile_new();
		struct profile_resource resource = { .kind = RESOURCE_SAMPLED, .interval = 1 };
		struct profile_module module = { .path = (uint32_t)profile_add_string(profile, "/usr/bin/prog") };
		uint32_t node = PROFILE_ROOT;
		profile_add_resource(profile, &resource);
		profile_add_module(profile, &module);
		for (size_t n = 0; n < 2 && cases[i].names[n]; n++) {
			uint32_t function = add_function(profile, cases[i].names[n], ROLE_NONE);
			uint32_t location = add_location(profile, PROFILE_NONE, function);
			node = (uint32_t)profile_add_node(profile, node, location);
		}
		profile_add_hit(profile, 0, PROFILE_NONE, node, 0, 1);
		assert_exports(profile, (struct view_options){ .untrimmed = true }, cases[i].expected);
		profile_free(profile);
	}
}

/* More hits of one path than a line can have: an importer accepts each line. */
static void test_large_counts(void **state)
{
	(void)state;
	static const uint64_t most = UINT64_C(1) << 48;
	struct profile *profile = import("a 1\n");
	assert_int_equal(profile_add_hit(profile, 0, PROFILE_NONE, 1, 0, most - 1), 0);
	assert_exports(profile, (struct view_options){ 0 }, "a 281474976710656\n");
	assert_int_equal(profile_add_hit(profile, 0, PROFILE_NONE, 1, 0, most + 5), 0);
	assert_exports(profile, (struct view_options){ 0 }, "a 281474976710656\na 281474976710656\na 5\n");
	profile_free(profile);
}

/* --- paths that a format gets --- */

static const struct call_paths *given_paths;
static uint32_t given_count, given_resources;

static int keep_paths(const struct format_input *input, struct sink *out, struct error *error)
{
	(void)error;
	given_paths = input->paths;
	given_count = input->paths ? input->paths->count : 0;
	given_resources = input->paths ? input->paths->resource_count : 0;
	sink_text(out, "written");
	return 0;
}

static int refuse_paths(const struct format_input *input, struct sink *out, struct error *error)
{
	(void)input;
	sink_text(out, "part");
	return error_set(error, ERROR_LIMIT, "refused");
}

static int export_by(const struct format *format, const struct profile *profile, uint32_t resource, FILE *out,
		     struct error *error)
{
	struct format_input input = { .profile = profile, .view = { .resource = resource, .thread = VIEW_ANY } };
	struct sink sink;
	sink_init(&sink, out);
	given_paths = NULL;
	return format_export(format, &input, &sink, error);
}

static void test_paths_of_formats(void **state)
{
	(void)state;
	struct profile *profile = recorded();
	struct error error = { 0 };
	FILE *null = fopen("/dev/null", "we"), *full = fopen("/dev/full", "we");
	struct format format = { .title = "a format", .paths = FORMAT_NO_PATHS, .export = keep_paths };
	assert_int_equal(export_by(&format, profile, 0, null, &error), 0);
	assert_null(given_paths);
	assert_int_equal(export_by(&format, profile, 0, full, &error), ERROR_NO_SPACE);
	assert_string_equal(error.message, "cannot write a format: No space left on device");
	format.paths = FORMAT_BY_FUNCTION;
	assert_int_equal(export_by(&format, profile, 0, null, &error), 0);
	assert_non_null(given_paths);
	assert_int_equal(given_resources, 1);
	assert_int_equal(export_by(&format, profile, PROFILE_NONE, null, &error), ERROR_NOT_FOUND);
	format.has_several = true;
	assert_int_equal(export_by(&format, profile, PROFILE_NONE, null, &error), 0);
	assert_int_equal(given_resources, 2);
	assert_int_equal(export_by(&format, profile, 1, null, &error), 0);
	assert_int_equal(given_resources, 1);
	format.export = refuse_paths;
	assert_int_equal(export_by(&format, profile, 0, full, &error), ERROR_LIMIT);
	assert_string_equal(error.message, "refused");
	fclose(null);
	fclose(full);
	profile_free(profile);
}

/* Two lines of one function are one frame, or two. */
static void test_frames_of_formats(void **state)
{
	(void)state;
	struct profile *profile = recorded();
	struct error error = { 0 };
	FILE *null = fopen("/dev/null", "we");
	uint32_t function = add_function(profile, "two_lines", ROLE_NONE);
	for (uint32_t line = 1; line <= 2; line++) {
		uint32_t location = add_location(profile, PROFILE_NONE, function);
		profile->frames[profile->locations[location].first_frame].line = line;
		int64_t node = profile_add_node(profile, PROFILE_ROOT, location);
		profile_add_hit(profile, 0, PROFILE_NONE, (uint32_t)node, 0, 1);
	}
	struct format format = { .title = "a format", .paths = FORMAT_BY_FUNCTION, .export = keep_paths };
	assert_int_equal(export_by(&format, profile, 0, null, &error), 0);
	uint32_t functions = given_count;
	format.paths = FORMAT_BY_LINE;
	assert_int_equal(export_by(&format, profile, 0, null, &error), 0);
	assert_int_equal(given_count, functions + 1);
	fclose(null);
	profile_free(profile);
}

/* --- events --- */

struct list_of_events {
	struct event_source source;
	const struct event *events;
	size_t count, next;
	int code; /* after the last one */
};

static int next_event(struct event_source *source, struct event *event, struct error *error)
{
	struct list_of_events *list = (struct list_of_events *)source;
	if (list->next == list->count)
		return list->code < 0 ? error_set(error, list->code, "it is damaged") : 0;
	*event = list->events[list->next++];
	return 1;
}

static const struct event some_events[] = {
	{ .kind = EVENT_ENTER, .time_ns = 31250, .process = 4711, .thread = 4712, .function = "main" },
	{ .kind = EVENT_USER, .time_ns = 999999999, .process = 1, .thread = 2, .id = 7, .value = UINT64_MAX },
	{ .kind = EVENT_SAMPLE, .time_ns = 1000000000, .process = UINT32_MAX, .thread = 0, .function = "a b" },
	{ .kind = EVENT_LEAVE, .time_ns = UINT64_MAX, .process = 4711, .thread = 4712, .function = "main" },
};

static int export_events(struct list_of_events *list, FILE *out, struct error *error)
{
	struct format_input input = { .events = &list->source, .view = { .thread = VIEW_ANY } };
	struct sink sink;
	sink_init(&sink, out);
	return format_export(format_find("events"), &input, &sink, error);
}

static void test_events(void **state)
{
	(void)state;
	static const char expected[] = "0.000031250 4711 4712 enter main\n"
				       "0.999999999 1 2 event 7 18446744073709551615\n"
				       "1.000000000 4294967295 0 sample a b\n"
				       "18446744073.709551615 4711 4712 leave main\n";
	for (int code = 0; code > -2; code--) {
		struct list_of_events list = { { next_event, NULL }, some_events, 4, 0, code ? ERROR_CORRUPT : 0 };
		struct error error = { 0 };
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		assert_int_equal(export_events(&list, out, &error), list.code);
		assert_string_equal(error.message, code ? "it is damaged" : "");
		fclose(out);
		assert_string_equal(text, expected);
		free(text);
	}
	/* No event is read after a failed write. */
	struct list_of_events list = { { next_event, NULL }, some_events, 4, 0, 0 };
	struct error error = { 0 };
	FILE *full = fopen("/dev/full", "we");
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(export_events(&list, full, &error), ERROR_NO_SPACE);
	assert_int_equal(list.next, 1);
	fclose(full);
}

/* A stack deep enough to overflow a recursive function's own stack. */
static void test_deep(void **state)
{
	(void)state;
	struct buffer text;
	buffer_init(&text);
	for (int i = 0; i < 300000; i++)
		buffer_append_string(&text, i % 2 ? "ping;" : "pong;");
	buffer_append_string(&text, "end 1\n");
	buffer_append_byte(&text, 0);
	assert_folds((const char *)text.bytes, (const char *)text.bytes);
	buffer_release(&text);
}

static void try_import(const char *text)
{
	struct error error = { 0 };
	struct profile *profile = import_bytes(text, strlen(text), &error);
	if (!profile)
		assert_int_equal(error.code, ERROR_MEMORY);
	profile_free(profile);
}

static void try_export(const struct profile *profile)
{
	struct error error = { 0 };
	FILE *out = fopen("/dev/null", "w");
	int code = export_to(out, profile, &(struct view_options){ 0 }, &error);
	fclose(out);
	assert_true(code == 0 || (code == ERROR_MEMORY && error.code == ERROR_MEMORY));
}

static void test_no_memory(void **state)
{
	(void)state;
	struct profile *profile = recorded();
	ALLOC_FAIL_EACH(try_import("main;a;b;c 1\nmain;a;d;e;f;g;h;i;j;k;l;m;n;o;p;q;r;s;t 2\nmain 3\n"));
	ALLOC_FAIL_EACH(try_export(profile));
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_recognised),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_imported_profile),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_most_hits),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_shared_frames),
		cmocka_unit_test(test_unusual_names),
		cmocka_unit_test(test_large_counts),
		cmocka_unit_test(test_paths_of_formats),
		cmocka_unit_test(test_frames_of_formats),
		cmocka_unit_test(test_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
