/* Thread marks in a view: each thread is stitched to the path that created it, with start code trimmed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/call_paths.h"
#include "analyze/pages.h"
#include "analyze/shown_path.h"
#include "formats/format.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"

#define ANY .thread = VIEW_ANY

static void define(struct paths *paths, const char *name, enum function_role role)
{
	uint32_t function = paths_function(paths, name, 0, "/src/lib.c", 0, role);
	paths_define(paths, name, 0, &function, (uint32_t[]){ 0 }, 1);
}

static void start(struct paths *paths)
{
	paths_start(paths, RESOURCE_SAMPLED);
	uint32_t thread = paths_module(paths, "[thread]");
	paths->profile->modules[thread].kind = MODULE_THREAD;
	paths_define_bare(paths, "|", thread, 0);
	define(paths, "_start", ROLE_START);
	define(paths, "clone3", ROLE_START);
	define(paths, "start_thread", ROLE_START);
	define(paths, "pthread_create", ROLE_CREATE);
	paths->profile->symbolized = true;
	assert_int_equal(profile_check(paths->profile), 0);
}

static void assert_view(const struct paths *paths, struct view_options options, const char *root, const char *expected)
{
	struct error error = { 0 };
	struct view *view = view_new(paths->profile, &options, &error);
	if (!view)
		fail_msg("%s", error.message);
	assert_string_equal(paths_text(view, paths_down(view, root)), expected);
	for (size_t i = 0; i < view->label_count; i++)
		assert_null(strstr(view->labels[i].text, "[thread]"));
	uint64_t hits = 0;
	for (size_t i = 0; i < view->node_count; i++)
		hits += view->hits[i];
	assert_int_equal(hits, view->total);
	view_free(view);
}

#define WORKER "_start;main;pool;pthread_create;create;clone3;|;clone3;start_thread"

/* shown_path_set gives each hit the same frames as a view of the whole profile. */
static void assert_shown_paths(const struct paths *paths)
{
	struct error error = { 0 };
	const struct profile *profile = paths->profile;
	struct call_paths *all =
		call_paths_new(profile, &(struct view_options){ .by = VIEW_FUNCTION, .thread = VIEW_ANY }, &error);
	assert_non_null(all);
	uint32_t *frames = calloc(all->depth + 1, sizeof(*frames));
	size_t count;
	struct path_hit *hits = call_paths_hits(all, &count);
	assert_int_equal(count, profile->hit_count); /* hits without thread and time keep their order */
	struct shown_path path = { 0 };
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(shown_path_set(&path, profile, profile->hits[i].node), 0);
		assert_int_equal(path.count, call_paths_frames(all, hits[i].path, frames));
		for (size_t k = 0; k < path.count; k++)
			assert_string_equal(profile_string(profile, profile->functions[path.functions[k]].name),
					    all->frames[frames[k]].function);
	}
	shown_path_release(&path);
	free(frames);
	free(hits);
	call_paths_free(all);
}

