/*
 * The tally's file, and how it grows. Its path is fixed at start. The file is opened when it is needed and closed
 * again, because a program may close all descriptors, or count them.
 *
 *   header->used    The bytes [0, used) are taken, by whole chunks. To add a chunk, a thread moves `used` (compare
 *                   and swap), reserves disk space, maps the chunk, fills it in and sets its kind. If a step
 *                   fails, the thread moves `used` back, unless another chunk was added behind it; then a gap
 *                   remains.
 *
 * Without disk space a store to the mapped file would end the program with a signal, so the space is reserved
 * before.
 */
#include "collect/agent/hooks/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "collect/agent/hooks/hooks.h"
#include "collect/agent/hooks/system.h"

/* The file's path; its path after a new recording has taken that path; and the file's identity under either. */
static char tally_path[PATH_MAX], older_path[PATH_MAX];
static struct tally_identity {
	uint64_t device, inode;
} identity;

/* --- the file --- */

static long open_file(const char *path, int flags)
{
	enum { MODE = 0600 }; /* it contains the names of programs and files */
	return machine_syscall(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, MODE, 0, 0);
}

static void close_file(long fd)
{
	machine_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

static void *map_file(long fd, uint64_t at, uint64_t bytes)
{
	long mapped = machine_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (long)at);
	return system_is_error(mapped) ? NULL : (void *)mapped;
}

/* Returns false if the file may not become so large (RLIMIT_FSIZE): the kernel would send a signal. */
static bool may_be_so_large(uint64_t bytes)
{
	struct rlimit limit;
	long got = machine_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0);
	return got < 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

static bool write_at(long fd, const void *bytes, uint64_t count, uint64_t at)
{
	while (count > 0) {
		long written = machine_syscall(SYS_pwrite64, fd, (long)bytes, (long)count, (long)at, 0, 0);
		if (written == -EINTR)
			continue;
		if (written <= 0)
			return false;
		bytes = (const uint8_t *)bytes + written;
		at += (uint64_t)written;
		count -= (uint64_t)written;
	}
	return true;
}

static bool write_zeros(long fd, uint64_t at, uint64_t bytes)
{
	static const uint8_t zeros[4096];
	for (uint64_t done = 0; done < bytes; done += sizeof(zeros))
		if (!write_at(fd, zeros, sizeof(zeros), at + done))
			return false;
	return true;
}

/* Returns 0, or the negative error number. */
static long reserve(long fd, uint64_t at, uint64_t bytes)
{
	long result;
	if (!may_be_so_large(at + bytes))
		return -EFBIG;
	do
		result = machine_syscall(SYS_fallocate, fd, 0, (long)at, (long)bytes, 0, 0);
	while (result == -EINTR);
	if (result == -EOPNOTSUPP || result == -ENOSYS)
		return write_zeros(fd, at, bytes) ? 0 : -ENOSPC;
	return result;
}

static bool store_path(const char *path)
{
	size_t bytes = strnlen(path, sizeof(tally_path));
	if (path[0] != '/' || bytes == sizeof(tally_path))
		return false;
	memcpy(tally_path, path, bytes + 1);
	return true;
}

/* Appends to a path. Returns false if there is no room. */
static bool append(char path[PATH_MAX], const char *text)
{
	size_t before = strlen(path), bytes = strlen(text);
	if (before + bytes >= PATH_MAX)
		return false;
	memcpy(path + before, text, bytes + 1);
	return true;
}

static bool identify(long fd, struct tally_identity *found)
{
	struct stat status;
	if (machine_syscall(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) < 0)
		return false;
	*found = (struct tally_identity){ .device = status.st_dev, .inode = status.st_ino };
	return true;
}

static void store_identity(long fd)
{
	(void)identify(fd, &identity);
	memcpy(older_path, tally_path, sizeof(older_path));
	if (!append(older_path, ".old"))
		older_path[0] = 0;
}

static long open_if_ours(const char *path)
{
	struct tally_identity found;
	long fd = open_file(path, O_RDWR);
	if (system_is_error(fd) ||
	    (identify(fd, &found) && found.device == identity.device && found.inode == identity.inode))
		return fd;
	close_file(fd);
	return -ENOENT;
}

