/* base/short_name.c, base/columns.c and base/line_wrap.c: names that people can read, in rows that fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/columns.h"
#include "base/error.h"
#include "base/line_wrap.h"
#include "base/short_name.h"

/* Returns the name at a stage, valid until the next call. */
static const char *at_stage(const char *name, enum short_name_stage stage)
{
	static struct buffer text;
	buffer_clear(&text);
	short_name_append(&text, name, strlen(name), stage);
	buffer_append_byte(&text, 0);
	assert_int_equal(buffer_error(&text), 0);
	return (const char *)text.bytes;
}

static const struct {
	const char *name;
	enum short_name_stage stage;
	const char *shown;
} golden[] = {
	/* C++ as the demangler writes it. */
	{ "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)", SHORT_NAME_FULL,
	  "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)" },
	{ "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)", SHORT_NAME_USUAL,
	  "std::vector<Rec>::push_back(Rec&&)" },
	{ "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)", SHORT_NAME_BARE, "std::vector<Rec>::push_back" },
	{ "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)", SHORT_NAME_OUTER, "std::vector<…>::push_back" },
	{ "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)", SHORT_NAME_LAST_TWO, "vector<…>::push_back" },
	{ "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)", SHORT_NAME_LAST, "push_back" },
	{ "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::compare(char const*) const",
	  SHORT_NAME_USUAL, "std::string::compare(char const*) const" },
	{ "std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>, std::__1::allocator<wchar_t> >::size()",
	  SHORT_NAME_BARE, "std::wstring::size" },
	{ "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)", SHORT_NAME_OUTER,
	  "std::operator<< <…>" },
	{ "std::__cxx11::basic_string<char> std::operator+<char, std::char_traits<char>, std::allocator<char> >(char "
	  "const*)",
	  SHORT_NAME_BARE, "std::operator+<char>" },
	{ "bool operator< <int>(A<int> const&, A<int> const&)", SHORT_NAME_BARE, "operator< <int>" },
	{ "void std::__sort<__gnu_cxx::__normal_iterator<Rec*, std::vector<Rec, std::allocator<Rec> > >, "
	  "__gnu_cxx::__ops::_Iter_comp_iter<main::{lambda(Rec const&, Rec const&)#1}> >(int)",
	  SHORT_NAME_BARE, "std::__sort<std::vector<Rec>::iterator, main::{lambda#1}>" },
	{ "void std::__sort<__gnu_cxx::__normal_iterator<Rec*, std::vector<Rec, std::allocator<Rec> > >, "
	  "__gnu_cxx::__ops::_Iter_comp_iter<main::{lambda(Rec const&, Rec const&)#1}> >(int)",
	  SHORT_NAME_INNER, "std::__sort<iterator, {lambda#1}>" },
	{ "f<__gnu_cxx::__normal_iterator<Rec const*, std::vector<Rec> > >()", SHORT_NAME_BARE,
	  "f<std::vector<Rec>::const_iterator>" },
	{ "std::map<std::__cxx11::basic_string<char>, std::vector<Rec>, std::less<std::__cxx11::basic_string<char> >, "
	  "std::allocator<std::pair<int const, Rec> > >::operator[](int)",
	  SHORT_NAME_BARE, "std::map<std::string, std::vector<Rec>>::operator[]" },
	{ "std::map<std::__cxx11::basic_string<char>, std::vector<Rec> >::operator[](int)", SHORT_NAME_INNER,
	  "std::map<string, vector<…>>::operator[]" },
	{ "main::{lambda(int)#1}::operator()(int) const", SHORT_NAME_USUAL,
	  "main::{lambda(int)#1}::operator()(int) const" },
	{ "main::{lambda(int)#1}::operator()(int) const", SHORT_NAME_BARE, "main::{lambda#1}" },
	{ "main::{lambda(int)#1}::operator()(int) const", SHORT_NAME_LAST, "main::{lambda#1}" },
	{ "f(int)::{lambda(auto:1)#2}::operator()<int>(int) const", SHORT_NAME_BARE, "f::{lambda#2}<int>" },
	{ "main::$_0::operator()(Rec const&) const", SHORT_NAME_BARE, "main::{lambda#1}" },
	{ "main::'lambda0'(int)::operator()(int) const", SHORT_NAME_BARE, "main::{lambda#2}" },
	{ "std::__invoke_r<int, main()::<lambda(const Rec&)>&, const Rec&>", SHORT_NAME_BARE,
	  "std::__invoke_r<int, main::{lambda}&, const Rec&>" },
	{ "ns::(anonymous namespace)::K::f(int) const", SHORT_NAME_BARE, "ns::K::f" },
	{ "std::__cxx11::to_string[abi:cxx11](int)", SHORT_NAME_BARE, "std::to_string" },
	{ "operator bool", SHORT_NAME_LAST, "operator bool" },
	{ "std::function<int (Rec const&)>::operator()(Rec const&) const", SHORT_NAME_OUTER,
	  "std::function<…>::operator()" },
	{ "void f<3>(int)", SHORT_NAME_OUTER, "f<3>" },
	/* Clones. */
	{ "foo.part.0", SHORT_NAME_BARE, "foo [part]" },
	{ "foo.isra.0.constprop.2", SHORT_NAME_BARE, "foo [constprop, isra]" },
	{ "foo(int) [clone .cold]", SHORT_NAME_USUAL, "foo(int) [cold]" },
	{ "foo(int) [clone .cold]", SHORT_NAME_LAST, "foo [cold]" },
	{ "foo.llvm.1234567890", SHORT_NAME_BARE, "foo" },
	{ "foo.party", SHORT_NAME_BARE, "foo.party" },
	/* Rust. */
	{ "core::ptr::drop_in_place<alloc::vec::Vec<alloc::string::String>>::h0123456789abcdef", SHORT_NAME_BARE,
	  "core::ptr::drop_in_place<alloc::vec::Vec<alloc::string::String>>" },
	{ "core::ptr::drop_in_place<alloc::vec::Vec<alloc::string::String>>::h0123456789abcdef", SHORT_NAME_INNER,
	  "core::ptr::drop_in_place<Vec<…>>" },
	{ "core::ptr::drop_in_place::<alloc::string::String>", SHORT_NAME_OUTER, "core::ptr::drop_in_place::<…>" },
	{ "_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..clone..Clone$GT$::clone::h0123456789abcdef", SHORT_NAME_BARE,
	  "<alloc::vec::Vec<T> as core::clone::Clone>::clone" },
	{ "<alloc::vec::Vec<T> as core::clone::Clone>::clone", SHORT_NAME_INNER, "<Vec<T> as Clone>::clone" },
	{ "<alloc::vec::Vec<T> as core::clone::Clone>::clone", SHORT_NAME_LAST, "clone" },
	{ "app::main::{{closure}}", SHORT_NAME_USUAL, "app::main::{closure}" },
	{ "app::hello::h0123456789abcdeg", SHORT_NAME_USUAL, "app::hello::h0123456789abcdeg" },
	/* Go. */
	{ "github.com/user/pkg/sub.(*Tree).Insert", SHORT_NAME_USUAL, "sub.(*Tree).Insert" },
	{ "github.com/user/pkg/sub.(*Tree).Insert", SHORT_NAME_LAST, "(*Tree).Insert" },
	{ "encoding/json.(*decodeState).object", SHORT_NAME_BARE, "json.(*decodeState).object" },
	{ "slices.SortFunc[go.shape.[]main.Rec,go.shape.int]", SHORT_NAME_BARE, "slices.SortFunc[[]main.Rec,int]" },
	{ "github.com/a/b.Map[github.com/x/y.Key,int].func1", SHORT_NAME_OUTER, "b.Map[…].func1" },
	{ "main.main.func1", SHORT_NAME_LAST, "main.main.func1" },
	/* Other languages: all but the folders of a place stays. */
	{ "handle_request app.py:12", SHORT_NAME_LAST, "handle_request app.py:12" },
	{ "handle_request /srv/app/app.py:12", SHORT_NAME_OUTER, "handle_request /srv/app/app.py:12" },
	{ "handle_request /srv/app/app.py:12", SHORT_NAME_LAST_TWO, "handle_request app.py:12" },
	{ "LazyCompile:*foo /home/u/app.js:10:3", SHORT_NAME_BARE, "LazyCompile:*foo /home/u/app.js:10:3" },
	{ "LazyCompile:*foo /home/u/app.js:10:3", SHORT_NAME_LAST, "LazyCompile:*foo app.js:10:3" },
	{ "<module> /srv/app/app.py:1", SHORT_NAME_LAST, "<module> app.py:1" },
	{ "garbage collection", SHORT_NAME_LAST, "garbage collection" },
	{ "a file:///x/y.mjs:3", SHORT_NAME_LAST, "a y.mjs:3" },
	{ "ns::f(int) at::12", SHORT_NAME_LAST, "f" },
	{ "word :12", SHORT_NAME_LAST, "word :12" },
	{ "word a:12:", SHORT_NAME_LAST, "word a:12:" },
	/* ... and C++ with blanks is no such name. */
	{ "operator new [clone .cold]", SHORT_NAME_LAST, "operator new [cold]" },
	{ "unsigned long max<unsigned long>(unsigned long, unsigned long)", SHORT_NAME_LAST, "max<…>" },
	{ "non-virtual thunk to ns::A::f()", SHORT_NAME_LAST, "f" },
	/* Names of other kinds stay as they are. */
	{ "[kernel: exec or exit]", SHORT_NAME_LAST, "[kernel: exec or exit]" },
	{ "libfoo.so+0x1a40", SHORT_NAME_LAST, "libfoo.so+0x1a40" },
	{ "qsort", SHORT_NAME_LAST, "qsort" },
	{ "a<b", SHORT_NAME_LAST, "a<b" },
	{ "", SHORT_NAME_BARE, "" },
};

