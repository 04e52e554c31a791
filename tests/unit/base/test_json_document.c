/* Large JSON documents, read in parts: values that reach over parts, damaged texts and the byte that an error names, lists without an end, and
 * memory that runs out. tests/fuzz/fuzz_json_text.c compares any text with what the library reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_document.h"
#include "support/alloc_fail.h"

enum { PART = 16 };

static struct json_document *read_text(const char *text, bool open_array, struct error *error)
{
	*error = (struct error){ 0 };
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	assert_non_null(in);
	struct json_document *document = json_document_read(in, open_array, PART, error);
	fclose(in);
	return document;
}

static const char long_text[] = "a string that is longer than a part of the text is";

static void values_reach_over_parts(void **state)
{
	(void)state;
	char text[1024];
	struct error error;
	snprintf(text, sizeof(text),
		 " {\"first\": 1, \"%s\": [[1, 2, 3, 4, 5, 6, 7, 8, 9, \"%s\"], {\"a\": {\"b\": {\"c\": [true, false, "
		 "null]}}}],\n"
		 "  \"quoted\\\"]}\": -1.5e3, \"k0\": 0, \"k1\": 1, \"k2\": 2, \"k3\": 3, \"k4\": 4, \"k5\": 5, "
		 "\"k6\": 6, \"\": {}} ",
		 long_text, long_text);
	struct json_document *document = read_text(text, false, &error);
	assert_non_null(document);
	const struct json_node *root = json_document_root(document), *list = json_node_member(root, long_text);
	assert_int_equal(root->count, 11);
	assert_int_equal(json_node_count(list), 2);
	const struct json_node *numbers = json_node_element(list, 0);
	assert_int_equal(json_node_count(numbers), 10);
	for (size_t i = 0; i < 9; i++)
		assert_true(json_node_number(json_node_element(numbers, i)) == (double)i + 1);
	assert_string_equal(json_node_text(json_node_element(numbers, 9)), long_text);
	const struct json_node *inner = json_node_member(json_node_member(json_node_element(list, 1), "a"), "b");
	inner = json_node_member(inner, "c");
	assert_true(json_node_is(json_node_element(inner, 0), JSON_NODE_TRUE));
	assert_true(json_node_is(json_node_element(inner, 1), JSON_NODE_FALSE));
	assert_true(json_node_is(json_node_element(inner, 2), JSON_NODE_NULL));
	assert_null(json_node_element(inner, 3));
	assert_true(json_node_number(json_node_member(root, "quoted\"]}")) == -1500);
	assert_true(json_node_number(json_node_member(root, "k6")) == 6);
	assert_true(json_node_is(json_node_member(root, ""), JSON_NODE_OBJECT));
	assert_null(json_node_member(root, "k7"));
	assert_null(json_node_text(root));
	assert_null(json_node_member(list, "a"));
	json_document_free(document);
}

static void errors_name_the_byte(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} damaged[] = {
		{ "", "not JSON at byte 0: a value expected" },
		{ "[1, 2, 3, 4, 5, 6, 7, 8, x]", "not JSON at byte 26: invalid token near 'x'" },
		{ "[1, 2, 3, 4, 5, 6, 7, 8,]", "not JSON at byte 25: unexpected token near ']'" },
		{ "[1, 2, 3, 4, 5,  ]", "not JSON at byte 17: an element expected" },
		{ "[1, 2, 3, 4, 5, 6, 7, 8}", "not JSON at byte 23: ',' or ']' expected" },
		{ "[1, 2, 3, 4, 5, 6, 7, 8", "not JSON at byte 23: ']' expected near end of file" },
		{ "[1, 2, 3, 4, 5, 6, 7, 8,", "not JSON at byte 24: ']' expected near end of file" },
		{ "[1, 2, 3, 4, 5, 6, 7, 8] 9", "not JSON at byte 25: end of file expected" },
		{ "{\"a key that is longer than a part\" 1}", "not JSON at byte 36: ':' expected" },
		{ "{\"a key that is \\u0000 longer than a part\": 1}",
		  "not JSON at byte 1: a key is no string, or has a NUL" },
		{ "{7000000000000000000000000000: 1}", "not JSON at byte 1: a key is no string, or has a NUL" },
		{ "{\"key\": {\"key\": \"an unfinished text", "not JSON at byte 35: premature end of input" },
	};
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		struct error error;
		struct json_document *document = read_text(damaged[i].text, false, &error);
		assert_null(document);
		assert_int_equal(error.code, ERROR_FORMAT);
		if (!strstr(error.message, damaged[i].message))
			fail_msg("%s: %s", damaged[i].text, error.message);
	}
}

/* A program that is killed leaves a list without an end. */
static void an_open_list_ends_with_the_file(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int elements; /* -1: refused */
	} lists[] = { { "[", 0 },
		      { "[1", 1 },
		      { "[1,", 1 },
		      { "[1, {\"name\": \"more than a part\"}", 2 },
		      { "[1, {\"name\": \"more than a part\"} ,\n", 2 },
		      { "[1, {\"name\": \"more than a par", -1 },
		      { "{\"list\": [1,", -1 },
		      { "[1, [2, \"more than a part\"", -1 },
		      { "[1,]", -1 } };
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct error error;
		struct json_document *document = read_text(lists[i].text, true, &error);
		if ((document != NULL) != (lists[i].elements >= 0))
			fail_msg("%s: %s", lists[i].text, error.message);
		if (document)
			assert_int_equal(json_node_count(json_document_root(document)), lists[i].elements);
		json_document_free(document);
	}
}

static void levels_are_limited(void **state)
{
	(void)state;
	char text[4096] = "";
	struct error error;
	memset(text, '[', 100);
	snprintf(text + 100, sizeof(text) - 100, "\"%s\"", long_text);
	memset(text + strlen(text), ']', 100);
	assert_null(read_text(text, false, &error));
	assert_string_equal(error.message, "not JSON at byte 64: too many levels of large values");
}

static void memory_may_run_out(void **state)
{
	(void)state;
	static const char text[] = "{\"a\": [1, 2, 3, \"a longer one\", 5], \"another key\": {\"b\": [[], {}]}}";
	ALLOC_FAIL_EACH({
		struct error error;
		struct json_document *document = read_text(text, false, &error);
		assert_true(document ? error.code == 0 : error.code == ERROR_MEMORY);
		json_document_free(document);
	});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_reach_over_parts),
		cmocka_unit_test(errors_name_the_byte),
		cmocka_unit_test(an_open_list_ends_with_the_file),
		cmocka_unit_test(levels_are_limited),
		cmocka_unit_test(memory_may_run_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
