/*
 * Arbitrary bytes as JSON, as `cpprof mcp` reads its requests. A value that was read is written as `mcp` repeats ids, and read again:
 * it is the same. Built for libFuzzer, or with replay.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
	free(text);
	return 0;
}