static void names_become_short(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++)
		if (strcmp(at_stage(golden[i].name, golden[i].stage), golden[i].shown) != 0)
			fail_msg("'%s' at stage %d: '%s', not '%s'", golden[i].name, golden[i].stage,
				 at_stage(golden[i].name, golden[i].stage), golden[i].shown);
}

/* --- properties --- */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* Appends a random name, more or less as languages have them. */
static void append_random(struct buffer *to, uint64_t *state, unsigned depth)
{
	static const char *const pieces[] = { "std::",
					      "ns::",
					      "f",
					      "Rec",
					      "operator()",
					      "operator<",
					      "operator->",
					      "operator bool",
					      " ",
					      ", ",
					      "::",
					      "*",
					      "&",
					      "…",
					      "__gnu_cxx::__normal_iterator<",
					      "__gnu_cxx::__ops::_Iter_comp_iter<",
					      "std::__cxx11::basic_string<char",
					      ">",
					      "<",
					      "(",
					      ")",
					      "{lambda(",
					      "#1}",
					      "{{closure}}",
					      "[abi:cxx11]",
					      "(anonymous namespace)::",
					      " [clone .part.0]",
					      ".cold",
					      "$_0",
					      "'lambda'",
					      "::h0123456789abcdef",
					      "$LT$",
					      "$GT$",
					      "..",
					      "a/b.",
					      "[go.shape.",
					      "]",
					      "\xff",
					      "\xe4\xb8\xad",
					      " const",
					      "::<" };
	unsigned parts = 1 + (unsigned)next_random(state) % 6;
	for (unsigned i = 0; i < parts; i++) {
		buffer_append_string(to, pieces[next_random(state) % (sizeof(pieces) / sizeof(pieces[0]))]);
		if (depth == 0 || next_random(state) % 3 > 0)
			continue;
		static const char *const brackets[] = { "<>", "()", "{}", "[]" };
		const char *bracket = brackets[next_random(state) % 4];
		buffer_append_byte(to, (uint8_t)bracket[0]);
		append_random(to, state, depth - 1);
		buffer_append_byte(to, (uint8_t)bracket[1]);
	}
}

