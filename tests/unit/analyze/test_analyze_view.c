/* The content of a view: its hits, its frames, and its labels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/paths_profile.h"

static struct view *view_of(const struct paths *paths, struct view_options options)
{
	struct error error = { 0 };
	struct view *view = view_new(paths->profile, &options, &error);
	if (!view)
		fail_msg("%s", error.message);
	return view;
}

#define ANY .thread = VIEW_ANY

static void assert_tree(struct view *view, const char *root, const char *expected)
{
	assert_string_equal(paths_text(view, paths_down(view, root)), expected);
	view_free(view);
}

static void assert_functions(struct view *view, const char *expected)
{
	assert_string_equal(paths_text(view, analyze_functions(view, NULL)), expected);
	view_free(view);
}

static void hits_are_selected(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	struct profile *profile = paths.profile;
	profile->start_ns = 1000;
	profile_add_process(profile, &(struct profile_process){ .pid = 1 });
	profile_add_process(profile, &(struct profile_process){ .pid = 2 });
	profile_add_thread(profile, &(struct profile_thread){ .tid = 1, .process = 0 });
	profile_add_thread(profile, &(struct profile_thread){ .tid = 2, .process = 1 });
	profile_add_thread(profile, &(struct profile_thread){ .tid = 3, .process = 1 });
	profile_add_resource(profile, &(struct profile_resource){ .interval = 1 });
	static const struct {
		const char *stack;
		uint64_t time_ns;
		uint32_t thread;
		uint32_t resource;
		uint64_t hits;
	} rows[] = {
		{ "a", 1000, 0, 0, 1 },
		{ "b", 1500, 1, 0, 2 },
		{ "c", 2000, 2, 0, 4 },
		{ "d", 0, 1, 0, 8 },
		{ "e", 1700, PROFILE_NONE, 0, 16 },
		{ "f", 1500, 1, 1, 32 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		paths.time_ns = rows[i].time_ns;
		paths.thread = rows[i].thread;
		paths.resource = rows[i].resource;
		paths_add(&paths, rows[i].stack, rows[i].hits);
	}
	static const bool first[] = { true, false }, second[] = { false, true }, both[] = { true, true };
	assert_functions(view_of(&paths, (struct view_options){ ANY, .processes = both }), "8 d, 4 c, 2 b, 1 a");
	assert_functions(view_of(&paths, (struct view_options){ ANY }), "16 e, 8 d, 4 c, 2 b, 1 a");
	assert_functions(view_of(&paths, (struct view_options){ ANY, .resource = 1 }), "32 f");
	assert_functions(view_of(&paths, (struct view_options){ .processes = second, .thread = VIEW_ANY }),
			 "8 d, 4 c, 2 b");
	assert_functions(view_of(&paths, (struct view_options){ .thread = 1 }), "8 d, 2 b");
	assert_functions(view_of(&paths, (struct view_options){ .processes = first, .thread = 1 }), "");
	assert_functions(view_of(&paths, (struct view_options){ ANY, .from_ns = 500 }), "16 e, 4 c, 2 b");
	assert_functions(view_of(&paths, (struct view_options){ ANY, .from_ns = 500, .to_ns = 1000 }), "16 e, 2 b");
	assert_functions(view_of(&paths, (struct view_options){ ANY, .to_ns = 500 }), "1 a");
	assert_functions(
		view_of(&paths, (struct view_options){ .processes = second, .thread = VIEW_ANY, .to_ns = 1000 }),
		"2 b");
	struct view *view = view_of(&paths, (struct view_options){ .processes = second, .thread = VIEW_ANY });
	assert_int_equal(view->total, 14);
	assert_int_equal(view->samples, 3);
	view_free(view);

	struct error error;
	assert_null(view_new(profile, &(struct view_options){ ANY, .resource = 2 }, &error));
	assert_int_equal(error.code, ERROR_NOT_FOUND);
	assert_null(view_new(profile, &(struct view_options){ .thread = 3 }, &error));
	assert_int_equal(error.code, ERROR_NOT_FOUND);
	paths_end(&paths);
}

static void define_start(struct paths *paths, const char *name)
{
	uint32_t function = paths_function(paths, name, 0, "", 0, ROLE_START);
	paths_define(paths, name, 0, &function, (uint32_t[]){ 0 }, 1);
}

/* Hits before the start of the recording, and hits without a time, are in no range of time. */
static void early_hits_are_in_no_range(void **state)
{
	(void)state;
	struct paths paths;
	for (uint64_t start_ns = 0; start_ns <= 1000; start_ns += 1000) {
		paths_start(&paths, RESOURCE_SAMPLED);
		paths.profile->start_ns = start_ns;
		paths_add(&paths, "unknown", 1);
		paths.time_ns = 500;
		paths_add(&paths, "early", 2);
		paths.time_ns = 1600;
		paths_add(&paths, "late", 4);
		const char *expected = start_ns == 0 ? "4 late, 2 early" : "4 late";
		assert_functions(view_of(&paths, (struct view_options){ ANY, .from_ns = 500 }), expected);
		assert_functions(view_of(&paths, (struct view_options){ ANY, .to_ns = 2000 }), expected);
		assert_functions(view_of(&paths, (struct view_options){ ANY }), "4 late, 2 early, 1 unknown");
		paths_end(&paths);
	}
}

