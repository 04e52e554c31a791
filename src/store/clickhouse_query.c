/* Requests to a server of ClickHouse over HTTP, and the rows that they carry. */
#include <stdlib.h>
#include <string.h>

#include "base/safe_text.h"
#include "store/clickhouse.h"

enum { ROW_MOST = 1 << 28, LONG_ROW = 1 << 20 };

int clickhouse_fail(const struct clickhouse_store *store, const char *verb, int code, const char *reason,
		    struct error *error)
{
	return error_set(error, code, "cannot %s store '%s': %s", verb, store->shown, reason);
}

/* --- errors --- */

/* Returns the number of the server's exception, or 0 if the text has none: "Code: 60, e.displayText() = ...". */
static long exception_of(const char *text)
{
	static const char start[] = "Code: ";
	return strncmp(text, start, sizeof(start) - 1) == 0 ? strtol(text + sizeof(start) - 1, NULL, 10) : 0;
}

/* Exceptions that may pass: the server or a shard is busy, starts, or cannot be reached. */
static bool is_final(const char *text)
{
	static const long temporary[] = { 159, 202, 203, 209, 210, 225, 236, 241, 242, 252, 279, 319, 394, 999 };
	long exception = exception_of(text);
	for (size_t i = 0; i < sizeof(temporary) / sizeof(temporary[0]); i++)
		if (exception == temporary[i])
			return false;
	return exception != 0;
}

static int code_of(const struct http_answer *answer, int code)
{
	enum { NO_SPACE = 243, NO_TABLE = 60, NO_DATABASE = 81 };
	enum { UNKNOWN_USER = 192, WRONG_PASSWORD = 193, NEEDS_PASSWORD = 194, NO_ADDRESS = 195, READ_ONLY = 164 };
	enum { NO_ACCESS = 291, DENIED = 497, NOT_AUTHENTICATED = 516, UNAUTHORIZED = 401, FORBIDDEN = 403 };
	/* A shard says so while the server connects to it. */
	if (strstr(answer->text, "There is no table"))
		return ERROR_NOT_FOUND;
	if (answer->status == UNAUTHORIZED || answer->status == FORBIDDEN)
		return ERROR_PERMISSION;
	switch (exception_of(answer->text)) {
	case NO_SPACE:
		return ERROR_NO_SPACE;
	case NO_TABLE:
	case NO_DATABASE:
		return ERROR_NOT_FOUND;
	case UNKNOWN_USER:
	case WRONG_PASSWORD:
	case NEEDS_PASSWORD:
	case NO_ADDRESS:
	case NO_ACCESS:
	case DENIED:
	case NOT_AUTHENTICATED:
	case READ_ONLY:
		return ERROR_PERMISSION;
	default:
		return code;
	}
}

/* Returns the whole of an exception as one line, in `line`, or the reason otherwise. */
static const char *reason_of(const struct http_answer *answer, const char *reason, char *line, size_t bytes)
{
	size_t used = 0;
	if (!exception_of(answer->text))
		return reason;
	for (const char *at = answer->text; *at && used + 1 < bytes; at++)
		if ((unsigned char)*at > ' ' || (used > 0 && line[used - 1] != ' '))
			line[used++] = (unsigned char)*at > ' ' ? *at : ' ';
	line[used] = 0;
	return safe_word(line, reason);
}

/* --- requests --- */

struct sending {
	const struct clickhouse_store *store;
	const char *sql;
	bool has_database, is_once, is_short;
	const char *more; /* parameters: "&name=value" */
	const struct http_part *parts;
	size_t part_count;
	const char *verb;
	int (*take)(void *context, const void *bytes, size_t size);
	void *context;
};

static int send_request(const struct sending *sending, struct error *error)
{
	const struct clickhouse_store *store = sending->store;
	struct buffer url;
	buffer_init(&url);
	/* The server collects the whole answer before it sends it, so that errors have a status of their own. */
	buffer_printf(&url, "%s?wait_end_of_query=1%s&query=", store->url, sending->more);
	http_append_escaped(&url, sending->sql);
	if (sending->has_database)
		buffer_printf(&url, "&database=%s", store->database);
	buffer_append_byte(&url, 0);
	if (buffer_error(&url) < 0)
		return clickhouse_fail(store, sending->verb, ERROR_MEMORY, error_text(ERROR_MEMORY), error);
	const struct http_request request = { .url = (const char *)url.bytes,
					      .parts = sending->parts,
					      .part_count = sending->part_count,
					      .retries = CLICKHOUSE_RETRIES,
					      .is_once = sending->is_once,
					      .has_netrc = true,
					      .stall_s =
						      sending->is_short ? CLICKHOUSE_SHORT_STALL_S : CLICKHOUSE_STALL_S,
					      .take = sending->take,
					      .context = sending->context,
					      .is_final = is_final };
	struct http_answer answer;
	struct error reason = { 0 };
	int status = http_send(store->http, &request, &answer, &reason);
	buffer_release(&url);
	if (status == 0 || reason.code == 0)
		return status; /* the taker has set the error */
	char line[sizeof(answer.text)];
	return clickhouse_fail(store, sending->verb, code_of(&answer, status),
			       reason_of(&answer, reason.message, line, sizeof(line)), error);
}

int clickhouse_execute(const struct clickhouse_store *store, const char *sql, bool database, const char *verb,
		       struct error *error)
{
	const struct http_part body = { NULL, "text/plain", "", 0 };
	const struct sending sending = { .store = store,
					 .sql = sql,
					 .has_database = database,
					 .more = "&insert_distributed_sync=1",
					 .parts = &body,
					 .part_count = 1,
					 .verb = verb };
	return send_request(&sending, error);
}

