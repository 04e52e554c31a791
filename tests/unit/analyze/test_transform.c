/* Transforms of call paths: exact amounts on small trees, and random stacks against the definition of each kind. */
#include "analyze/transform.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/shares.h"
#include "analyze/timeline.h"
#include "analyze/view_cache.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"
#include "support/sample_profile.h"

enum { TEXT_BYTES = 8192, DEPTH = 7, STACKS = 30, ROUNDS = 300 };

static struct transforms *list_of(const char *const *texts)
{
	struct transforms *list = transforms_new();
	struct error error = { 0 };
	assert_non_null(list);
	for (size_t i = 0; texts[i]; i++)
		assert_int_equal(transforms_add(list, texts[i], &error), 0);
	return list;
}

/* Appends the paths with hits of a view: "3 main f, 5 main g"; the path of the root is "3 -". */
static void print_view(const struct view *view, char *text)
{
	size_t used = 0;
	uint64_t total = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < view->node_count; i++) {
		uint32_t path[64], length = 0;
		total += view->hits[i];
		if (view->hits[i] == 0)
			continue;
		used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s%llu%s", used > 0 ? ", " : "",
					 (unsigned long long)view->hits[i], i == 0 ? " -" : "");
		for (uint32_t at = i; at != 0; at = view->parent[at])
			path[length++] = view->label[at];
		while (length > 0)
			used += (size_t)snprintf(text + used, TEXT_BYTES - used, " %s",
						 view->labels[path[--length]].text);
		assert_true(used < TEXT_BYTES);
	}
	assert_int_equal(total, view->total);
	assert_int_equal(view->weight[0], total);
}

static void assert_paths(const struct paths *paths, struct view_options options, const char *const *texts,
			 const char *expected)
{
	char text[TEXT_BYTES];
	struct error error = { 0 };
	struct transforms *list = list_of(texts);
	options.transforms = list;
	options.thread = VIEW_ANY;
	struct view *view = view_new(paths->profile, &options, &error);
	if (!view)
		fail_msg("%s", error.message);
	transforms_free(list); /* the view has its own */
	assert_int_equal(profile_check(view->profile), 0);
	print_view(view, text);
	assert_string_equal(text, expected);
	view_free(view);
}

#define TRANSFORMS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define ASSERT_PATHS(expected, ...) assert_paths(&paths, (struct view_options){ 0 }, TRANSFORMS(__VA_ARGS__), expected)

/* main calls f and g; g calls f, which calls itself through h. */
static void add_tree(struct paths *paths)
{
	paths_start(paths, RESOURCE_EXACT);
	paths_add(paths, "main", 1);
	paths_add(paths, "main;f", 2);
	paths_add(paths, "main;g", 4);
	paths_add(paths, "main;g;f;h", 8);
	paths_add(paths, "main;g;f;h;f", 16);
	paths_add(paths, "main;g;f;h;f;k", 32);
	paths_add(paths, "f;f;f;k", 64);
	paths_add(paths, "x", 128);
}

static void kinds_have_exact_amounts(void **state)
{
	struct paths paths;
	(void)state;
	add_tree(&paths);
	ASSERT_PATHS("2 f, 64 f f f k, 8 f h, 16 f h f, 32 f h f k", "focus=f");
	ASSERT_PATHS("4 g, 8 g f h, 16 g f h f, 32 g f h f k", "path=main;g");
	ASSERT_PATHS("8 h, 16 h f, 32 h f k", "path=main;g;f;h");
	ASSERT_PATHS("1 main, 4 main g, 128 x", "drop=f");
	ASSERT_PATHS("", "drop=main", "drop=f", "drop=x");
	ASSERT_PATHS("64 k, 3 main, 4 main g, 24 main g h, 32 main g h k, 128 x", "merge=f");
	ASSERT_PATHS("1 -, 2 f, 64 f f f k, 4 g, 8 g f h, 16 g f h f, 32 g f h f k, 128 x", "merge=main");
	ASSERT_PATHS("64 f f f, 1 main, 2 main f, 4 main g, 8 main g f h, 48 main g f h f, 128 x", "merge=k");
	ASSERT_PATHS("2 f, 64 f f f k, 8 f h, 16 f h f, 32 f h f k, 1 main, 4 main g, 128 x", "above=f");
	ASSERT_PATHS("64 f k, 1 main, 2 main f, 4 main g, 16 main g f, 8 main g f h, 32 main g f k, 128 x",
		     "collapse=f");
	paths_end(&paths);
}

