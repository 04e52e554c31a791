/*
 * The bytes are the answers of a server of ClickHouse, each after its length (two bytes, little endian): selecting and counting rows
 * either fails or returns a sound profile. The functions of http/ are those below.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "profile/profile.h"
#include "store/clickhouse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 1 << 24 };

struct http {
	struct cursor answers;
};

struct http *http_open(struct error *error)
{
	(void)error;
	return NULL;
}

void http_close(struct http *http)
{
	(void)http;
}

const char *http_public_url(const char *url, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s", url);
	return text;
}

void http_append_escaped(struct buffer *out, const char *text)
{
	buffer_append_string(out, text);
}

/* An answer comes in two pieces. */
int http_send(struct http *http, const struct http_request *request, struct http_answer *answer, struct error *error)
{
	uint16_t length = cursor_u16(&http->answers);
	const uint8_t *bytes = cursor_bytes(&http->answers, length);
	*answer = (struct http_answer){ .status = 200 };
	if (!bytes)
		return error_set(error, ERROR_UNREACHABLE, "no more answers");
	int status = request->take ? request->take(request->context, bytes, length / 2) : 0;
	return status == 0 && request->take
		       ? request->take(request->context, bytes + length / 2, length - (size_t)length / 2)
		       : status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct store_selection selections[] = {
		{ .from_unix_ns = INT64_MIN, .to_unix_ns = INT64_MAX, .memory = MEMORY },
		{ .from_unix_ns = 0,
		  .to_unix_ns = INT64_MAX / 2,
		  .memory = MEMORY,
		  .resources = (const char *const[]){ "samples" },
		  .resource_count = 1,
		  .labels = { &(struct store_label){ "a", "b" }, 1 } },
	};
	for (size_t i = 0; i < sizeof(selections) / sizeof(selections[0]); i++) {
		struct error error = { 0 };
		struct store_statistics statistics;
		struct http http = { .answers = cursor_over(data, size) };
		struct clickhouse_store store = { .http = &http,
						  .url = (char *)"http://host/",
						  .database = "db",
						  .settings = { .bucket_ns = 10 * STORE_NS_PER_S } };
		struct profile *profile = clickhouse_store_select(&store.store, &selections[i], &error);
		if (profile && profile_check(profile) < 0)
			abort();
		profile_free(profile);
		clickhouse_store_stats(&store.store, &statistics, &error);
	}
	return 0;
}