/* No stage of any text is wider than the text, and every width of 1 or more is enough for what is cut to it. */
static void no_name_becomes_longer(void **state)
{
	(void)state;
	uint64_t random = 1;
	struct buffer name, text;
	buffer_init(&name);
	buffer_init(&text);
	for (int round = 0; round < 20000; round++) {
		buffer_clear(&name);
		append_random(&name, &random, (unsigned)round % 6);
		size_t columns = text_columns((const char *)name.bytes, name.size);
		for (int stage = 0; stage < SHORT_NAME_STAGES; stage++) {
			buffer_clear(&text);
			short_name_append(&text, (const char *)name.bytes, name.size, (enum short_name_stage)stage);
			if (text_columns((const char *)text.bytes, text.size) > columns || text.size == 0)
				fail_msg("'%.*s' at stage %d: '%.*s'", (int)name.size, (const char *)name.bytes, stage,
					 (int)text.size, (const char *)text.bytes);
		}
		size_t width = 1 + next_random(&random) % 40;
		buffer_clear(&text);
		short_name_fit(&text, (const char *)name.bytes, name.size, width);
		assert_true(text_columns((const char *)text.bytes, text.size) <= width && text.size > 0);
	}
	buffer_release(&name);
	buffer_release(&text);
}

/* Deep nesting needs no stack without end, and a long name no time without end. */
static void hostile_names_are_bounded(void **state)
{
	(void)state;
	enum { DEEP = 30000, LONG = 200000, CLONES = 13000, REPEATS = 8 };
	struct buffer name, text;
	buffer_init(&name);
	buffer_init(&text);
	for (int i = 0; i < DEEP; i++)
		buffer_append_string(&name, "a<");
	for (int stage = 0; stage < SHORT_NAME_STAGES; stage++)
		short_name_append(&text, (const char *)name.bytes, name.size, (enum short_name_stage)stage);
	for (int i = 0; i < DEEP; i++)
		buffer_append_string(&name, ">");
	for (int i = 0; i < LONG; i++)
		buffer_append_byte(&name, 'x');
	buffer_clear(&text);
	short_name_append(&text, (const char *)name.bytes, name.size, SHORT_NAME_LAST);
	assert_int_equal(text.size, name.size);
	buffer_clear(&name);
	for (int i = 0; i < CLONES; i++)
		buffer_append_string(&name, ".cold");
	buffer_append_string(&name, "!");
	buffer_clear(&text);
	for (int i = 0; i < REPEATS; i++) /* quadratic time would exceed what a test may take */
		short_name_append(&text, (const char *)name.bytes, name.size, SHORT_NAME_LAST);
	buffer_release(&name);
	buffer_release(&text);
}