static void transforms_follow_each_other(void **state)
{
	struct paths paths;
	(void)state;
	add_tree(&paths);
	ASSERT_PATHS("64 f, 1 main, 2 main f, 4 main g, 56 main g f", "merge=h", "collapse=f", "drop=x", "merge=k");
	ASSERT_PATHS("4 g, 16 g f, 32 g f k, 8 h", "focus=g", "collapse=f", "above=h");
	ASSERT_PATHS("64 -, 3 main, 60 main g", "merge=h", "merge=f", "drop=x", "merge=k");
	ASSERT_PATHS("", "drop=main", "drop=f", "drop=x", "merge=f"); /* no hit is left that has a name */
	paths_end(&paths);
}

static void assert_error(const struct paths *paths, const char *text, int code, const char *message)
{
	struct transforms *list = transforms_new();
	struct error error = { 0 };
	assert_non_null(list);
	if (transforms_add(list, text, &error) == 0) {
		const struct view_options options = { .thread = VIEW_ANY, .transforms = list };
		assert_null(view_new(paths->profile, &options, &error));
	}
	assert_int_equal(error.code, code);
	assert_string_equal(error.message, message);
	transforms_free(list);
}

static void errors_have_a_remedy(void **state)
{
	struct paths paths;
	(void)state;
	paths_start(&paths, RESOURCE_EXACT);
	paths_add(&paths, "main;parse", 1);
	assert_error(&paths, "drop=pasre", ERROR_NOT_FOUND,
		     "cannot apply transform 'drop=pasre': no function 'pasre' (did you mean parse?)");
	assert_error(&paths, "path=parse", ERROR_NOT_FOUND,
		     "no path 'parse' (a path begins with an outermost function, as 'main;...')");
	assert_error(
		&paths, "hide=parse", ERROR_USAGE,
		"'hide=parse' is no transform (KIND=FUNCTION; KIND is focus, path, drop, merge, above or collapse)");
	assert_error(&paths, "drop", ERROR_USAGE,
		     "'drop' is no transform (KIND=FUNCTION; KIND is focus, path, drop, merge, above or collapse)");
	assert_error(&paths, "drop=", ERROR_USAGE, "transform 'drop=' has no function (as drop=main)");
	paths_end(&paths);
}

/* --- frames that are not shown --- */

static void define(struct paths *paths, const char *name, enum function_role role)
{
	uint32_t function = paths_function(paths, name, 0, "/src/lib.c", 0, role);
	paths_define(paths, name, 0, &function, (uint32_t[]){ 0 }, 1);
}

/* main starts a thread, which runs `work`. */
static void add_thread(struct paths *paths)
{
	paths_start(paths, RESOURCE_SAMPLED);
	uint32_t thread = paths_module(paths, "[thread]");
	paths->profile->modules[thread].kind = MODULE_THREAD;
	paths_define_bare(paths, "|", thread, 0);
	define(paths, "_start", ROLE_START);
	define(paths, "clone3", ROLE_START);
	define(paths, "pthread_create", ROLE_CREATE);
	paths->profile->symbolized = true;
	paths_add(paths, "_start;main", 1);
	paths_add(paths, "_start;main;pool;pthread_create;clone3", 2);
	paths_add(paths, "_start;main;pool;pthread_create;clone3;|;clone3;work", 4);
	paths_add(paths, "_start;main;pool;pthread_create;clone3;|;clone3;work;f", 8);
}