/* Another process may have renamed the file: a recorder renames an older file at its path to PATH.old. */
static long open_tally(void)
{
	long fd = open_if_ours(tally_path);
	return fd == -ENOENT && older_path[0] ? open_if_ours(older_path) : fd;
}

static struct tally_header *map_header(long fd)
{
	struct stat status;
	if (machine_syscall(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) < 0 || status.st_size < TALLY_HEADER_BYTES)
		return NULL;
	struct tally_header *header = map_file(fd, 0, TALLY_HEADER_BYTES);
	if (header && memcmp(header->magic, TALLY_MAGIC, sizeof(header->magic)) == 0 &&
	    header->version == TALLY_VERSION && header->measurement < TALLY_MEASUREMENTS &&
	    header->request_count <= TALLY_REQUESTS && !header->is_over) {
		runtime_find_time_offset();
		return header;
	}
	if (header)
		machine_syscall(SYS_munmap, (long)header, TALLY_HEADER_BYTES, 0, 0, 0, 0);
	return NULL;
}

struct tally_header *tally_open(const char *path)
{
	long fd = store_path(path) ? open_file(path, O_RDWR) : -1;
	if (system_is_error(fd))
		return NULL;
	struct tally_header *header = map_header(fd);
	store_identity(fd);
	close_file(fd);
	return header;
}

/* --- the file of a program that runs alone --- */

static void fill_header(struct tally_header *header, enum tally_measurement measurement)
{
	static const uint64_t limit = 16ULL << 30, tick_ns = 1000 * 1000;
	struct tally_request *request = &header->requests[0];
	header->version = TALLY_VERSION;
	header->measurement = measurement;
	header->used = TALLY_HEADER_BYTES;
	header->limit = limit;
	header->start_ns = runtime_stamp_ns();
	header->start_unix_ns = (int64_t)runtime_now_ns(CLOCK_REALTIME);
	if (measurement != TALLY_COUNTS) {
		header->tick_ns = tick_ns;
		header->request_count = 1;
	}
	*request = (struct tally_request){
		.interval = tick_ns, .counter = COUNTER_CPU, .name = "cpu", .title = "CPU Time", .unit = "ns"
	};
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(header->magic, TALLY_MAGIC, sizeof(header->magic));
}

/* Returns true if this is the chunk of another process, which still runs. */
static bool is_live(const struct tally_process *process)
{
	return process->chunk.kind == TALLY_PROCESS && process->end_ns == 0 && process->pid != system_pid() &&
	       machine_syscall(SYS_kill, process->pid, 0, 0, 0, 0, 0) != -ESRCH;
}

/* Returns true if an older file is in use: a process still counts in it, or a recorder, which locks it, still writes
 * it. */
static bool is_in_use(const char *path)
{
	static union { /* too large for a stack that a hook may be called on */
		struct tally_header header;
		struct tally_process process;
	} read;
	bool found = false;
	long fd = open_file(path, O_RDONLY);
	if (system_is_error(fd))
		return fd == -EACCES; /* another user's: it may be */
	found = machine_syscall(SYS_flock, fd, LOCK_SH | LOCK_NB, 0, 0, 0, 0) == -EWOULDBLOCK;
	long got = machine_syscall(SYS_pread64, fd, (long)&read.header, sizeof(read.header), 0, 0, 0);
	bool is_tally = got == (long)sizeof(read.header) &&
			memcmp(read.header.magic, TALLY_MAGIC, sizeof(read.header.magic)) == 0;
	uint64_t at = TALLY_HEADER_BYTES;
	while (is_tally && !found &&
	       machine_syscall(SYS_pread64, fd, (long)&read.process, sizeof(read.process), (long)at, 0, 0) ==
		       (long)sizeof(read.process)) {
		bool is_chunk = read.process.chunk.magic == TALLY_CHUNK_MAGIC && read.process.chunk.bytes &&
				read.process.chunk.bytes % TALLY_GRANULE == 0;
		found = is_chunk && is_live(&read.process);
		at += is_chunk ? read.process.chunk.bytes : TALLY_GRANULE;
	}
	close_file(fd);
	return found;
}