/* A profile without processes, threads or modules has views, too. */
static void empty_tables_have_views(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	struct error error;
	const bool none[1] = { false };
	profile_add_resource(profile, &(struct profile_resource){
					      .interval = 1, .unit = (uint32_t)profile_add_string(profile, "ns") });
	struct view *view = view_new(profile, &(struct view_options){ ANY, .processes = none }, &error);
	assert_non_null(view);
	assert_int_equal(view->total, 0);
	assert_int_equal(view->samples, 0);
	assert_float_equal(view->independent, 0, 0);
	view_free(view);
	profile_free(profile);
}

/* The outermost location of a path may have inlined functions. */
static void paths_may_begin_with_inlined_functions(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	uint32_t functions[] = { paths_function(&paths, "inner", 0, "a.c", 1, ROLE_NONE),
				 paths_function(&paths, "middle", 0, "a.c", 2, ROLE_NONE),
				 paths_function(&paths, "outer", 0, "a.c", 3, ROLE_NONE) };
	paths_add(&paths, "first", 1);
	paths_define(&paths, "all", 0, functions, (uint32_t[]){ 1, 2, 3 }, 3);
	paths_add(&paths, "all", 2);
	paths_add(&paths, "all;leaf", 4);
	struct view *view = view_of(&paths, (struct view_options){ ANY });
	assert_tree(view, "outer", "6 outer, 6 outer middle, 6 outer middle inner, 4 outer middle inner leaf");
	paths_end(&paths);
}

/* Entries with many hits are sorted by several passes. */
static void large_hits_are_sorted(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	static const uint64_t hits[] = { 5000000, 2046,    UINT64_C(1) << 40, 9000000, 2047,
					 2048,    9000001, 4194304,           1,       4194303 };
	for (size_t i = 0; i < sizeof(hits) / sizeof(hits[0]); i++)
		paths_add(&paths, (char[]){ (char)('a' + i), 0 }, hits[i]);
	assert_functions(
		view_of(&paths, (struct view_options){ ANY }),
		"1099511627776 c, 9000001 g, 9000000 d, 5000000 a, 4194304 h, 4194303 j, 2048 f, 2047 e, 2046 b, 1 i");
	paths_end(&paths);
	paths_start(&paths, RESOURCE_SAMPLED);
	for (size_t i = 0; i < sizeof(hits) / sizeof(hits[0]); i++)
		if (i != 2) /* an odd number of passes */
			paths_add(&paths, (char[]){ (char)('a' + i), 0 }, hits[i]);
	assert_functions(view_of(&paths, (struct view_options){ ANY }),
			 "9000001 g, 9000000 d, 5000000 a, 4194304 h, 4194303 j, 2048 f, 2047 e, 2046 b, 1 i");
	paths_end(&paths);
}

static void start_code_is_trimmed(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	define_start(&paths, "_start");
	define_start(&paths, "libc_main");
	define_start(&paths, "clone");
	paths_add(&paths, "_start;libc_main;main;f", 1);
	paths_add(&paths, "_start;libc_main", 2);
	paths_add(&paths, "_start", 4);
	paths_add(&paths, "clone;main;clone", 8);
	paths_add(&paths, "_start;libc_main;exit;libc_main", 16);
	assert_functions(view_of(&paths, (struct view_options){ ANY }),
			 "18 libc_main, 16 exit, 9 main, 8 clone, 4 _start, 1 f");
	assert_tree(view_of(&paths, (struct view_options){ ANY }), "main", "9 main, 8 main clone, 1 main f");
	assert_tree(view_of(&paths, (struct view_options){ ANY }), "exit", "16 exit, 16 exit libc_main");
	assert_tree(view_of(&paths, (struct view_options){ ANY }), "libc_main", "18 libc_main");
	assert_tree(view_of(&paths, (struct view_options){ ANY, .untrimmed = true }), "_start",
		    "23 _start, 19 _start libc_main, 16 _start libc_main exit, "
		    "16 _start libc_main exit libc_main, 1 _start libc_main main, 1 _start libc_main main f");
	paths_end(&paths);
}