static void threads_follow_their_creators(void **state)
{
	struct paths paths;
	(void)state;
	add_thread(&paths);
	ASSERT_PATHS("1 main, 2 main pool pthread_create clone3, 4 main pool pthread_create work, "
		     "8 main pool pthread_create work f",
		     "collapse=f");
	ASSERT_PATHS("2 pool pthread_create clone3, 4 pool pthread_create work, 8 pool pthread_create work f",
		     "focus=pool");
	ASSERT_PATHS("4 work, 8 work f", "focus=work");
	ASSERT_PATHS("4 work, 8 work f", "path=main;pool;pthread_create;work");
	ASSERT_PATHS("1 main", "drop=pthread_create");
	ASSERT_PATHS("1 main, 4 main pool pthread_create work, 8 main pool pthread_create work f", "drop=clone3");
	ASSERT_PATHS(
		"1 main, 4 main pool pthread_create, 2 main pool pthread_create clone3, 8 main pool pthread_create f",
		"merge=work");
	ASSERT_PATHS("1 -, 2 pool pthread_create clone3, 4 pool pthread_create work, 8 pool pthread_create work f",
		     "merge=main"); /* not at the start code, which no view shows */
	assert_paths(&paths, (struct view_options){ .no_stitch = true }, TRANSFORMS("drop=main"), "4 work, 8 work f");
	assert_paths(&paths, (struct view_options){ .untrimmed = true }, TRANSFORMS("merge=main", "drop=pool"),
		     "1 _start");
	paths_end(&paths);
}

static void functions_are_the_same_however_frames_are_shown(void **state)
{
	struct paths paths;
	(void)state;
	paths_start(&paths, RESOURCE_EXACT);
	uint32_t outer = paths_function(&paths, "outer", 0, "/src/a.c", 1, ROLE_NONE);
	uint32_t inner = paths_function(&paths, "inner", 0, "/src/a.c", 2, ROLE_NONE);
	paths_define(&paths, "both", 0, (uint32_t[]){ inner, outer }, (uint32_t[]){ 20, 10 }, 2);
	paths_add(&paths, "main;both", 1);
	paths_add(&paths, "main;both;leaf", 2);
	assert_paths(&paths, (struct view_options){ .by = VIEW_LINE }, TRANSFORMS("merge=inner"),
		     "1 main outer:10, 2 main outer:10 leaf");
	assert_paths(&paths, (struct view_options){ .by = VIEW_CALLSITE }, TRANSFORMS("merge=inner"),
		     "1 main outer, 2 main outer leaf@a.c:10");
	assert_paths(&paths, (struct view_options){ .by = VIEW_MODULE }, TRANSFORMS("focus=inner", "merge=leaf"),
		     "3 app");
	assert_paths(&paths, (struct view_options){ .no_inlines = true }, TRANSFORMS("merge=outer"),
		     "1 main, 2 main leaf");
	paths_end(&paths);
}

static void lines_are_of_the_transformed_paths(void **state)
{
	struct paths paths;
	struct error error = { 0 };
	(void)state;
	paths_start(&paths, RESOURCE_EXACT);
	uint32_t f = paths_function(&paths, "f", 0, "/src/a.c", 1, ROLE_NONE);
	paths_define(&paths, "f:10", 0, &f, (uint32_t[]){ 10 }, 1);
	paths_define(&paths, "f:11", 0, &f, (uint32_t[]){ 11 }, 1);
	paths_add(&paths, "f:10;g", 1);
	paths_add(&paths, "f:11", 2);
	struct transforms *list = list_of(TRANSFORMS("merge=g"));
	struct view *view =
		view_new(paths.profile, &(struct view_options){ .thread = VIEW_ANY, .transforms = list }, &error);
	assert_non_null(view);
	uint32_t label = paths_label(view, "f");
	struct line_list *lines = analyze_lines(view, &(struct label_set){ .labels = &label, .count = 1 }, &error);
	assert_non_null(lines);
	assert_int_equal(lines->count, 2);
	assert_int_equal(lines->entries[0].line, 10);
	assert_int_equal(lines->entries[0].body, 1); /* what g used at this line */
	assert_int_equal(lines->entries[1].body, 2);
	line_list_free(lines);
	view_free(view);
	transforms_free(list);
	paths_end(&paths);
}

/* --- hits --- */