static bool append_pid(char path[PATH_MAX])
{
	enum { DECIMAL = 10 };
	char text[16];
	size_t at = sizeof(text) - 1;
	text[at] = 0;
	for (uint32_t left = system_pid(); left; left /= DECIMAL)
		text[--at] = (char)('0' + left % DECIMAL);
	text[--at] = '.';
	return append(path, text + at);
}

/* Returns true if the path exists and is not a regular file, which must not be opened or renamed. Sets *number to the
 * error number, 0 for a device. */
static bool is_no_file(const char *path, int *number)
{
	struct stat status;
	if (machine_syscall(SYS_newfstatat, AT_FDCWD, (long)path, (long)&status, 0, 0, 0) != 0 ||
	    S_ISREG(status.st_mode))
		return false;
	*number = S_ISCHR(status.st_mode) ? 0 : S_ISDIR(status.st_mode) ? EISDIR : EOPNOTSUPP;
	return true;
}

/* Returns 0, also if there is no older file, or the negative error number. */
static long move_away(const char *path)
{
	static char old[PATH_MAX];
	memcpy(old, path, strnlen(path, PATH_MAX - 1) + 1);
	long result =
		append(old, ".old") ? machine_syscall(SYS_rename, (long)path, (long)old, 0, 0, 0, 0) : -ENAMETOOLONG;
	return result == -ENOENT ? 0 : result;
}

/* Returns the file's descriptor, or the negative error number. */
static long make_file(void)
{
	long result = move_away(tally_path);
	return result < 0 ? result : open_file(tally_path, O_RDWR | O_CREAT | O_EXCL);
}

static struct tally_header *map_new(long fd, enum tally_measurement measurement, int *number)
{
	long result = reserve(fd, 0, TALLY_HEADER_BYTES);
	struct tally_header *header = result == 0 ? map_file(fd, 0, TALLY_HEADER_BYTES) : NULL;
	runtime_find_time_offset();
	if (header)
		fill_header(header, measurement);
	else
		*number = result < 0 ? (int)-result : ENOMEM;
	return header;
}

struct tally_header *tally_make(const char *path, enum tally_measurement measurement, int *number)
{
	*number = ENAMETOOLONG;
	if (!store_path(path))
		return NULL;
	if (is_no_file(tally_path, number))
		return NULL;
	long fd = is_in_use(tally_path) ? -EEXIST : make_file();
	if (fd == -EEXIST && append_pid(tally_path))
		fd = make_file();
	if (system_is_error(fd)) {
		*number = (int)-fd;
		return NULL;
	}
	store_identity(fd);
	struct tally_header *header = map_new(fd, measurement, number);
	close_file(fd);
	if (!header)
		machine_syscall(SYS_unlink, (long)tally_path, 0, 0, 0, 0, 0);
	return header;
}

/* --- chunks --- */

