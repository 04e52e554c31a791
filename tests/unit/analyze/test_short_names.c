/* analyze/short_names.c: two functions of a report stay distinct, and what a row shows is found again. analyze/own_code.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/own_code.h"
#include "analyze/short_names.h"
#include "base/columns.h"
#include "base/error.h"
#include "support/paths_profile.h"

static struct short_names *names_of(const char *const *texts, size_t count)
{
	struct short_names_item items[16];
	for (size_t i = 0; i < count; i++) {
		const char *at = strchr(texts[i], '@');
		items[i] = (struct short_names_item){ texts[i],
						      (uint32_t)(at ? (size_t)(at - texts[i]) : strlen(texts[i])) };
	}
	struct short_names *names = short_names_new(items, count);
	assert_non_null(names);
	return names;
}

static const char *shown(struct short_names *names, size_t index, size_t columns)
{
	static char text[256];
	struct buffer buffer;
	buffer_init(&buffer);
	short_names_append(names, index, columns, &buffer);
	assert_int_equal(buffer_error(&buffer), 0);
	snprintf(text, sizeof(text), "%.*s", (int)buffer.size, (const char *)buffer.bytes);
	buffer_release(&buffer);
	return text;
}

static void equal_short_names_are_distinguished(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"f(char)",   "f(int)",   "g(int)", "std::vector<A>::at(int)", "std::vector<B>::at(int)",
		"h@liba.so", "h@libb.so"
	};
	struct short_names *names = names_of(texts, 7);
	assert_string_equal(shown(names, 0, 40), "f(char)"); /* "f" would be both */
	assert_string_equal(shown(names, 1, 40), "f(int)");
	assert_string_equal(shown(names, 1, 3), "f#2");
	assert_string_equal(shown(names, 2, 40), "g");
	assert_string_equal(shown(names, 3, 40), "std::vector<A>::at");
	assert_string_equal(shown(names, 4, 8), "at#2");
	assert_string_equal(shown(names, 5, 40), "h@liba.so");
	assert_string_equal(shown(names, 6, 5), "h@…so");
	short_names_free(names);
}

static void what_is_shown_is_found(void **state)
{
	(void)state;
	static const char *const texts[] = { "f(char)", "f(int)", "std::vector<Alpha>::at(int)",
					     "std::vector<Beta>::at(int)" };
	static const struct {
		const char *text;
		int64_t count;
		uint32_t first;
	} rows[] = { { "f#2", 1, 1 },
		     { "f", 2, 0 },
		     { "std::vector<Alpha>::at", 1, 2 },
		     { "std::vector<…>::at", 2, 2 },
		     { "std::vector<...>::at#2", 1, 3 },
		     { "at#1", 1, 2 },
		     { "at#3", 0, 0 },
		     { "nothing", 0, 0 } };
	struct short_names *names = names_of(texts, 4);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t found[4] = { 0 };
		assert_int_equal(short_names_find(names, rows[i].text, found), rows[i].count);
		assert_int_equal(found[0], rows[i].first);
	}
	short_names_free(names);
}

/* Each of many random names is found by its form at any width that does not cut it, and no two show the same. */
static void random_names_stay_distinct(void **state)
{
	(void)state;
	enum { NAMES = 16, BYTES = 64 };
	static const char *const types[] = {
		"int", "char", "Rec", "std::vector<int>", "ns::Rec", "std::allocator<int>"
	};
	static const char *const functions[] = { "f", "g", "ns::f", "K::f" };
	uint64_t random = 7;
	for (int round = 0; round < 300; round++) {
		char texts[NAMES][BYTES];
		const char *list[NAMES];
		size_t count = 0;
		for (int i = 0; i < NAMES; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			uint64_t value = random >> 20;
			snprintf(texts[count], BYTES, "%s<%s>(%s)", functions[value % 4], types[value / 4 % 6],
				 types[value / 24 % 6]);
			bool is_new = true;
			for (size_t k = 0; k < count; k++)
				is_new = is_new && strcmp(texts[k], texts[count]) != 0;
			list[count] = texts[count];
			count += is_new;
		}
		struct short_names *names = names_of(list, count);
		for (size_t columns = 8; columns < 64; columns += 7) {
			char all[NAMES][BYTES];
			for (size_t i = 0; i < count; i++) {
				uint32_t found[NAMES];
				snprintf(all[i], BYTES, "%s", shown(names, i, columns));
				assert_true(text_columns(all[i], strlen(all[i])) <= columns);
				assert_int_equal(short_names_find(names, all[i], found), 1);
				assert_int_equal(found[0], i);
				for (size_t k = 0; k < i; k++)
					assert_string_not_equal(all[k], all[i]);
			}
		}
		short_names_free(names);
	}
}

/* --- own code --- */