static void other_analyses_count_the_same_hits(void **state)
{
	struct paths paths;
	struct error error = { 0 };
	(void)state;
	paths_start(&paths, RESOURCE_EXACT);
	struct profile *profile = paths.profile;
	assert_int_equal(profile_add_process(profile, &(struct profile_process){ .pid = 1 }), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(profile_add_thread(profile, &(struct profile_thread){ .tid = i }), i);
	profile->start_ns = 100;
	for (paths.thread = 0; paths.thread < 2; paths.thread++) {
		paths.time_ns = 101 + paths.thread;
		paths_add(&paths, "main;f", 1 + paths.thread);
		paths_add(&paths, "main;g", 4);
	}
	struct transforms *list = list_of(TRANSFORMS("drop=g"));
	const struct view_options options = { .thread = VIEW_ANY, .transforms = list };
	struct timeline *timeline = analyze_timeline(profile, &options, TIMELINE_THREADS, 1, &error);
	assert_non_null(timeline);
	assert_true(timeline->hits[0] == 1 && timeline->hits[1] == 2);
	timeline_free(timeline);
	struct view *view = view_new(profile, &options, &error);
	assert_non_null(view);
	struct share_list *shares = analyze_shares(view->profile, &view->options, SHARE_OF_THREAD, &error);
	assert_non_null(shares);
	assert_int_equal(shares->count, 2);
	assert_int_equal(shares->shares[0].hits, 2);
	assert_int_equal(shares->shares[1].hits, 1);
	share_list_free(shares);
	/* A view of another view's profile and options is not transformed again. */
	struct view *again = view_new(view->profile, &view->options, &error);
	assert_non_null(again);
	assert_ptr_equal(again->profile, view->profile);
	view_free(view);
	assert_int_equal(again->total, 3);
	view_free(again);
	transforms_free(list);
	paths_end(&paths);
}

static void labels_stay_with_their_hits(void **state)
{
	struct paths paths;
	struct error error = { 0 };
	(void)state;
	paths_start(&paths, RESOURCE_EXACT);
	struct profile *profile = paths.profile;
	struct profile_label label = { .key = (uint32_t)profile_add_string(profile, "k"),
				       .value = (uint32_t)profile_add_string(profile, "v") };
	int64_t set = profile_add_label_set(profile, &label, 1);
	assert_true(set > 0);
	paths_add(&paths, "main;g", 1);
	assert_int_equal(profile_label_hits(profile, 0, (uint32_t)set), 0);
	paths_add(&paths, "main;f", 2);
	assert_int_equal(profile_label_hits(profile, 1, PROFILE_NO_LABELS), 0);
	paths_add(&paths, "main;f", 4);
	assert_int_equal(profile_label_hits(profile, 2, (uint32_t)set), 0);
	paths_add(&paths, "main;f", 8);
	struct transforms *list = list_of(TRANSFORMS("drop=g"));
	const bool sets[] = { false, true };
	struct view *view = view_new(
		profile, &(struct view_options){ .thread = VIEW_ANY, .transforms = list, .label_sets = sets }, &error);
	assert_non_null(view);
	assert_int_equal(view->total, 4);
	view_free(view);
	transforms_free(list);
	paths_end(&paths);
}

static void views_of_a_cache_share_the_paths(void **state)
{
	struct paths paths;
	struct view_cache cache = { 0 };
	struct error error = { 0 };
	const struct view *views[4];
	struct transforms *lists[] = { list_of(TRANSFORMS("drop=f")), list_of(TRANSFORMS("drop=f")),
				       list_of(TRANSFORMS("drop=g")), transforms_new() };
	(void)state;
	add_tree(&paths);
	for (size_t i = 0; i < 4; i++) {
		const struct view_options options = { .thread = VIEW_ANY,
						      .by = i == 1 ? VIEW_MODULE : VIEW_FUNCTION,
						      .transforms = lists[i] };
		views[i] = view_cache_hold(&cache, paths.profile, &options, &error);
		assert_non_null(views[i]);
	}
	assert_ptr_equal(views[0]->profile, views[1]->profile);
	assert_ptr_not_equal(views[0], views[1]);
	assert_int_equal(views[0]->total, 133);
	assert_int_equal(views[2]->total, 195);
	assert_ptr_equal(views[3]->profile, paths.profile);
	for (size_t i = 0; i < 4; i++) {
		transforms_free(lists[i]);
		view_cache_drop(&cache, views[i]);
	}
	view_cache_release(&cache);
	paths_end(&paths);
}

/* --- the definition --- */

/* A path as letters: "abcb". */
struct stack {
	char path[4 * DEPTH];
	bool is_left_out;
};

static void define_transform(struct stack *stack, const struct transform *transform)
{
	char *path = stack->path, letter = transform->name[0];
	char *first = strchr(path, letter), *last = strrchr(path, letter);
	size_t length = 0;
	switch (transform->kind) {
	case TRANSFORM_PATH: /* "a;b" */
		for (const char *at = transform->name;; at += 2, length++) {
			stack->is_left_out = stack->is_left_out || path[length] != *at;
			if (!at[1])
				break;
		}
		if (!stack->is_left_out)
			memmove(path, path + length, strlen(path + length) + 1);
		break;
	case TRANSFORM_DROP:
		stack->is_left_out = first != NULL;
		break;
	case TRANSFORM_MERGE:
		for (const char *at = path; *at; at++)
			if (*at != letter)
				path[length++] = *at;
		path[length] = '\0';
		break;
	case TRANSFORM_COLLAPSE:
		if (first)
			memmove(first, last, strlen(last) + 1);
		break;
	case TRANSFORM_FOCUS:
	case TRANSFORM_ABOVE:
	default:
		stack->is_left_out = !first && transform->kind == TRANSFORM_FOCUS;
		if (first)
			memmove(path, first, strlen(first) + 1);
		break;
	}
}

/* Adds a path of one function for each letter. */
static void add_letters(struct paths *paths, const char *letters, uint64_t hits)
{
	char text[8 * DEPTH] = "";
	for (size_t i = 0; letters[i]; i++)
		snprintf(text + 2 * i, sizeof(text) - 2 * i, "%c;", letters[i]);
	if (letters[0]) {
		text[2 * strlen(letters) - 1] = '\0';
		paths_add(paths, text, hits);
	} else {
		assert_int_equal(profile_add_hit(paths->profile, 0, PROFILE_NONE, PROFILE_ROOT, 0, hits), 0);
	}
}

/* Defines locations "0" to "9" of one to three functions each, and writes the functions' letters, outermost first. */
static void define_locations(struct paths *paths, struct random *random, char letters[10][4])
{
	uint32_t functions[4];
	for (size_t i = 0; i < 4; i++)
		functions[i] =
			paths_function(paths, (const char[]){ (char)('a' + i), '\0' }, 0, "/src/a.c", 1, ROLE_NONE);
	for (size_t i = 0; i < 10; i++) {
		uint32_t frames[3], lines[3] = { 1, 2, 3 }, count = 1 + (uint32_t)random_below(random, 3);
		for (uint32_t k = 0; k < count; k++) {
			size_t function = random_below(random, 4);
			frames[count - 1 - k] = functions[function]; /* innermost first */
			letters[i][k] = (char)('a' + function);
		}
		letters[i][count] = '\0';
		paths_define(paths, (const char[]){ (char)('0' + i), '\0' }, 0, frames, lines, count);
	}
}

/* Adds random stacks to `paths`, and as the letters of their functions to `stacks`. */
static void add_random(struct paths *paths, struct random *random, struct stack *stacks)
{
	char letters[10][4];
	define_locations(paths, random, letters);
	for (size_t i = 0; i < STACKS; i++) {
		char text[2 * DEPTH + 2] = "";
		size_t depth = 1 + random_below(random, DEPTH);
		stacks[i] = (struct stack){ 0 };
		for (size_t k = 0; k < depth; k++) {
			size_t location = random_below(random, 10);
			snprintf(text + 2 * k, sizeof(text) - 2 * k, "%zu%s", location, k + 1 < depth ? ";" : "");
			size_t length = strlen(stacks[i].path);
			snprintf(stacks[i].path + length, sizeof(stacks[i].path) - length, "%s", letters[location]);
		}
		paths_add(paths, text, i + 1);
	}
}

static struct transforms *random_list(struct random *random, const struct stack *stacks)
{
	struct transforms *list = transforms_new();
	struct error error = { 0 };
	assert_non_null(list);
	for (uint64_t count = 1 + random_below(random, 3); count > 0; count--) {
		char text[64];
		enum transform_kind kind = (enum transform_kind)random_below(random, 6);
		const char *path = stacks[random_below(random, STACKS)].path;
		char letter = path[random_below(random, strlen(path))];
		if (kind == TRANSFORM_PATH && list->count > 0)
			kind = TRANSFORM_FOCUS; /* a path that is gone would be an error */
		if (kind == TRANSFORM_PATH && path[1])
			snprintf(text, sizeof(text), "path=%c;%c", path[0], path[1]);
		else
			snprintf(text, sizeof(text), "%s=%c", transform_kind_word(kind),
				 kind == TRANSFORM_PATH ? path[0] : letter);
		assert_int_equal(transforms_add(list, text, &error), 0);
	}
	return list;
}

static void print_options(const struct profile *profile, struct transforms *list, char *text)
{
	struct error error = { 0 };
	struct view *view = view_new(profile, &(struct view_options){ .thread = VIEW_ANY, .transforms = list }, &error);
	if (!view)
		fail_msg("%s", error.message);
	print_view(view, text);
	view_free(view);
}

static void random_paths_are_as_defined(void **state)
{
	struct random random = { .state = 29 };
	(void)state;
	for (size_t round = 0; round < ROUNDS; round++) {
		struct paths paths, defined;
		struct stack stacks[STACKS];
		char expected[TEXT_BYTES], found[TEXT_BYTES];
		paths_start(&paths, RESOURCE_EXACT);
		paths_start(&defined, RESOURCE_EXACT);
		add_random(&paths, &random, stacks);
		struct transforms *list = random_list(&random, stacks);
		for (size_t i = 0; i < STACKS; i++) {
			for (size_t k = 0; k < list->count && !stacks[i].is_left_out; k++)
				define_transform(&stacks[i], &list->items[k]);
			if (!stacks[i].is_left_out)
				add_letters(&defined, stacks[i].path, i + 1);
		}
		print_options(defined.profile, NULL, expected);
		print_options(paths.profile, list, found);
		assert_string_equal(found, expected);
		transforms_free(list);
		paths_end(&paths);
		paths_end(&defined);
	}
}

/* --- memory --- */

static void try_view(const struct paths *paths, const char *text)
{
	struct error error = { 0 };
	struct transforms *list = transforms_new();
	if (list && transforms_add(list, text, &error) == 0 && transforms_add(list, "merge=h", &error) == 0) {
		struct view *view = view_new(paths->profile,
					     &(struct view_options){ .thread = VIEW_ANY, .transforms = list }, &error);
		assert_true(view || error.code == ERROR_MEMORY);
		view_free(view);
	}
	transforms_free(list);
}

static void memory_may_be_exhausted(void **state)
{
	struct paths paths;
	(void)state;
	add_tree(&paths);
	ALLOC_FAIL_EACH(try_view(&paths, "collapse=f"));
	ALLOC_FAIL_EACH(try_view(&paths, "path=main;g"));
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_have_exact_amounts),
		cmocka_unit_test(transforms_follow_each_other),
		cmocka_unit_test(errors_have_a_remedy),
		cmocka_unit_test(threads_follow_their_creators),
		cmocka_unit_test(functions_are_the_same_however_frames_are_shown),
		cmocka_unit_test(lines_are_of_the_transformed_paths),
		cmocka_unit_test(other_analyses_count_the_same_hits),
		cmocka_unit_test(labels_stay_with_their_hits),
		cmocka_unit_test(views_of_a_cache_share_the_paths),
		cmocka_unit_test(random_paths_are_as_defined),
		cmocka_unit_test(memory_may_be_exhausted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