/* main calls read at process.c:20; read has parse inlined at line 31 of
 * process.c, which has peek inlined at line 7 of parse.h. */
static void define_inlines(struct paths *paths)
{
	uint32_t main_function = paths_function(paths, "main", 0, "/src/process.c", 10, ROLE_MAIN);
	uint32_t read = paths_function(paths, "read", 0, "/src/process.c", 30, ROLE_NONE);
	uint32_t parse = paths_function(paths, "parse", 0, "/src/parse.h", 5, ROLE_NONE);
	uint32_t peek = paths_function(paths, "peek", 0, "/src/parse.h", 1, ROLE_NONE);
	paths_define(paths, "main@20", 0, &main_function, (uint32_t[]){ 20 }, 1);
	paths_define(paths, "main@22", 0, &main_function, (uint32_t[]){ 22 }, 1);
	paths_define(paths, "read@31", 0, (uint32_t[]){ peek, parse, read }, (uint32_t[]){ 2, 7, 31 }, 3);
	paths_define(paths, "read@32", 0, &read, (uint32_t[]){ 32 }, 1);
	paths_add(paths, "main@20;read@31;lib", 1);
	paths_add(paths, "main@20;read@31", 2);
	paths_add(paths, "main@22;read@32", 4);
}

static void inlined_functions_are_frames(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	define_inlines(&paths);
	assert_tree(view_of(&paths, (struct view_options){ ANY }), "main",
		    "7 main, 7 main read, 3 main read parse, 3 main read parse peek, 1 main read parse peek lib");
	assert_tree(view_of(&paths, (struct view_options){ ANY, .no_inlines = true }), "main",
		    "7 main, 7 main read, 1 main read lib");
	paths_end(&paths);
}

static void frames_show_what_is_asked_for(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	define_inlines(&paths);
	assert_tree(view_of(&paths, (struct view_options){ ANY, .by = VIEW_CALLSITE }), "main",
		    "7 main, 4 main read@process.c:22, 3 main read@process.c:20, "
		    "3 main read@process.c:20 parse@process.c:31, "
		    "3 main read@process.c:20 parse@process.c:31 peek@parse.h:7, "
		    "1 main read@process.c:20 parse@process.c:31 peek@parse.h:7 lib@parse.h:2");
	assert_tree(view_of(&paths, (struct view_options){ ANY, .by = VIEW_CALLSITE, .no_inlines = true }), "main",
		    "7 main, 4 main read@process.c:22, 3 main read@process.c:20, "
		    "1 main read@process.c:20 lib@process.c:31");
	assert_tree(view_of(&paths, (struct view_options){ ANY, .by = VIEW_LINE }), "main:20",
		    "3 main:20, 3 main:20 read:31, 3 main:20 read:31 parse:7, 3 main:20 read:31 parse:7 peek:2, "
		    "1 main:20 read:31 parse:7 peek:2 lib");
	assert_tree(view_of(&paths, (struct view_options){ ANY, .by = VIEW_MODULE }), "app", "7 app, 7 app app");
	paths_end(&paths);
}

static struct line_list *lines_of(const struct view *view, const char *function)
{
	uint32_t label = paths_label(view, function);
	return analyze_lines(view, &(struct label_set){ .labels = &label, .count = 1 }, NULL);
}

static void lines_of_a_function(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	define_inlines(&paths);
	paths_add(&paths, "main@20;read@31;read@32;read@31", 8);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct line_list *list = lines_of(view, "read");
	assert_non_null(list);
	assert_int_equal(list->count, 2);
	assert_int_equal(list->total, 15);
	assert_int_equal(list->entries[0].line, 31);
	assert_int_equal(list->entries[0].body, 0);
	assert_int_equal(list->entries[0].total, 11);
	assert_int_equal(list->entries[1].line, 32);
	assert_int_equal(list->entries[1].body, 4);
	assert_int_equal(list->entries[1].total, 12);
	line_list_free(list);
	list = lines_of(view, "peek");
	assert_int_equal(list->count, 1);
	assert_int_equal(list->entries[0].body, 10);
	assert_int_equal(list->entries[0].total, 11);
	line_list_free(list);
	view_free(view);
	view = view_of(&paths, (struct view_options){ ANY, .no_inlines = true });
	list = lines_of(view, "read");
	assert_int_equal(list->entries[0].body, 10);
	line_list_free(list);
	view_free(view);
	view = paths_view(&paths, VIEW_MODULE);
	struct error error;
	assert_null(analyze_lines(view, &(struct label_set){ 0 }, &error));
	assert_int_equal(error.code, ERROR_USAGE);
	view_free(view);
	paths_end(&paths);
}

