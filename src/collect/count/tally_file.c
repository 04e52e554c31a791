#include "collect/count/tally_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file_place.h"
#include "base/path.h"
#include "collect/sample/clock.h"
#include "collect/sample/preload/requests.h"
#include "collect/sample/process_list.h"

/* --- the file --- */

/* Sets `folder` to the absolute path of the place's folder. Returns false with errno set. */
static bool find_folder(const struct file_place *place, char folder[PATH_MAX])
{
	char link[64];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place->folder);
	ssize_t length = readlink(link, folder, PATH_MAX - 1);
	if (length < 0)
		return false;
	folder[length] = 0;
	return true;
}

/* Creates the file under this name beside the output. Returns 0 or ERROR_MEMORY; tally->fd is
 * -1, with errno set, if the file cannot be created. */
static int create_as(struct instrumented_tally *tally, const char *folder, const char *name)
{
	free(tally->path);
	if (asprintf(&tally->path, "%s/%s", folder[1] ? folder : "", name) < 0) {
		tally->path = NULL;
		return ERROR_MEMORY;
	}
	tally->fd = file_place_create(&tally->place, name, O_RDWR);
	return 0;
}

/* Makes a tally that a killed recorder has left the output, as that recorder would have done: the counts are kept. The
 * recorder of a tally has it locked. Returns whether the name is free now. */