/* Takes bytes at the end of the file. Returns their offset, or 0 if the limit is reached or the recording is over. */
static uint64_t take(uint64_t bytes)
{
	struct tally_header *header = hooks.header;
	uint64_t used = __atomic_load_n(&header->used, __ATOMIC_RELAXED);
	do {
		if (used < TALLY_HEADER_BYTES || used % TALLY_GRANULE || used > header->limit ||
		    bytes > header->limit - used || __atomic_load_n(&header->is_over, __ATOMIC_RELAXED))
			return 0;
	} while (!__atomic_compare_exchange_n(&header->used, &used, used + bytes, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return used;
}

static void return_bytes(uint64_t at, uint64_t bytes)
{
	uint64_t end = at + bytes;
	(void)__atomic_compare_exchange_n(&hooks.header->used, &end, at, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static uint64_t whole_granules(uint64_t bytes)
{
	return (bytes + TALLY_GRANULE - 1) / TALLY_GRANULE * TALLY_GRANULE;
}

static void fill_chunk(struct tally_chunk *chunk, uint64_t bytes, uint64_t used, uint32_t thread)
{
	chunk->bytes = bytes;
	chunk->used = used;
	chunk->process = hooks.process_number;
	chunk->thread = thread;
}

struct tally_chunk *tally_chunk_new_sparse(uint64_t bytes, uint64_t reserved, uint32_t thread, uint64_t *at)
{
	bytes = whole_granules(bytes);
	*at = take(bytes);
	long fd = *at ? open_tally() : -1;
	struct tally_chunk *chunk = NULL;
	if (!system_is_error(fd)) {
		bool has_space = reserve(fd, *at, reserved < bytes ? reserved : bytes) == 0;
		chunk = has_space ? map_file(fd, *at, bytes) : NULL;
		close_file(fd);
	}
	if (chunk) {
		fill_chunk(chunk, bytes, sizeof(*chunk), thread);
		chunk->address = (uint64_t)(uintptr_t)chunk;
	} else if (*at) {
		return_bytes(*at, bytes);
	}
	return chunk;
}

struct tally_chunk *tally_chunk_new(uint64_t bytes, uint32_t thread)
{
	uint64_t at;
	return tally_chunk_new_sparse(bytes, UINT64_MAX, thread, &at);
}

bool tally_reserve(uint64_t at, uint64_t bytes)
{
	long fd = open_tally();
	if (system_is_error(fd))
		return false;
	bool reserved = reserve(fd, at, bytes) == 0;
	close_file(fd);
	return reserved;
}

void tally_chunk_finish(struct tally_chunk *chunk, enum tally_chunk_kind kind)
{
	chunk->magic = TALLY_CHUNK_MAGIC;
	__atomic_store_n(&chunk->kind, (uint32_t)kind, __ATOMIC_RELEASE);
}

/* Writes the granule at once and in whole pages, which takes half the time. If the write is cut short, zeros follow. */
static bool write_granule(long fd, const struct tally_trace *header, const uint64_t *words, uint64_t at)
{
	const struct iovec parts[] = { { (void *)(uintptr_t)header, sizeof(*header) },
				       { (void *)(uintptr_t)words, TALLY_GRANULE - sizeof(*header) } };
	long written;
	do
		written = machine_syscall(SYS_pwritev, fd, (long)parts, 2, (long)at, 0, 0);
	while (written == -EINTR);
	return written == TALLY_GRANULE;
}

bool tally_write_events(uint32_t thread, const uint64_t *words, size_t count, uint64_t events, uint64_t first)
{
	struct tally_trace trace = { .events = events, .first = first };
	uint64_t at = take(TALLY_GRANULE);
	long fd = at ? open_tally() : -1;
	bool written = false;
	if (!system_is_error(fd)) {
		fill_chunk(&trace.chunk, TALLY_GRANULE, sizeof(trace) + count * sizeof(words[0]), thread);
		trace.chunk.magic = TALLY_CHUNK_MAGIC;
		trace.chunk.kind = TALLY_EVENTS;
		written = may_be_so_large(at + TALLY_GRANULE) && write_granule(fd, &trace, words, at);
		close_file(fd);
	}
	if (at && !written)
		return_bytes(at, TALLY_GRANULE);
	return written;
}

/* --- objects --- */

/* A thread's first chunks are small; each is twice as long as the last, up to 4 MB. */
static uint64_t next_chunk_bytes(const struct tally_chunk *last)
{
	static const uint64_t longest = 4 << 20;
	return last->bytes * 2 < longest ? last->bytes * 2 : longest;
}

/* A handler that interrupts this takes the bytes behind, or begins another chunk; the rest of one of the chunks then
 * stays unused. */
static void *take_object(struct tally_chunk *chunk, uint64_t bytes)
{
	uint64_t used = chunk->used;
	do {
		if (used > chunk->bytes || bytes > chunk->bytes - used)
			return NULL;
	} while (!__atomic_compare_exchange_n(&chunk->used, &used, used + bytes, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return (uint8_t *)chunk + used;
}

void *tally_object_new(struct hook_thread *thread, size_t bytes)
{
	enum { ALIGNMENT = 8 };
	bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	void *object = thread->chunk ? take_object(thread->chunk, bytes) : NULL;
	if (__builtin_expect(object != NULL, 1) || !thread->chunk)
		return object;
	struct tally_chunk *chunk = tally_chunk_new(next_chunk_bytes(thread->chunk), thread->number);
	if (!chunk) {
		hooks_stop_thread(thread);
		return NULL;
	}
	object = take_object(chunk, bytes);
	tally_chunk_finish(chunk, TALLY_OBJECTS);
	thread->chunk = chunk;
	tally_note_time(hooks.process);
	return object;
}