static void define_twin(struct paths *paths, const char *key, const char *name, uint32_t module, const char *file,
			uint32_t line)
{
	uint32_t function = paths_function(paths, name, module, file, line, ROLE_NONE);
	paths_define(paths, key, module, &function, &line, 1);
	paths_add(paths, key, 1);
}

static void assert_labels(struct paths *paths, const char *const *expected)
{
	struct view *view = paths_view(paths, VIEW_FUNCTION);
	for (size_t i = 0; i < view->label_count; i++)
		assert_string_equal(view->labels[i].text, expected[i]);
	assert_null(expected[view->label_count]);
	view_free(view);
	paths_end(paths);
}

static void equal_names_differ(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	uint32_t b = paths_module(&paths, "/lib/b.so");
	define_twin(&paths, "1", "by_module", 0, "x.c", 1);
	define_twin(&paths, "2", "by_module", b, "x.c", 1);
	define_twin(&paths, "3", "by_file", 0, "/src/x.c", 1);
	define_twin(&paths, "4", "by_file", 0, "/src/y.c", 1);
	define_twin(&paths, "5", "by_both", 0, "x.c", 1);
	define_twin(&paths, "6", "by_both", 0, "y.c", 1);
	define_twin(&paths, "7", "by_both", b, "y.c", 1);
	define_twin(&paths, "8", "by_path", 0, "a/util.c", 1);
	define_twin(&paths, "9", "by_path", 0, "b/util.c", 2);
	/* One header under two relative paths, as two instances of a template have it, and a function whose file
	 * is known for only one of its addresses. */
	define_twin(&paths, "10", "same", 0, "../inc/same.h", 3);
	define_twin(&paths, "11", "same", 0, "inc/same.h", 3);
	define_twin(&paths, "12", "half_known", 0, "", 0);
	define_twin(&paths, "13", "half_known", 0, "x.c", 3);
	assert_labels(&paths,
		      (const char *const[]){ "by_both@app:x.c", "by_both@app:y.c", "by_both@b.so", "by_file@x.c",
					     "by_file@y.c", "by_module@app", "by_module@b.so", "by_path@a/util.c",
					     "by_path@b/util.c", "half_known", "same", NULL });
}

static void modules_of_equal_name_differ(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	uint32_t a = paths_module(&paths, "/lib/a.so"), other = paths_module(&paths, "/opt/a.so");
	define_twin(&paths, "1", "f", a, "", 0);
	define_twin(&paths, "2", "f", other, "", 0);
	paths_define_bare(&paths, "3", a, 0x40);
	paths_define_bare(&paths, "4", 0, 0x40);
	paths_add(&paths, "3;4", 1);
	assert_labels(&paths,
		      (const char *const[]){ "/lib/a.so+0x40", "app+0x40", "f@/lib/a.so", "f@/opt/a.so", NULL });
}

/* `name` finds the labels with these letters: "" none, "a" the first, "ab" the first two. */
static void assert_found(const struct view *view, const char *name, const char *expected)
{
	struct label_set found = { 0 };
	int64_t count = view_find(view, name, &found);
	char text[8] = "";
	for (size_t i = 0; i < found.count && i < 4; i++)
		text[i] = (char)('a' + found.labels[i]);
	assert_int_equal(count, found.count);
	label_set_release(&found);
	if (strcmp(text, expected) != 0)
		fail_msg("%s finds \"%s\", not \"%s\"", name, text, expected);
}

/* `name` finds this number of functions. If it finds one, the set has the name `called` and these labels. */
static void assert_set(const struct view *view, const char *name, int64_t functions, const char *called,
		       const char *labels)
{
	struct label_set found = { 0 };
	char texts[256] = "";
	assert_int_equal(view_find(view, name, &found), functions);
	for (size_t i = 0; i < found.count; i++) {
		size_t size = strlen(texts);
		snprintf(texts + size, sizeof(texts) - size, "%s%s", i ? " " : "", view->labels[found.labels[i]].text);
	}
	assert_string_equal(functions ? found.name : "", called);
	if (functions == 1)
		assert_string_equal(texts, labels);
	label_set_release(&found);
}