static bool publish_left(const struct instrumented_tally *tally, const char *name)
{
	struct instrumented_tally left = { .place = tally->place, .path = tally->path };
	struct stat status;
	char magic[sizeof(left.header->magic)];
	struct error error = { 0 };
	uint64_t bytes;
	left.fd = openat(tally->place.folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool is_left = left.fd >= 0 && fstat(left.fd, &status) == 0 && S_ISREG(status.st_mode) &&
		       file_place_is_ours(status.st_uid) && flock(left.fd, LOCK_EX | LOCK_NB) == 0 &&
		       pread(left.fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
		       memcmp(magic, TALLY_MAGIC, sizeof(magic)) == 0 && instrumented_tally_running(&left) == 0;
	is_left = is_left && instrumented_tally_publish(&left, &bytes, &error) == 0;
	if (left.fd >= 0)
		close(left.fd);
	return is_left;
}

/* Creates the file under the first free name: "OUTPUT.tally" or, if another recorder uses that, "OUTPUT.PID.tally". */
static int create(struct instrumented_tally *tally, const char *output, struct error *error)
{
	char folder[PATH_MAX], name[NAME_MAX + 64];
	const struct file_place *place = &tally->place;
	int result = file_place_find(&tally->place, output, error);
	if (result < 0)
		return result;
	if (!find_folder(place, folder))
		return error_set_errno(error, "cannot write '%s'", place->path);
	snprintf(name, sizeof(name), "%s.tally", place->name);
	result = create_as(tally, folder, name);
	bool exists = result == 0 && tally->fd < 0 && errno == EEXIST;
	if (exists && publish_left(tally, name)) {
		result = create_as(tally, folder, name);
		exists = result == 0 && tally->fd < 0 && errno == EEXIST;
	}
	if (exists) {
		snprintf(name, sizeof(name), "%s.%d.tally", place->name, (int)getpid());
		result = create_as(tally, folder, name);
	}
	if (result < 0)
		return error_memory(error);
	if (tally->fd >= 0) {
		flock(tally->fd, LOCK_EX | LOCK_NB); /* without locks, a tally that is left stays where it is */
		return 0;
	}
	error_set_errno(error, "cannot write the tally '%s'", tally->path);
	free(tally->path);
	tally->path = NULL;
	return error->code;
}

/* --- its header --- */

static void copy_text(char *to, size_t bytes, const char *from)
{
	snprintf(to, bytes, "%s", from);
}

static void fill_request(struct tally_request *row, const struct resource_request *asked)
{
	const struct channel_request request = preload_request_of(asked);
	row->interval = request.interval;
	row->counter = request.counter;
	row->fp_kinds = request.fp_kinds;
	copy_text(row->own, sizeof(row->own), request.name);
	copy_text(row->name, sizeof(row->name), asked->name);
	copy_text(row->title, sizeof(row->title), asked->title);
	copy_text(row->unit, sizeof(row->unit), asked->gtick);
}

/* Returns the largest size of the file: nine tenths of the free disk space, 64 GiB at most. Others may need the last
 * tenth, and the trace of a long run has no other limit. */
static uint64_t limit_of(int fd)
{
	static const uint64_t most = UINT64_C(64) << 30;
	enum { TENTHS = 10, TAKEN = 9 };
	struct statvfs disk;
	uint64_t free_bytes =
		fstatvfs(fd, &disk) == 0 ? (uint64_t)disk.f_bavail * disk.f_frsize / TENTHS * TAKEN : most;
	return free_bytes < most ? free_bytes : most;
}

static void fill_header(struct instrumented_tally *tally, enum tally_measurement measurement,
			const struct backend_request *request)
{
	struct tally_header *header = tally->header;
	memcpy(header->magic, TALLY_MAGIC, sizeof(header->magic));
	header->version = TALLY_VERSION;
	header->measurement = measurement;
	header->used = TALLY_HEADER_BYTES;
	header->limit = limit_of(tally->fd);
	header->tick_ns = preload_tick_ns(request);
	header->start_ns = clock_now_ns(CLOCK_MONOTONIC);
	header->start_unix_ns = (int64_t)clock_now_ns(CLOCK_REALTIME);
	header->starts_paused = request->paused;
	for (size_t i = 0; i < request->resource_count && i < TALLY_REQUESTS; i++)
		fill_request(&header->requests[header->request_count++], &request->resources[i]);
}

int instrumented_tally_make(struct instrumented_tally *tally, const char *output, enum tally_measurement measurement,
			    const struct backend_request *request, struct error *error)
{
	*tally = (struct instrumented_tally){ .place.folder = -1, .fd = -1 };
	int result = create(tally, output, error);
	if (result < 0)
		return result;
	void *mapped = MAP_FAILED;
	errno = posix_fallocate(tally->fd, 0, TALLY_HEADER_BYTES);
	if (errno == 0)
		mapped = mmap(NULL, TALLY_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, tally->fd, 0);
	if (mapped == MAP_FAILED) {
		error_set_errno(error, "cannot write the tally '%s'", tally->path);
		instrumented_tally_remove(tally);
		return error->code;
	}
	tally->header = mapped;
	fill_header(tally, measurement, request);
	return 0;
}

/* --- processes that count in it --- */

static bool is_running(const struct tally_process *process)
{
	return process->chunk.kind == TALLY_PROCESS && process->end_ns == 0 && process->pid > 0 &&
	       process->pid <= INT_MAX && (kill((pid_t)process->pid, 0) == 0 || errno == EPERM) &&
	       !process_has_ended((pid_t)process->pid);
}

size_t instrumented_tally_running(const struct instrumented_tally *tally)
{
	size_t count = 0;
	struct tally_process process;
	off_t at = TALLY_HEADER_BYTES;
	while (pread(tally->fd, &process, sizeof(process), at) == (ssize_t)sizeof(process)) {
		bool is_chunk = process.chunk.magic == TALLY_CHUNK_MAGIC && process.chunk.bytes > 0 &&
				process.chunk.bytes % TALLY_GRANULE == 0 && process.chunk.bytes < INT64_MAX / 2;
		count += is_chunk && is_running(&process);
		at += is_chunk ? (off_t)process.chunk.bytes : TALLY_GRANULE;
	}
	return count;
}

uint32_t instrumented_tally_processes(const struct instrumented_tally *tally)
{
	return __atomic_load_n(&tally->header->processes, __ATOMIC_RELAXED);
}

/* --- its end --- */

void instrumented_tally_end(struct instrumented_tally *tally)
{
	__atomic_store_n(&tally->header->is_over, 1, __ATOMIC_SEQ_CST);
}

int instrumented_tally_publish(struct instrumented_tally *tally, uint64_t *bytes, struct error *error)
{
	const struct file_place *place = &tally->place;
	struct stat status;
	char *old;
	if (asprintf(&old, "%s.old", place->name) < 0)
		return error_memory(error);
	int result = 0;
	*bytes = fstat(tally->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
	if (renameat(place->folder, place->name, place->folder, old) < 0 && errno != ENOENT)
		result = error_set_errno(error, "cannot keep the older file as '%s.old'", place->path);
	if (result == 0 && renameat(place->folder, path_basename(tally->path), place->folder, place->name) < 0)
		result = error_set_errno(error, "cannot write '%s'", place->path);
	free(old);
	return result;
}

void instrumented_tally_remove(struct instrumented_tally *tally)
{
	if (tally->path)
		unlink(tally->path);
	instrumented_tally_release(tally);
}

void instrumented_tally_release(struct instrumented_tally *tally)
{
	if (tally->header)
		munmap(tally->header, TALLY_HEADER_BYTES);
	if (tally->fd >= 0)
		close(tally->fd);
	free(tally->path);
	file_place_release(&tally->place);
	*tally = (struct instrumented_tally){ .place.folder = -1, .fd = -1 };
}
