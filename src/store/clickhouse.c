/*
 * A store in a database of ClickHouse, over HTTP. The URL is
 * http[s]://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]. Any number of programs write and read at the
 * same time: clickhouse_schema.c describes how.
 */
#include "store/clickhouse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

#define DATABASE "cpprof"

static void close_store(struct store *base)
{
	struct clickhouse_store *store = (struct clickhouse_store *)base;
	http_close(store->http);
	buffer_release(&store->added);
	clickhouse_known_forget(store);
	free(store->known.lists);
	free(store->url);
	free(store);
}

/* Returns whether a text is a plain name, which needs no quotes in SQL. */
static bool is_name(const char *text, size_t length)
{
	bool is_plain = length > 0 && length < CLICKHOUSE_NAME_BYTES && !isdigit((unsigned char)text[0]);
	for (size_t i = 0; i < length && is_plain; i++)
		is_plain = isalnum((unsigned char)text[i]) || text[i] == '_';
	return is_plain;
}

/* Splits the URL in place: the database is cut off. */
static int split_url(struct clickhouse_store *store, size_t place_at, struct error *error)
{
	char *path = store->url + place_at + strcspn(store->url + place_at, "/");
	const char *name = *path && path[1] ? path + 1 : DATABASE;
	size_t length = strcspn(name, "/");
	http_public_url(store->url, store->shown, sizeof(store->shown));
	if (!is_name(name, length) || (name[length] && name[length + 1]))
		return error_set(error, ERROR_USAGE,
				 "'%s' has no name of a database: letters, digits and _ (http://HOST:8123/DATABASE)",
				 store->shown);
	memcpy(store->database, name, length);
	path[0] = '\0';
	size_t bytes = strlen(store->url);
	char *longer = realloc(store->url, bytes + 2);
	if (!longer)
		return error_set(error, ERROR_MEMORY, "cannot open store '%s': out of memory", store->shown);
	memcpy(longer + bytes, "/", 2);
	store->url = longer;
	return 0;
}

static struct clickhouse_store *new_store(const char *url, const char *place, struct error *error)
{
	struct error reason = { 0 };
	struct clickhouse_store *store = calloc(1, sizeof(*store));
	char *copy = store ? strdup(url) : NULL;
	if (!copy) {
		free(store);
		error_set(error, ERROR_MEMORY, "cannot open the store: out of memory");
		return NULL;
	}
	store->url = copy;
	buffer_init(&store->added);
	int status = split_url(store, (size_t)(place - url), error);
	/* A caller that confines itself takes names from somebody else, who is not to reach servers through it. */
	if (status == 0 && path_is_confined())
		status = error_set(error, ERROR_PERMISSION, "cannot open store '%s': only files can be read here",
				   store->shown);
	if (status == 0) {
		store->http = http_open(&reason);
		status = store->http ? 0 : clickhouse_fail(store, "open", reason.code, reason.message, error);
	}
	if (status == 0)
		return store;
	close_store(&store->store);
	return NULL;
}

/* Returns 0 or a negative error. */
static int make(struct clickhouse_store *store, const struct store_settings *settings, struct error *error)
{
	int status = clickhouse_schema_make(store, settings, error);
	if (status == 0)
		status = clickhouse_schema_check(store, error);
	return status > 0 ? clickhouse_fail(store, "make", ERROR_CORRUPT, "its settings are missing", error) : status;
}

static struct store *open_store(const char *url, const char *place, enum store_mode mode, struct error *error)
{
	const struct store_settings settings = { .bucket_ns = STORE_BUCKET_SECONDS * STORE_NS_PER_S };
	struct clickhouse_store *store = new_store(url, place, error);
	if (!store)
		return NULL;
	int status = clickhouse_schema_check(store, error);
	if (status > 0)
		status = mode == STORE_WRITE
				 ? make(store, &settings, error)
				 : clickhouse_fail(store, "open", ERROR_NOT_FOUND,
						   "the database has no store (cpprof store add makes one)", error);
	if (status == 0)
		status = clickhouse_schema_check_cluster(store, error);
	if (status == 0)
		return &store->store;
	close_store(&store->store);
	return NULL;
}

static int create_new(struct clickhouse_store *store, const struct store_settings *settings, struct error *error)
{
	if (settings->bucket_ns % STORE_NS_PER_S)
		return clickhouse_fail(store, "make", ERROR_USAGE, "its buckets are not whole seconds", error);
	if (settings->cluster && !is_name(settings->cluster, strlen(settings->cluster)))
		return error_set(error, ERROR_USAGE, "'%s' is no name of a cluster: letters, digits and _",
				 settings->cluster);
	int status = clickhouse_schema_check(store, error);
	if (status == 0)
		return clickhouse_fail(store, "make", ERROR_USAGE, "it exists (cpprof store add FILE)", error);
	return status < 0 ? status : make(store, settings, error);
}

static int create_store(const char *url, const char *place, const struct store_settings *settings, struct error *error)
{
	struct clickhouse_store *store = new_store(url, place, error);
	if (!store)
		return error->code;
	int status = create_new(store, settings, error);
	close_store(&store->store);
	return status;
}

static int64_t bucket_ns(const struct store *store)
{
	return ((const struct clickhouse_store *)store)->settings.bucket_ns;
}

const struct store_kind store_clickhouse = {
	.schemes = { "http", "https" },
	.create = create_store,
	.open = open_store,
	.close = close_store,
	.bucket_ns = bucket_ns,
	.has = clickhouse_store_has,
	.add = clickhouse_store_add,
	.end = clickhouse_store_end,
	.select = clickhouse_store_select,
	.stats = clickhouse_store_stats,
	.prune = clickhouse_store_prune,
};