static void library_code_is_charged_to_its_caller(void **state)
{
	(void)state;
	struct paths paths;
	struct error error = { 0 };
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "main;a;std::x;std::y", 5);
	paths_add(&paths, "main;a;std::x", 2);
	paths_add(&paths, "main;a;std::x;b", 1); /* called back */
	paths_add(&paths, "main;std::y", 3);
	paths_add(&paths, "main;std::z", 2);
	paths_add(&paths, "main", 1);
	paths_add(&paths, "std::y", 4); /* no own code */
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct own_code *own = analyze_own_code(view, &error);
	assert_non_null(own);
	assert_int_equal(own->charged_count, 3);
	static const struct {
		const char *name, *other;
		uint64_t hits, other_hits;
	} charged[] = { { "a", "std::y", 7, 5 }, { "main", "std::y", 6, 3 }, { "b", NULL, 1, 0 } };
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(own->charged[i].label, paths_label(view, charged[i].name));
		assert_int_equal(own->charged[i].hits, charged[i].hits);
		assert_int_equal(own->charged[i].other_hits, charged[i].other_hits);
		assert_int_equal(own->charged[i].other,
				 charged[i].other ? paths_label(view, charged[i].other) : PROFILE_NONE);
	}
	assert_int_equal(own->uncharged, 4);
	assert_int_equal(own->library_count, 3);
	const struct own_entry *y = own_code_library(own, paths_label(view, "std::y"));
	assert_true(y && y->hits == 12 && y->other == paths_label(view, "a") && y->other_hits == 5);
	/* Rows of equal hits are in the order of the names. */
	const struct own_entry *x = own_code_library(own, paths_label(view, "std::x"));
	const struct own_entry *z = own_code_library(own, paths_label(view, "std::z"));
	assert_true(y == own->library && x == y + 1 && z == x + 1 && x->hits == 2 && z->hits == 2);
	assert_null(own_code_library(own, paths_label(view, "main")));
	own_code_free(own);
	view_free(view);
	paths_end(&paths);
}

/* All waits end in the same function of the kernel: the call that leads there says more. */
static void charge_kernel(const char *resource, bool has_waits)
{
	struct paths paths;
	struct error error = { 0 };
	paths_start(&paths, RESOURCE_SAMPLED);
	paths.profile->resources[0].name = (uint32_t)profile_add_string(paths.profile, resource);
	uint32_t kernel = paths_module(&paths, "[kernel]");
	paths.profile->modules[kernel].kind = MODULE_KERNEL;
	uint32_t schedule = paths_function(&paths, "schedule", kernel, "", 0, ROLE_NONE);
	uint32_t loop = paths_function(&paths, "exit_to_user_mode_loop", kernel, "", 0, ROLE_NONE);
	paths_define(&paths, "schedule", kernel, &schedule, (const uint32_t[]){ 0 }, 1);
	paths_define(&paths, "exit_to_user_mode_loop", kernel, &loop, (const uint32_t[]){ 0 }, 1);
	paths_add(&paths, "main;std::lock;std::wait;schedule", 5);
	paths_add(&paths, "main;std::join;std::wait;schedule", 4);
	paths_add(&paths, "main;schedule", 3); /* an interrupt */
	paths_add(&paths, "main;std::join;exit_to_user_mode_loop;schedule", 2);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct own_code *own = analyze_own_code(view, &error);
	assert_non_null(own);
	assert_int_equal(own->charged_count, 1);
	assert_int_equal(own->charged[0].hits, 14);
	assert_int_equal(own->charged[0].other, paths_label(view, "std::join"));
	assert_int_equal(own->charged[0].other_hits, 6);
	const struct own_entry *inner = own_code_library(own, paths_label(view, "schedule"));
	const struct own_entry *waits = own_code_library(own, paths_label(view, "std::wait"));
	assert_true((inner != NULL) == !has_waits && (waits != NULL) == has_waits);
	assert_int_equal((has_waits ? waits : inner)->hits, has_waits ? 9 : 14);
	assert_int_equal((has_waits ? waits : inner)->other, paths_label(view, "main"));
	assert_int_equal(own->kernel_call.label, paths_label(view, "std::lock"));
	assert_int_equal(own->kernel_call.hits, 5);
	assert_int_equal(own->ready, 2);
	own_code_free(own);
	view_free(view);
	paths_end(&paths);
}

static void kernel_is_charged_to_the_call_into_it(void **state)
{
	(void)state;
	charge_kernel("cpu", false);
	charge_kernel("blocked", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_short_names_are_distinguished),
		cmocka_unit_test(what_is_shown_is_found),
		cmocka_unit_test(random_names_stay_distinct),
		cmocka_unit_test(library_code_is_charged_to_its_caller),
		cmocka_unit_test(kernel_is_charged_to_the_call_into_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
