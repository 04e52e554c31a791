/*
 * Arbitrary bytes as JSON, as `cpprof mcp` reads its requests. A value that was read is written as `mcp` repeats ids, and read again:
 * it is the same. As a large document, in parts of a few bytes, the same texts are read and refused, but for those with too many levels of
 * large values. Built for libFuzzer, or with replay.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_document.h"
#include "base/json_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void write_and_read(json_t *value)
{
	struct error error = { 0 };
	char *text = json_dumps(value, JSON_ENCODE_ANY);
	require(text != NULL);
	json_t *again = json_text_read(text, strlen(text), JSON_TEXT_ONE_KEY, &error);
	require(again != NULL && json_equal(value, again));
	json_decref(again);
	free(text);
}

/* Whether equal keys made one member of both. */
static bool is_same(const json_t *value, const struct json_node *node)
{
	const char *key;
	const json_t *member;
	bool same = true;
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		json_object_foreach((json_t *)value, key, member) same &=
			json_node_member(node, key) && is_same(member, json_node_member(node, key));
		return same && json_node_is(node, JSON_NODE_OBJECT) && node->count >= json_object_size(value);
	case JSON_ARRAY:
		for (size_t i = 0; i < json_array_size(value); i++)
			same &= json_node_element(node, i) &&
				is_same(json_array_get(value, i), json_node_element(node, i));
		return same && json_node_is(node, JSON_NODE_ARRAY) && json_node_count(node) == json_array_size(value);
	case JSON_STRING:
		return json_node_is(node, JSON_NODE_STRING) && node->count == json_string_length(value) &&
		       memcmp(node->text, json_string_value(value), node->count) == 0;
	case JSON_INTEGER:
	case JSON_REAL:
		return json_node_is(node, JSON_NODE_NUMBER) && json_node_number(node) == json_number_value(value);
	case JSON_TRUE:
		return json_node_is(node, JSON_NODE_TRUE);
	case JSON_FALSE:
		return json_node_is(node, JSON_NODE_FALSE);
	case JSON_NULL:
		return json_node_is(node, JSON_NODE_NULL);
	}
	return false;
}

/* `value`: what the text is, or NULL. `has_doubles`: an object has equal keys. */
static void read_document(char *text, size_t size, const json_t *value, bool has_doubles)
{
	struct error error = { 0 };
	FILE *in = size && !memchr(text, 0, size) ? fmemopen(text, size, "r") : NULL; /* fmemopen ends at a NUL */
	if (!in)
		return;
	struct json_document *document = json_document_read(in, false, 1 + size % 16, &error);
	require((document == NULL) == (error.code != 0));
	require(value || !document);
	require(!document || has_doubles || is_same(value, json_document_root(document)));
	require(!value || document || strstr(error.message, "levels"));
	json_document_free(document);
	fclose(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { 0 };
	char *text = malloc(size ? size : 1); /* exactly as long: reads beyond it are found */
	require(text);
	memcpy(text, data, size);
	json_t *value = json_text_read(text, size, JSON_TEXT_ONE_KEY, &error);
	require((value == NULL) == (error.code != 0));
	const char *string = json_text_string(value);
	require(!string || strlen(string) == json_string_length(value));
	if (value)
		write_and_read(value);
	json_decref(value);
	value = json_text_read(text, size, JSON_TEXT_REALS, &error);
	json_t *strict = json_text_read(text, size, JSON_TEXT_REALS | JSON_TEXT_ONE_KEY, &error);
	read_document(text, size, value, strict == NULL);
	json_decref(strict);
	json_decref(value);
	free(text);
	return 0;
}
