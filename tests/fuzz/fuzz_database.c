/*
 * Arbitrary bytes as compile_commands.json. A database that was read is written as JSON, in its simplest form, and read again:
 * it must have the same entries. Built for libFuzzer, or with replay.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "collect/source/compile/database.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void write_string(struct buffer *json, const char *text)
{
	buffer_append_byte(json, '"');
	for (; *text; text++) {
		char escaped[sizeof("\\u0000")] = { *text };
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			snprintf(escaped, sizeof(escaped), "\\u%04x", (unsigned char)*text);
		buffer_append_string(json, escaped);
	}
	buffer_append_byte(json, '"');
}

static void write_entry(struct buffer *json, const struct database_entry *entry)
{
	buffer_append_string(json, "{\"file\":");
	write_string(json, entry->file);
	if (entry->directory) {
		buffer_append_string(json, ",\"directory\":");
		write_string(json, entry->directory);
	}
	for (size_t i = 0; i < entry->word_count; i++) {
		buffer_append_string(json, i == 0 ? ",\"arguments\":[" : ",");
		write_string(json, entry->words[i]);
	}
	buffer_append_string(json, "]}");
}

static void require_equal(const char *left, const char *right)
{
	require((left == NULL) == (right == NULL) && (!left || strcmp(left, right) == 0));
}

static void compare(const struct database *left, const struct database *right)
{
	require(left->entry_count == right->entry_count);
	for (size_t i = 0; i < left->entry_count; i++) {
		const struct database_entry *a = &left->entries[i], *b = &right->entries[i];
		require(a->file && a->word_count > 0 && a->word_count == b->word_count && !a->words[a->word_count]);
		require_equal(a->file, b->file);
		require_equal(a->directory, b->directory);
		for (size_t word = 0; word < a->word_count; word++)
			require_equal(a->words[word], b->words[word]);
	}
}

static void write_and_read_again(const struct database *database)
{
	struct error error = { 0 };
	struct database again;
	struct buffer json;
	buffer_init(&json);
	for (size_t i = 0; i < database->entry_count; i++) {
		buffer_append_byte(&json, i == 0 ? '[' : ',');
		write_entry(&json, &database->entries[i]);
	}
	buffer_append_string(&json, database->entry_count ? "]" : "[]");
	buffer_append_byte(&json, 0);
	require(buffer_error(&json) == 0);
	require(database_parse(&again, "again", (const char *)json.bytes, json.size - 1, &error) == 0);
	compare(database, &again);
	database_release(&again);
	buffer_release(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { 0 };
	struct database database;
	char *copy = malloc(size + 1);
	require(copy != NULL);
	memcpy(copy, data, size);
	copy[size] = 0;
	int code = database_parse(&database, "input", copy, size, &error);
	require(code == 0 || (code == error.code && error.message[0]));
	if (code == 0) {
		write_and_read_again(&database);
		(void)database_find(&database, "/dev/null");
	}
	database_release(&database);
	free(copy);
	return 0;
}