int clickhouse_insert(const struct clickhouse_store *store, const char *into, const struct buffer *rows, bool is_once,
		      struct error *error)
{
	if (buffer_error(rows) < 0)
		return clickhouse_fail(store, "write", ERROR_MEMORY, error_text(ERROR_MEMORY), error);
	const struct http_part body = { NULL, "application/octet-stream", rows->bytes, rows->size };
	char sql[512];
	snprintf(sql, sizeof(sql), "INSERT INTO %s" CLICKHOUSE_FORMAT, into);
	/* With a cluster, an insertion ends when the shards have the rows. */
	const struct sending sending = { .store = store,
					 .sql = sql,
					 .has_database = true,
					 .is_once = is_once,
					 .more = "&insert_distributed_sync=1",
					 .parts = &body,
					 .part_count = 1,
					 .verb = "write" };
	return rows->size == 0 ? 0 : send_request(&sending, error);
}

/* --- answers --- */

struct receiving {
	const struct clickhouse_store *store;
	const struct clickhouse_query *query;
	struct buffer rest; /* the beginning of a row whose end has not come yet */
	size_t wanted;      /* bytes of it with which it is read again: a long row is not read with each piece */
	struct error *error;
};

static int refuse_answer(const struct receiving *receiving, const char *reason)
{
	return clickhouse_fail(receiving->store, "read", ERROR_CORRUPT, reason, receiving->error);
}

/* Passes on all whole rows. Returns the bytes that are used up, or a negative error. */
static int64_t take_rows(const struct receiving *receiving, const uint8_t *bytes, size_t size)
{
	struct clickhouse_value row[CLICKHOUSE_VALUES_MOST];
	size_t used = 0;
	while (used < size) {
		int64_t length = clickhouse_read_row(receiving->query->types, bytes + used, size - used, row);
		if (length < 0)
			return refuse_answer(receiving, "the server's answer has no rows of a store");
		if (length == 0)
			break;
		int status = receiving->query->take(receiving->query->context, row);
		if (status < 0)
			return status;
		used += (size_t)length;
	}
	return (int64_t)used;
}

static int take_bytes(void *context, const void *bytes, size_t size)
{
	struct receiving *receiving = context;
	struct buffer *rest = &receiving->rest;
	bool is_whole = rest->size == 0;
	if (!is_whole)
		buffer_append(rest, bytes, size);
	if (rest->size > ROW_MOST)
		return refuse_answer(receiving, "a row of the server's answer is too long");
	if (buffer_error(rest) < 0)
		return clickhouse_fail(receiving->store, "read", ERROR_MEMORY, error_text(ERROR_MEMORY),
				       receiving->error);
	if (!is_whole && rest->size < receiving->wanted)
		return 0;
	const uint8_t *from = is_whole ? bytes : rest->bytes;
	size_t length = is_whole ? size : rest->size;
	int64_t used = take_rows(receiving, from, length);
	if (used < 0)
		return (int)used;
	if (is_whole) {
		buffer_append(rest, from + used, length - (size_t)used);
	} else {
		memmove(rest->bytes, rest->bytes + used, length - (size_t)used);
		rest->size = length - (size_t)used;
	}
	receiving->wanted = rest->size > LONG_ROW ? 2 * rest->size : 0;
	return 0;
}

int clickhouse_select(const struct clickhouse_store *store, const struct clickhouse_query *query, struct error *error)
{
	struct receiving receiving = { .store = store, .query = query, .error = error };
	struct buffer sql;
	buffer_init(&sql);
	buffer_init(&receiving.rest);
	buffer_printf(&sql, "%s" CLICKHOUSE_FORMAT, query->sql);
	buffer_append_byte(&sql, 0);
	const struct http_part part = { query->ids ? "ids" : NULL, "application/octet-stream",
					query->ids ? (const void *)query->ids : "",
					query->id_count * sizeof(*query->ids) };
	const struct sending sending = { .store = store,
					 .sql = (const char *)sql.bytes,
					 .has_database = !query->is_system,
					 .is_short = query->is_short,
					 .more = query->ids ? "&ids_format=RowBinary&ids_structure=id%20UInt64" : "",
					 .parts = &part,
					 .part_count = 1,
					 .verb = "read",
					 .take = take_bytes,
					 .context = &receiving };
	int status = buffer_error(&sql) < 0
			     ? clickhouse_fail(store, "read", ERROR_MEMORY, error_text(ERROR_MEMORY), error)
			     : send_request(&sending, error);
	receiving.wanted = 0;
	if (status == 0 && receiving.rest.size > 0)
		status = take_bytes(&receiving, "", 0);
	if (status == 0 && receiving.rest.size > 0)
		status = refuse_answer(&receiving, "the server's answer ends within a row");
	buffer_release(&receiving.rest);
	buffer_release(&sql);
	return status;
}

struct numbers {
	uint64_t *numbers;
	size_t count, rows;
};

static int take_numbers(void *context, const struct clickhouse_value *row)
{
	struct numbers *numbers = context;
	for (size_t i = 0; i < numbers->count; i++)
		numbers->numbers[i] = row[i].number;
	numbers->rows++;
	return 0;
}

int clickhouse_numbers(const struct clickhouse_store *store, const char *sql, uint64_t *numbers, size_t count,
		       struct error *error)
{
	static const char types[] = "qqqqqqqqqqqqqqqq";
	struct numbers taken = { .numbers = numbers, .count = count };
	const struct clickhouse_query query = {
		.sql = sql, .types = types + sizeof(types) - 1 - count, .take = take_numbers, .context = &taken
	};
	int status = clickhouse_select(store, &query, error);
	if (status == 0 && taken.rows != 1)
		status = clickhouse_fail(store, "read", ERROR_CORRUPT, "the server's answer is not one row", error);
	return status;
}
