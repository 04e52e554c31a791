/* Shared by the files of the store on ClickHouse. */
#ifndef STORE_CLICKHOUSE_H
#define STORE_CLICKHOUSE_H

#include "base/buffer.h"
#include "base/hash_map.h"
#include "http/http.h"
#include "store/store.h"

enum {
	CLICKHOUSE_RETRIES = 4,
	/* The time without a byte. The server sends nothing before a query's end. */
	CLICKHOUSE_STALL_S = 600,
	CLICKHOUSE_SHORT_STALL_S =
		20, /* of a request about the tables and the settings, with which each program begins */
	CLICKHOUSE_NAME_BYTES = 65,
	CLICKHOUSE_VALUES_MOST = 16,
	/* A call path is stored in pieces of so many frames: a row has those below the last
	 * ancestor whose depth is a multiple of it. */
	CLICKHOUSE_PIECE_FRAMES = 64,
	/* Names that a recording adds are stored again if they were last stored before. Pruning
	 * keeps them twice as long. */
	CLICKHOUSE_FRESH_S = 86400,
	CLICKHOUSE_LONGEST_S =
		3600, /* of an addition, and of what a writer knows: less than the age of what pruning removes */
	CLICKHOUSE_NAME_TABLES = 4,
	CLICKHOUSE_LISTS_MOST = 32, /* of stacks, to which a recording refers */
};

/* clickhouse_known.c: what a writer knows of the server. */
struct clickhouse_known {
	struct hash_map names[CLICKHOUSE_NAME_TABLES]; /* hashes that the server has, as fresh rows */
	struct hash_map numbers;                       /* of the stacks of all lists, from 1 on */
	uint64_t *lists;                               /* their hashes; owned */
	size_t list_count, list_capacity;
	int64_t since_s; /* the first of all this */
};

struct clickhouse_store {
	struct store store; /* first */
	struct http *http;  /* owned */
	char *url;          /* owned; with user and password, without the database */
	char shown[256];    /* for messages: without user and password */
	char database[CLICKHOUSE_NAME_BYTES];
	struct store_settings settings;
	char cluster[CLICKHOUSE_NAME_BYTES]; /* "": none; settings.cluster points to it */
	struct buffer added;                 /* rows of `profiles` for the parts of a file that do not count yet */
	int64_t added_since_s;               /* the first of them began then */
	struct clickhouse_known known;
};

/* The rows that are sent or received, in the format RowBinary. */
#define CLICKHOUSE_FORMAT " FORMAT RowBinary"

/* A value of a row. Its type is a letter: b UInt8, d UInt32, q UInt64 or Int64, s String, i
 * FixedString(16); arrays: B, D, Q, S. */
struct clickhouse_value {
	uint64_t number;
	const uint8_t *bytes; /* of texts and arrays; not owned */
	size_t size;          /* bytes of it */
	size_t count;         /* elements of an array */
};

struct clickhouse_query {
	const char *sql;   /* without its format */
	const char *types; /* of the columns */
	bool is_system;    /* about the server: the store's database need not exist */
	bool is_short;     /* the server computes nothing for it */
	/* A column `id` of the temporary table `ids`; NULL: none. */
	const uint64_t *ids;
	size_t id_count;
	/* Takes a row, whose values are valid until it returns. Returns 0 or a negative error,
	 * with `error` of the call set. */
	int (*take)(void *context, const struct clickhouse_value *row);
	void *context;
};

/* Sends a query, and passes its rows on while they arrive. Returns 0 or a negative error. */
int clickhouse_select(const struct clickhouse_store *store, const struct clickhouse_query *query, struct error *error);

/* The same for a query whose answer is one row of numbers of type q. */
int clickhouse_numbers(const struct clickhouse_store *store, const char *sql, uint64_t *numbers, size_t count,
		       struct error *error);

/* Executes SQL without results. With `database` false, the store's database need not exist. */
int clickhouse_execute(const struct clickhouse_store *store, const char *sql, bool database, const char *verb,
		       struct error *error);

