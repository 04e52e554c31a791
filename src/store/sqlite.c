/*
 * A store in a file of SQLite. Writers take turns, each with one transaction for a file, and
 * readers see whole files alone: the journal is a write-ahead log (WAL). A writer that is
 * killed leaves nothing.
 */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

static void close_store(struct store *base)
{
	struct sqlite_store *store = (struct sqlite_store *)base;
	sqlite_known_forget(store);
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}

/* Checks that the path leads to a file of SQLite, before SQLite opens it. Returns its number
 * of bytes, or a negative error. */
static int64_t check_file(const char *path, struct error *error)
{
	static const char magic[] = "SQLite format 3";
	char start[sizeof(magic)];
	struct stat status;
	/* SQLite opens files beside this one by their names. */
	if (path_is_confined())
		return error_set(error, ERROR_PERMISSION, "cannot open store '%s': only files can be read here", path);
	int fd = path_open_regular(path);
	if (fd < 0 || fstat(fd, &status) < 0) {
		int code = error_set_errno(error, "cannot open store '%s'", path);
		if (fd >= 0)
			close(fd);
		return code;
	}
	ssize_t bytes = pread(fd, start, sizeof(start), 0);
	close(fd);
	if (bytes < 0)
		return error_set_errno(error, "cannot read store '%s'", path);
	if (bytes > 0 && (bytes < (ssize_t)sizeof(start) || memcmp(start, magic, sizeof(magic)) != 0))
		return error_set(error, ERROR_FORMAT,
				 "cannot open store '%s': it is no file of SQLite (cpprof store add makes a store)",
				 path);
	return status.st_size;
}

static int open_to_read(struct sqlite_store *store, struct error *error)
{
	int64_t bytes = check_file(store->path, error);
	return bytes < 0 ? (int)bytes : sqlite_open_to_read(store, error);
}

/* Makes the tables if there are none. `may_exist`: a store there is used as it is. */
static int make_tables(struct sqlite_store *store, const struct store_settings *settings, bool may_exist,
		       struct error *error)
{
	int status = sqlite_execute(store, "BEGIN IMMEDIATE", "open", error);
	if (status < 0)
		return status;
	status = sqlite_schema_check(store, error);
	if (status == 0 && !may_exist)
		status = error_set(error, ERROR_USAGE, "cannot make store '%s': it exists (cpprof store add FILE)",
				   store->path);
	else if (status == 1)
		status = sqlite_schema_make(store, settings, error);
	return sqlite_end(store, status, "make", error);
}

static int open_to_write(struct sqlite_store *store, const struct store_settings *settings, bool may_exist,
			 struct error *error)
{
	/* Like profiles, a new store is its owner's alone. */
	int fd = open(store->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool is_new = fd >= 0;
	if (is_new)
		close(fd);
	else if (errno != EEXIST)
		return error_set_errno(error, "cannot make store '%s'", store->path);
	int64_t bytes = check_file(store->path, error);
	int status =
		bytes < 0 ? (int)bytes : sqlite_open_database(store, store->path, SQLITE_OPEN_READWRITE, NULL, error);
	if (status == 0)
		status = make_tables(store, settings, may_exist, error);
	if (status < 0 && is_new)
		unlink(store->path);
	/* A store keeps this mode. Another one that opens it at this moment may delay it to the next time. */
	if (status == 0)
		sqlite3_exec(store->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
	return status;
}

static struct sqlite_store *new_store(const char *path, struct error *error)
{
	struct sqlite_store *store = calloc(1, sizeof(*store));
	if (store)
		store->path = strdup(path);
	if (store && store->path)
		return store;
	free(store);
	error_set(error, ERROR_MEMORY, "cannot open store '%s': out of memory", path);
	return NULL;
}

static struct store *open_store(const char *url, const char *path, enum store_mode mode, struct error *error)
{
	const struct store_settings settings = { .bucket_ns = STORE_BUCKET_SECONDS * STORE_NS_PER_S };
	(void)url;
	struct sqlite_store *store = new_store(path, error);
	if (!store)
		return NULL;
	int status = mode == STORE_WRITE ? open_to_write(store, &settings, true, error) : open_to_read(store, error);
	if (status == 0)
		return &store->store;
	close_store(&store->store);
	return NULL;
}

static int create_store(const char *url, const char *path, const struct store_settings *settings, struct error *error)
{
	(void)url;
	if (settings->cluster)
		return error_set(
			error, ERROR_USAGE,
			"cannot make store '%s': a file is not distributed over a cluster (leave out --cluster)", path);
	struct sqlite_store *store = new_store(path, error);
	if (!store)
		return error->code;
	int status = open_to_write(store, settings, false, error);
	close_store(&store->store);
	return status;
}

static int64_t bucket_ns(const struct store *store)
{
	return ((const struct sqlite_store *)store)->settings.bucket_ns;
}

const struct store_kind store_sqlite = {
	.schemes = { "sqlite" },
	.create = create_store,
	.open = open_store,
	.close = close_store,
	.bucket_ns = bucket_ns,
	.has = sqlite_store_has,
	.add = sqlite_store_add,
	.end = sqlite_store_end,
	.select = sqlite_store_select,
	.stats = sqlite_store_stats,
	.prune = sqlite_store_prune,
};