static void texts_are_cut_in_the_middle(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t columns;
		const char *cut;
	} rows[] = { { "abcdefgh", 8, "abcdefgh" }, { "abcdefgh", 7, "abc…fgh" }, { "abcdefgh", 2, "a…" },
		     { "abcdefgh", 1, "…" },        { "abcdefgh", 0, "" },        { "中中中中", 5, "中…中" } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buffer text;
		buffer_init(&text);
		buffer_append_string(&text, "=");
		buffer_append_string(&text, rows[i].text);
		short_name_cut(&text, 1, rows[i].columns);
		buffer_append_byte(&text, 0);
		assert_string_equal((const char *)text.bytes + 1, rows[i].cut);
		buffer_release(&text);
	}
}

static void columns_are_those_of_a_terminal(void **state)
{
	(void)state;
	assert_int_equal(text_columns("abc", 3), 3);
	assert_int_equal(text_columns("é…", 5), 2);
	assert_int_equal(text_columns("中", 3), 2);
	assert_int_equal(text_columns("e\xcc\x81", 3), 1); /* a combining accent */
	assert_int_equal(text_columns("\xff\xe4", 2), 2);
	assert_int_equal(text_begin("a中b", 5, 2), 1);
	assert_int_equal(text_end("a中b", 5, 2), 4);
}

static const char *wrapped(const char *text, size_t columns)
{
	static char *out;
	size_t size;
	free(out);
	FILE *stream = open_memstream(&out, &size);
	struct line_wrap wrap;
	line_wrap_init(&wrap, stream, columns);
	for (const char *at = text; *at; at++) /* in pieces, as stdio may pass it on */
		assert_int_equal(line_wrap_write(&wrap, at, 1), 0);
	line_wrap_end(&wrap);
	line_wrap_release(&wrap);
	fclose(stream);
	return out;
}

static void long_lines_are_broken(void **state)
{
	(void)state;
	assert_string_equal(wrapped("one two three\nfour\n", 80), "one two three\nfour\n");
	assert_string_equal(wrapped("one two three four", 0), "one two three four");
	assert_string_equal(wrapped("one two three four\n", 13), "one two three\n    four\n");
	assert_string_equal(wrapped("  one two three\n", 10), "  one two\n     three\n");
	assert_string_equal(wrapped("abcdefghij\n", 8), "abcdefgh\n    ij\n");
	assert_string_equal(wrapped("\x1b[31mone two\x1b[0m three\n", 10), "\x1b[31mone two\x1b[0m\n    three\n");
	/* An indent that leaves no room is cut, also the indent of the first row; one whose text fits stays. */
	assert_string_equal(wrapped("          one two\n", 12), "      one\n      two\n");
	assert_string_equal(wrapped("              one\n", 12), "      one\n");
	assert_string_equal(wrapped("          on\n", 12), "          on\n");
	assert_string_equal(wrapped("", 8), "");
	assert_string_equal(wrapped("\n\n", 8), "\n\n");
	free((void *)wrapped("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_short),
		cmocka_unit_test(no_name_becomes_longer),
		cmocka_unit_test(hostile_names_are_bounded),
		cmocka_unit_test(texts_are_cut_in_the_middle),
		cmocka_unit_test(columns_are_those_of_a_terminal),
		cmocka_unit_test(long_lines_are_broken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