/* Inserts rows; `into` is "TABLE(COLUMN, ...)". With `is_once`, no row reaches the server twice;
 * ERROR_UNREACHABLE then means that any part of them may have reached it. */
int clickhouse_insert(const struct clickhouse_store *store, const char *into, const struct buffer *rows, bool is_once,
		      struct error *error);

/* Sets the error to "cannot VERB store 'URL': REASON". Returns `code`. */
int clickhouse_fail(const struct clickhouse_store *store, const char *verb, int code, const char *reason,
		    struct error *error);

/* Appends a text as a literal of SQL. */
void clickhouse_append_literal(struct buffer *sql, const char *text);

/* Append values to rows. */
void clickhouse_put_u8(struct buffer *rows, uint8_t value);
void clickhouse_put_u32(struct buffer *rows, uint32_t value);
void clickhouse_put_u64(struct buffer *rows, uint64_t value);
void clickhouse_put_bytes(struct buffer *rows, const void *bytes, size_t size);
void clickhouse_put_text(struct buffer *rows, const char *text);
void clickhouse_put_count(struct buffer *rows, size_t count); /* of an array, before its elements */

/* Reads a row at `at` into values. Returns its bytes, 0 if there are not enough, or ERROR_CORRUPT. */
int64_t clickhouse_read_row(const char *types, const uint8_t *at, size_t size, struct clickhouse_value *row);

/* The element of an array of type B, D or Q. */
uint64_t clickhouse_element(const struct clickhouse_value *array, size_t element_bytes, size_t index);

/* Steps to the next element of an array of type S, from *at = 0 on. Returns false after the last one. */
bool clickhouse_next_text(const struct clickhouse_value *array, size_t *at, const uint8_t **text, size_t *size);

/* SQL: the rows of `profiles` that count, one for each recording. More conditions, ORDER BY and LIVE_ONCE follow. */
#define CLICKHOUSE_LIVE "removed = 0 AND batch GLOBAL NOT IN (SELECT batch FROM profiles WHERE removed = 1)"
#define CLICKHOUSE_LIVE_ONCE " ORDER BY start_ns, batch LIMIT 1 BY identity"

/* The functions of the kind that other files have. */
int clickhouse_store_has(struct store *base, const struct store_recording *recording, struct error *error);
int clickhouse_store_add(struct store *base, const struct store_recording *recording, struct error *error);
int clickhouse_store_end(struct store *base, int status, struct error *error);
struct profile *clickhouse_store_select(struct store *base, const struct store_selection *selection,
					struct error *error);
int clickhouse_store_stats(struct store *base, struct store_statistics *statistics, struct error *error);
int clickhouse_store_prune(struct store *base, int64_t before_unix_ns, const char *service, uint64_t *removed,
			   struct error *error);

/* Returns the time in seconds on a clock that nobody sets. */
int64_t clickhouse_seconds(void);

/* Before a recording is added: forgets what has become too old or too much. */
void clickhouse_known_begin(struct clickhouse_store *store);
/* After a failure, and at the end. */
void clickhouse_known_forget(struct clickhouse_store *store);
/* Sets the numbers of the nodes with rows, in the lists known.lists, after the server has got a list of those that had none. `hashes`, `has_rows`
 * and `numbers` [count]: by node. Returns 0 or a negative error. */
int clickhouse_known_number(struct clickhouse_store *store, const uint64_t *hashes, const bool *has_rows, size_t count,
			    int64_t *numbers, struct error *error);

/* clickhouse_schema.c: the tables of a store on ClickHouse: making them, and checking that a
 * database has exactly these. */

/* Makes the database and the tables that are missing on this server, then the settings if there are none. */
int clickhouse_schema_make(struct clickhouse_store *store, const struct store_settings *settings, struct error *error);

/* Returns 1 if the database has no store, 0 if it has one, whose settings are then set, or a
 * negative error: another program's tables, or another version. */
int clickhouse_schema_check(struct clickhouse_store *store, struct error *error);

/* Checks that all servers of the store's cluster, if it has one, have the same settings. Returns 0 or a negative error. */
int clickhouse_schema_check_cluster(struct clickhouse_store *store, struct error *error);

#endif