static void assert_folded(const struct paths *paths, struct view_options selection, const char *expected)
{
	char *text = NULL;
	size_t size = 0;
	struct error error = { 0 };
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	selection.thread = VIEW_ANY;
	struct format_input input = { .profile = paths->profile, .view = selection };
	struct sink sink;
	sink_init(&sink, out);
	assert_int_equal(format_export(format_find("folded"), &input, &sink, &error), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* Adds threads whose creating path has its own hits, and threads that these threads create. */
static void add_workers(struct paths *paths)
{
	paths_add(paths, "_start;main", 1);
	paths_add(paths, "_start;main;pool;pthread_create;create;clone3", 2);
	paths_add(paths, WORKER ";worker;work", 4);
	paths_add(paths, WORKER, 8);
	paths_add(paths, WORKER ";worker;pthread_create;clone3;|;clone3;start_thread;helper", 16);
	paths_add(paths, "_start;main;pool;pthread_create;create;clone3;|;clone3", 32);
}

static void threads_hang_below_their_creators(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	add_workers(&paths);
	assert_view(&paths, (struct view_options){ ANY }, "main",
		    "63 main, 62 main pool, 62 main pool pthread_create, 20 main pool pthread_create worker, "
		    "16 main pool pthread_create helper, 16 main pool pthread_create worker pthread_create, "
		    "4 main pool pthread_create worker work, 2 main pool pthread_create create, "
		    "2 main pool pthread_create create clone3");
	assert_shown_paths(&paths);
	assert_folded(&paths, (struct view_options){ 0 },
		      "main 1\n"
		      "main;pool;pthread_create 40\n"
		      "main;pool;pthread_create;create;clone3 2\n"
		      "main;pool;pthread_create;worker;pthread_create;helper 16\n"
		      "main;pool;pthread_create;worker;work 4\n");
	paths_end(&paths);
}

static void threads_can_stand_apart(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	add_workers(&paths);
	assert_view(&paths, (struct view_options){ ANY, .no_stitch = true }, "main",
		    "3 main, 2 main pool, 2 main pool pthread_create, 2 main pool pthread_create create, "
		    "2 main pool pthread_create create clone3");
	assert_view(&paths, (struct view_options){ ANY, .no_stitch = true }, "worker", "4 worker, 4 worker work");
	assert_folded(&paths, (struct view_options){ .no_stitch = true },
		      "clone3 32\nhelper 16\nmain 1\nmain;pool;pthread_create;create;clone3 2\nstart_thread 8\n"
		      "worker;work 4\n");
	assert_folded(&paths, (struct view_options){ .no_stitch = true, .untrimmed = true },
		      "_start;main 1\n_start;main;pool;pthread_create;create;clone3 2\nclone3 32\n"
		      "clone3;start_thread 8\nclone3;start_thread;helper 16\nclone3;start_thread;worker;work 4\n");
	paths_end(&paths);
}

static void marks_are_never_shown(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	paths_add(&paths, WORKER ";worker", 4);
	assert_view(&paths, (struct view_options){ ANY, .untrimmed = true }, "create",
		    "4 create, 4 create clone3, 4 create clone3 clone3, 4 create clone3 start_thread, "
		    "4 create clone3 start_thread worker");
	assert_folded(&paths, (struct view_options){ .untrimmed = true },
		      "_start;main;pool;pthread_create;create;clone3;clone3;start_thread;worker 4\n");
	paths_end(&paths);
}

static void creators_need_no_names(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	paths_add(&paths, "main;clone3;|;clone3;worker", 1); /* the program calls clone itself */
	paths_add(&paths, "|;clone3;lost", 2);               /* the creator is unknown */
	paths_add(&paths, "_start;clone3;|;clone3;early", 4);
	paths_add(&paths, "main;pthread_create;1;2;3;4;5;6;7;|;near", 8);
	paths_add(&paths, "main;pthread_create;1;2;3;4;5;6;7;8;|;far", 16);
	paths_add(&paths, "main;odd;|", 32);
	assert_shown_paths(&paths);
	assert_folded(&paths, (struct view_options){ 0 },
		      "early 4\nlost 2\nmain;odd 32\nmain;pthread_create;1;2;3;4;5;6;7;8;far 16\n"
		      "main;pthread_create;near 8\nmain;worker 1\n");
	assert_view(&paths, (struct view_options){ ANY }, "main",
		    "57 main, 32 main odd, 24 main pthread_create, 16 main pthread_create 1, "
		    "16 main pthread_create 1 2, 16 main pthread_create 1 2 3, 16 main pthread_create 1 2 3 4, "
		    "16 main pthread_create 1 2 3 4 5, 16 main pthread_create 1 2 3 4 5 6, "
		    "16 main pthread_create 1 2 3 4 5 6 7, 16 main pthread_create 1 2 3 4 5 6 7 8, "
		    "16 main pthread_create 1 2 3 4 5 6 7 8 far, 8 main pthread_create near, 1 main worker");
	paths_end(&paths);
}

/* make_thread, which creates threads, is inlined into start_workers and has create inlined; worker is inlined into
 * start code. The trimmed frames therefore begin and end inside a location. */
static void define_inlines(struct paths *paths)
{
	uint32_t create = paths_function(paths, "create", 0, "/src/lib.c", 5, ROLE_NONE);
	uint32_t pthread_create = paths_function(paths, "make_thread", 0, "/src/lib.c", 15, ROLE_CREATE);
	uint32_t start_workers = paths_function(paths, "start_workers", 0, "/src/app.c", 25, ROLE_NONE);
	uint32_t entry = paths_function(paths, "entry", 0, "/src/lib.c", 35, ROLE_START);
	uint32_t worker = paths_function(paths, "worker", 0, "/src/app.c", 45, ROLE_NONE);
	paths_define(paths, "start@", 0, (uint32_t[]){ create, pthread_create, start_workers },
		     (uint32_t[]){ 7, 17, 27 }, 3);
	paths_define(paths, "entry@", 0, (uint32_t[]){ worker, entry }, (uint32_t[]){ 47, 37 }, 2);
	paths_add(paths, "_start;main;start@;clone3;|;clone3;entry@;work", 1);
	paths_add(paths, "_start;main;start@;clone3;|;clone3;entry@", 2);
	paths_add(paths, "_start;main;start@;clone3;|;clone3", 4);
	paths_add(paths, "_start;main;start@", 8);
	paths_add(paths, "_start;main;start@;clone3;|;clone3;entry@;start@;|;clone3;entry@", 16);
}

static void parts_of_locations_are_left_out(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	define_inlines(&paths);
	assert_shown_paths(&paths);
	assert_folded(&paths, (struct view_options){ 0 },
		      "main;start_workers;make_thread 4\n"
		      "main;start_workers;make_thread;create 8\n"
		      "main;start_workers;make_thread;worker 2\n"
		      "main;start_workers;make_thread;worker;start_workers;make_thread;worker 16\n"
		      "main;start_workers;make_thread;worker;work 1\n");
	assert_view(&paths, (struct view_options){ ANY }, "main",
		    "31 main, 31 main start_workers, 31 main start_workers make_thread, "
		    "19 main start_workers make_thread worker, "
		    "16 main start_workers make_thread worker start_workers, 8 main start_workers make_thread create, "
		    "1 main start_workers make_thread worker work");
	assert_view(&paths, (struct view_options){ ANY, .by = VIEW_CALLSITE }, "make_thread@app.c:27",
		    "31 make_thread@app.c:27, 19 make_thread@app.c:27 worker, "
		    "16 make_thread@app.c:27 worker start_workers@app.c:47, "
		    "16 make_thread@app.c:27 worker start_workers@app.c:47 make_thread@app.c:27, "
		    "8 make_thread@app.c:27 create@lib.c:17, "
		    "1 make_thread@app.c:27 worker work@app.c:47");
	assert_folded(&paths, (struct view_options){ .no_inlines = true },
		      "main;start_workers 14\nmain;start_workers;start_workers 16\nmain;start_workers;work 1\n");
	paths_end(&paths);
}

/* The line that starts a thread includes the thread's hits, except with no_stitch. */
static void lines_hold_threads(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	define_inlines(&paths);
	for (int apart = 0; apart < 2; apart++) {
		struct error error = { 0 };
		struct view *view = view_new(paths.profile, &(struct view_options){ ANY, .no_stitch = apart }, &error);
		assert_non_null(view);
		uint32_t label = paths_label(view, "start_workers");
		struct line_list *lines =
			analyze_lines(view, &(struct label_set){ .labels = &label, .count = 1 }, NULL);
		assert_int_equal(lines->count, 1);
		assert_int_equal(lines->entries[0].total, apart ? 8 : 31);
		line_list_free(lines);
		view_free(view);
	}
	paths_end(&paths);
}

/* Own code at app.c: main has at line 6 apply inlined, which is at line 20, and at line 7 a function of a header. */
static void define_own(struct paths *paths)
{
	uint32_t library = paths_module(paths, "/usr/lib/libsort.so.1");
	uint32_t main_function = paths_function(paths, "main", 0, "/src/app.c", 1, ROLE_MAIN);
	uint32_t apply = paths_function(paths, "apply", 0, "/src/app.c", 19, ROLE_NONE);
	uint32_t copy = paths_function(paths, "copy", 0, "/usr/include/copy.h", 2, ROLE_NONE);
	uint32_t sort = paths_function(paths, "sort", library, "/src/sort.c", 90, ROLE_NONE);
	paths_define(paths, "main@5", 0, &main_function, (uint32_t[]){ 5 }, 1);
	paths_define(paths, "apply@20", 0, (uint32_t[]){ apply, main_function }, (uint32_t[]){ 20, 6 }, 2);
	paths_define(paths, "copy@3", 0, (uint32_t[]){ copy, main_function }, (uint32_t[]){ 3, 7 }, 2);
	paths_define(paths, "sort", library, &sort, (uint32_t[]){ 99 }, 1);
	paths_add(paths, "main@5", 1);
	paths_add(paths, "main@5;sort", 2);
	paths_add(paths, "main@5;sort;apply@20;sort;sort", 4);
	paths_add(paths, "copy@3", 8);
	paths_add(paths, "sort", 16);
	paths_add(paths, "main@5;pthread_create;clone3;|;clone3;sort", 32);
}

/* A line of own code is charged with the hits of the libraries that it calls, and of the threads of libraries that it starts. */
static void own_lines_are_charged(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	define_own(&paths);
	for (int apart = 0; apart < 2; apart++) {
		const struct line_entry together[] = { { .line = 5, .body = 35, .total = 39 },
						       { .line = 7, .body = 8, .total = 8 },
						       { .line = 20, .body = 4, .total = 4 } },
					separate[] = { { .line = 7, .body = 8, .total = 8 },
						       { .line = 20, .body = 4, .total = 4 },
						       { .line = 5, .body = 3, .total = 7 } };
		struct error error = { 0 };
		struct view *view = view_new(paths.profile, &(struct view_options){ ANY, .no_stitch = apart }, &error);
		assert_non_null(view);
		struct line_list *lines = analyze_hot_own_lines(view, &error);
		assert_non_null(lines);
		assert_int_equal(lines->count, 3);
		for (size_t i = 0; i < 3; i++) {
			const struct line_entry *expected = apart ? &separate[i] : &together[i];
			assert_string_equal(profile_string(paths.profile, lines->entries[i].file), "/src/app.c");
			assert_int_equal(lines->entries[i].line, expected->line);
			assert_int_equal(lines->entries[i].body, expected->body);
			assert_int_equal(lines->entries[i].total, expected->total);
		}
		line_list_free(lines);
		view_free(view);
	}
	paths_end(&paths);
}

static void try_view(const struct paths *paths, enum view_by by, bool zeros)
{
	struct error error;
	struct view *view =
		view_new(paths->profile,
			 &(struct view_options){ ANY, .by = by, .keep_view_nodes = true, .zeros = zeros }, &error);
	struct page_list *list = view ? analyze_pages(view, &error) : NULL;
	if (list)
		assert_int_equal(list->hits, 5);
	page_list_free(list);
	view_free(view);
}

static void memory_may_be_short(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	define_inlines(&paths);
	struct profile_touch touch = { .node = (uint32_t)paths.profile->node_count - 1,
				       .thread = PROFILE_NONE,
				       .count = 5 };
	assert_true(profile_add_touch(paths.profile, &touch) >= 0);
	touch.node = 1; /* not counted, since no hit of the resource ends at this node */
	assert_true(profile_add_touch(paths.profile, &touch) >= 0);
	ALLOC_FAIL_EACH(try_view(&paths, VIEW_FUNCTION, false));
	ALLOC_FAIL_EACH(try_view(&paths, VIEW_CALLSITE, true));
	paths_end(&paths);
}

/* The module of the marks may be the first one. */
static void marks_of_the_first_module(void **state)
{
	(void)state;
	struct paths paths;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths.profile->modules[0].kind = MODULE_THREAD;
	uint32_t app = paths_module(&paths, "/usr/bin/other");
	for (unsigned i = 0; i < 2; i++) {
		const char *name = i ? "f" : "main";
		uint32_t function = paths_function(&paths, name, app, "", 0, i ? ROLE_NONE : ROLE_MAIN);
		paths_define(&paths, name, app, &function, (uint32_t[]){ 0 }, 1);
	}
	paths_define_bare(&paths, "|", 0, 0);
	paths.profile->symbolized = true;
	paths_add(&paths, "main;|;f", 3);
	assert_view(&paths, (struct view_options){ ANY }, "main", "3 main, 3 main f");
	paths_end(&paths);
}

static void define_in(struct paths *paths, const char *name, uint32_t module, enum frame_kind kind)
{
	uint32_t function = paths_function(paths, name, module, "/src/x", 0, ROLE_NONE);
	size_t first = paths->profile->frame_count;
	paths_define(paths, name, module, &function, (uint32_t[]){ 0 }, 1);
	for (size_t i = first; i < paths->profile->frame_count; i++)
		paths->profile->frames[i].kind = (uint8_t)kind;
}

/* A function that is interpreted follows the nearest frame of another file; paths that end in the interpreter have all its frames. */
static void interpreted_functions_follow_their_callers(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	uint32_t python = paths_module(&paths, "/usr/bin/python3.11"),
		 numbers = paths_module(&paths, "/usr/lib/numbers.so");
	uint32_t language = paths_module(&paths, "[Python]");
	paths.profile->modules[language].kind = MODULE_NAMES;
	static const char *const native[] = { "run", "eval", "sort" };
	static const char *const interpreted[] = { "<module>", "work", "key" };
	for (size_t i = 0; i < 3; i++) {
		define_in(&paths, native[i], python, FRAME_NATIVE);
		define_in(&paths, interpreted[i], language, FRAME_INTERPRETER);
	}
	define_in(&paths, "sum", numbers, FRAME_NATIVE);
	paths_add(&paths, "_start;main;run;eval;<module>;work;sort;eval;key", 1);
	paths_add(&paths, "_start;main;run;eval;<module>;work;sort", 2);
	paths_add(&paths, "_start;main;run;eval;<module>;work;sum;eval;key", 4);
	paths_add(&paths, "_start;main;run", 8);
	paths_add(&paths, "_start;main;run;eval;<module>;eval;work", 16);
	paths_add(&paths, "_start;main;pool;pthread_create;clone3;|;clone3;start_thread;run;eval;work", 32);
	assert_int_equal(profile_check(paths.profile), 0);
	assert_folded(&paths, (struct view_options){ 0 },
		      "main;<module>;work 16\nmain;<module>;work;key 1\nmain;<module>;work;sort 2\n"
		      "main;<module>;work;sum;key 4\nmain;pool;pthread_create;work 32\nmain;run 8\n");
	assert_folded(&paths, (struct view_options){ .native_frames = true, .no_stitch = true },
		      "main;run 8\nmain;run;eval;<module>;eval;work 16\nmain;run;eval;<module>;work;sort 2\n"
		      "main;run;eval;<module>;work;sort;eval;key 1\nmain;run;eval;<module>;work;sum;eval;key "
		      "4\nrun;eval;work 32\n");
	assert_shown_paths(&paths);
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_of_the_first_module),
		cmocka_unit_test(threads_hang_below_their_creators),
		cmocka_unit_test(threads_can_stand_apart),
		cmocka_unit_test(marks_are_never_shown),
		cmocka_unit_test(creators_need_no_names),
		cmocka_unit_test(parts_of_locations_are_left_out),
		cmocka_unit_test(lines_hold_threads),
		cmocka_unit_test(own_lines_are_charged),
		cmocka_unit_test(memory_may_be_short),
		cmocka_unit_test(interpreted_functions_follow_their_callers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