static void names_are_found(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	/* The letters are the labels' order, which is the order of their texts. */
	static const char *const names[] = {
		/* a */ "(anonymous namespace)::hidden(int)",
		/* b */ "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		/* c */ "bool operator< <int>(Pair<int> const&, Pair<int> const&)",
		/* d */ "core::slice::sort::<u32>",
		/* e */ "main",
		/* f */ "main::{lambda(int)#1}::operator()(int) const",
		/* g */ "ns::Klass<int>::f(int, char const*) const",
		/* h */ "ns::Klass<int>::operator bool() const",
		/* i */ "other::Klass::f(int)",
		/* j */ "plain.part.0",
		/* k */ "run(int (*)(int))::{lambda()#1}::step()",
		/* l */ "void ns::visit<std::vector<int> >(std::vector<int>&)",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		paths_add(&paths, names[i], 1);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_int_equal(view->label_count, sizeof(names) / sizeof(*names));
	for (uint32_t i = 0; i < view->label_count; i++)
		assert_string_equal(view->labels[i].text, names[i]);
	static const struct {
		const char *name;
		const char *found;
	} cases[] = {
		{ "ns::Klass<int>::f(int, char const*) const", "g" },
		{ "ns::Klass<int>::f", "g" },
		{ "ns::Klass::f", "g" },
		{ "Klass<int>::f", "g" },
		{ "Klass::f", "gi" },
		{ "f", "gi" },
		{ "lass::f", "" },
		{ "Klass", "" },
		{ "other::Klass::f", "i" },
		{ "f(int)", "i" },
		{ "operator bool", "h" },
		{ "Klass::operator bool", "h" },
		{ "operator<", "c" },
		{ "operator", "" },
		{ "operator()", "f" },
		{ "{lambda(int)#1}::operator()", "f" },
		{ "main", "e" },
		{ "hidden", "a" },
		{ "(anonymous namespace)::hidden", "a" },
		{ "drop", "b" },
		{ "<alloc::vec::Vec<T> as core::ops::Drop>::drop", "b" },
		{ "sort", "d" },
		{ "core::slice::sort", "d" },
		{ "slice::sort::<u32>", "d" },
		{ "plain", "j" },
		{ "step", "k" },
		{ "{lambda()#1}::step", "k" },
		{ "visit", "l" },
		{ "ns::visit<std::vector<int> >(std::vector<int>&)", "l" },
		{ "ns::visit", "l" },
		{ "visit<std::vector<int> >", "l" },
		{ "", "" },
		{ "nothing", "" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_found(view, cases[i].name, cases[i].found);
	view_free(view);
	paths_end(&paths);
}

static void suffixes_may_be_left_off(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	uint32_t a = paths_module(&paths, "/lib/a.so"), b = paths_module(&paths, "/lib/b.so");
	define_twin(&paths, "1", "ns::f(int)", a, "f.cc", 1);
	define_twin(&paths, "2", "ns::f(int)", b, "f.cc", 1);
	define_inlines(&paths);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	assert_string_equal(view->labels[2].text, "ns::f(int)@a.so");
	assert_found(view, "ns::f(int)@a.so", "c");
	assert_found(view, "ns::f@a.so", "c");
	assert_found(view, "f@b.so", "d");
	assert_found(view, "ns::f(int)", "cd");
	assert_found(view, "f", "cd");
	assert_found(view, "f@c.so", "");
	view_free(view);
	view = paths_view(&paths, VIEW_CALLSITE);
	assert_set(view, "read", 1, "read", "read@process.c:20 read@process.c:22");
	assert_set(view, "read@process.c:20", 1, "read@process.c:20", "read@process.c:20");
	assert_set(view, "read@process.c", 1, "read", "read@process.c:20 read@process.c:22");
	assert_set(view, "main", 1, "main", "main");
	assert_set(view, "f", 2, "f", "");
	view_free(view);
	view = paths_view(&paths, VIEW_LINE);
	assert_set(view, "read", 1, "read", "read:31 read:32");
	assert_set(view, "read:32", 1, "read:32", "read:32");
	view_free(view);
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_are_selected),
		cmocka_unit_test(early_hits_are_in_no_range),
		cmocka_unit_test(empty_tables_have_views),
		cmocka_unit_test(paths_may_begin_with_inlined_functions),
		cmocka_unit_test(large_hits_are_sorted),
		cmocka_unit_test(start_code_is_trimmed),
		cmocka_unit_test(inlined_functions_are_frames),
		cmocka_unit_test(frames_show_what_is_asked_for),
		cmocka_unit_test(lines_of_a_function),
		cmocka_unit_test(equal_names_differ),
		cmocka_unit_test(modules_of_equal_name_differ),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(suffixes_may_be_left_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
