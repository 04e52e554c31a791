/* Finding words in C and C++ text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/source/instrument/lexing.h"

static const char *ends(const char *text)
{
	return text + strlen(text);
}

static void test_words_are_found_outside_of_comments_and_literals(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int offset; /* of the first "co_await"; -1: none */
	} rows[] = {
		{ "x = co_await y;", 4 },
		{ "co_await", 0 },
		{ "my_co_await co_awaits co_await_", -1 },
		{ "/* co_await */ // co_await", -1 },
		{ "/* * / co_await /* */ co_await", 22 },
		{ "/**/co_await", 4 },
		{ "/*/ co_await */", -1 },
		{ "// a \\\n co_await\nco_await", 17 },
		{ "\"co_await \\\" co_await\" co_await", 23 },
		{ "'\"' co_await '\"'", 4 },
		{ "R\"(co_await \" )\" co_await", 17 },
		{ "u8R\"x(co_await )\" )y\" )x\" co_await", 26 },
		{ "FOR\"x(\" co_await", 8 },
		{ "1'000 + co_await + 1'000", 8 },
		{ "0x1'f co_await", 6 },
		{ "it's an #error, co_await", 16 },
		{ "R\"(co_await", -1 },
		{ "", -1 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *found = lexing_find(rows[i].text, ends(rows[i].text), "co_await");
		int offset = found ? (int)(found - rows[i].text) : -1;
		if (offset != rows[i].offset)
			fail_msg("%s: found at %d", rows[i].text, offset);
	}
}

static void test_what_has_to_be_first_in_a_block(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int offset; /* where a declaration may be inserted */
	} rows[] = {
		{ " int a; __label__ b;", 0 },
		{ " __label__ a, b; int c;", 16 },
		{ "__label__ a; /* ; */ __label__ b; c();", 33 },
		{ "\n#pragma STDC FP_CONTRACT ON\nint a;", 29 },
		{ "\n # pragma STDC A ON\n#pragma omp parallel\n", 21 },
		{ " _Pragma(\"STDC A ON\") int a;", 21 },
		{ " _Pragma(\"omp for\") for (;;)", 0 },
		{ "\n#pragma STDC A ON", 0 },
		{ "__label__ a", 11 },
		{ "_Pragma(", 0 },
		{ "", 0 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int offset = (int)(lexing_behind_first(rows[i].text, ends(rows[i].text)) - rows[i].text);
		if (offset != rows[i].offset)
			fail_msg("%s: %d", rows[i].text, offset);
	}
}

static void test_attributes(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool has; /* has the attribute "naked" */
	} rows[] = {
		{ "__attribute__((naked)) void f()", true },
		{ "__attribute__((cold, __naked__)) void f()", true },
		{ "__attribute((naked)) void f()", true },
		{ "void f [[gnu::naked]] (int x)", true },
		{ "[[using gnu: cold, naked]] void f()", true },
		{ "__attribute__((cold)) void naked()", false },
		{ "[[nodiscard]] int f(int naked)", false },
		{ "__attribute__((alias(\"naked\"))) void f()", false },
		{ "void f(int naked, int (*attributes)(int naked))", false },
		{ "[[nodiscard(\"x\")]] int a[1] = { naked }", false },
		{ "__attribute__((section(\"a\"), aligned(8))) __attribute__((naked)) void f()", true },
		{ "__attribute__((naked", true },
		{ "", false },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (lexing_has_attribute(rows[i].text, ends(rows[i].text), "naked") != rows[i].has)
			fail_msg("%s", rows[i].text);
}

static void test_tokens_come_one_by_one(void **state)
{
	(void)state;
	static const char text[] = "a->b(1.5e3) /* ) */ <:";
	static const char *const tokens[] = { "a", "-", ">", "b", "(", "1", ".", "5e3", ")", "<", ":" };
	const char *at = text;
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		struct lexing_token token = lexing_next(at, ends(text));
		assert_true(lexing_is(&token, tokens[i]));
		at = token.start + token.size;
	}
	assert_int_equal(lexing_next(at, ends(text)).size, 0);
	assert_ptr_equal(lexing_skip(text, ends(text)), text);
	assert_ptr_equal(lexing_skip(text + 12, ends(text)), text + 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_are_found_outside_of_comments_and_literals),
		cmocka_unit_test(test_what_has_to_be_first_in_a_block),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_tokens_come_one_by_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
