/*
 * Opens a store on SQLite for a reader, which leaves no file that blocks a writer. SQLite keeps two files beside a store while
 * programs use it: the log `-wal` and the index of the log `-shm`. The last program removes both if it may write the store.
 *
 *   the reader may write the store    it reads as writers do, and removes both files if it is the last program
 *   it may not, and there is a log    a writer is at work, or was killed: reads the files that are there, and makes none
 *   it may not, and there is none     reads the store's file alone, without locks, and reads again if the file changed meanwhile
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "store/sqlite.h"

enum { ATTEMPTS = 100, TICK_NS = 20000000 };

/* --- files of SQLite that are opened without making them --- */

static const char vfs_name[] = "cpprof-read";

/* SQLite makes a missing log even for a reader. */
static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *got)
{
	(void)vfs;
	if (flags & SQLITE_OPEN_WAL)
		flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
	sqlite3_vfs *base = sqlite3_vfs_find(NULL);
	return base->xOpen(base, name, file, flags, got);
}

static void register_vfs(void)
{
	static sqlite3_vfs vfs;
	if (sqlite3_vfs_find(vfs_name))
		return;
	vfs = *sqlite3_vfs_find(NULL);
	vfs.zName = vfs_name;
	vfs.xOpen = open_file;
	sqlite3_vfs_register(&vfs, false);
}

/* Returns the URI of a file, with a parameter. The caller frees it. */
static char *uri_of(const char *path, const char *parameter)
{
	struct buffer uri;
	buffer_init(&uri);
	buffer_append_string(&uri, "file:");
	for (const char *at = path; *at; at++)
		buffer_printf(&uri, "%%%02X", (unsigned char)*at);
	buffer_printf(&uri, "?%s=1", parameter);
	buffer_append_byte(&uri, 0);
	if (buffer_error(&uri) == 0)
		return (char *)uri.bytes;
	buffer_release(&uri);
	return NULL;
}

/* --- changes of a file that is read without locks --- */

static bool has_log(const struct sqlite_store *store)
{
	char log[4096];
	struct stat status;
	snprintf(log, sizeof(log), "%s-wal", store->path);
	return stat(log, &status) == 0 && status.st_size > 0;
}

/* Takes the time and size of the file. A later change has another time: the clock of files has passed this one. */
static void watch(struct sqlite_store *store)
{
	const struct timespec tick = { .tv_nsec = TICK_NS };
	struct timespec now;
	store->is_watched = stat(store->path, &store->watched) == 0;
	clock_gettime(CLOCK_REALTIME, &now);
	int64_t age_ns = (int64_t)(now.tv_sec - store->watched.st_mtim.tv_sec) * STORE_NS_PER_S + now.tv_nsec -
			 store->watched.st_mtim.tv_nsec;
	if (age_ns > -TICK_NS && age_ns < TICK_NS)
		nanosleep(&tick, NULL);
}

static bool has_changed(const struct sqlite_store *store)
{
	struct stat now;
	const struct stat *before = &store->watched;
	return store->is_watched &&
	       (stat(store->path, &now) < 0 || now.st_ino != before->st_ino || now.st_size != before->st_size ||
		now.st_mtim.tv_sec != before->st_mtim.tv_sec || now.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

/* --- opening --- */

static void close_database(struct sqlite_store *store)
{
	sqlite3_close(store->db);
	store->db = NULL;
	store->is_watched = false;
}

/* Returns as sqlite_schema_check. */
static int open_own(struct sqlite_store *store, struct error *error)
{
	int status = sqlite_open_database(store, store->path, SQLITE_OPEN_READWRITE, NULL, error);
	if (status == 0)
		status = sqlite_execute(store, "PRAGMA query_only = ON", "open", error);
	return status == 0 ? sqlite_schema_check(store, error) : status;
}

/* The same. */
static int open_foreign(struct sqlite_store *store, bool with_log, struct error *error)
{
	char *uri = uri_of(store->path, with_log ? "readonly_shm" : "immutable");
	if (!uri)
		return error_set(error, ERROR_MEMORY, "cannot open store '%s': out of memory", store->path);
	register_vfs();
	int status = sqlite_open_database(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, vfs_name, error);
	free(uri);
	return status == 0 ? sqlite_schema_check(store, error) : status;
}

/* Opens again while writers come and go. */
static int open_as_it_is(struct sqlite_store *store, struct error *error)
{
	int status = ERROR_PERMISSION;
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		close_database(store);
		watch(store);
		bool with_log = has_log(store);
		store->is_watched = store->is_watched && !with_log;
		status = open_foreign(store, with_log, error);
		/* The files of a writer may have gone meanwhile, and even have come back. */
		if (status != ERROR_PERMISSION && !has_changed(store))
			break;
	}
	if (status == ERROR_PERMISSION && has_log(store))
		return error_set(
			error, ERROR_PERMISSION,
			"cannot open store '%s': its log has to be read by a user who may write it (cpprof store "
			"stats as its owner)",
			store->path);
	return status;
}

int sqlite_open_to_read(struct sqlite_store *store, struct error *error)
{
	int status = ERROR_PERMISSION;
	if (faccessat(AT_FDCWD, store->path, W_OK, AT_EACCESS) == 0)
		status = open_own(store, error);
	/* The folder may belong to others, or its disk is read-only. */
	if (status == ERROR_PERMISSION)
		status = open_as_it_is(store, error);
	if (status == 1)
		status = error_set(error, ERROR_FORMAT,
				   "cannot open store '%s': it is empty (cpprof store add makes one)", store->path);
	return status;
}

int sqlite_read_again(struct sqlite_store *store, int *attempts, struct error *error)
{
	if (!has_changed(store))
		return 0;
	if (++*attempts > ATTEMPTS)
		return error_set(error, ERROR_SYSTEM,
				 "cannot read store '%s': others write to it all the time (try again, or as its owner)",
				 store->path);
	int status = open_as_it_is(store, error);
	return status < 0 ? status : 1;
}
