#include "collect/agent/jvm/parts.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "processor/names.h"

static struct {
	pthread_mutex_t lock;
	int fd; /* -1: none, or a write failed */
	uint64_t index;
} dump = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static uint64_t now_ns(void)
{
	static const uint64_t ns_per_s = 1000000000;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * ns_per_s + (uint64_t)now.tv_nsec;
}

/* Writes all parts, or closes the file. */
static void write_parts(struct iovec *parts, int count)
{
	while (count > 0 && dump.fd >= 0) {
		ssize_t done = writev(dump.fd, parts, count);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			close(dump.fd);
			dump.fd = -1;
			return;
		}
		for (; count > 0 && (size_t)done >= parts->iov_len; count--)
			done -= (ssize_t)parts++->iov_len;
		if (count > 0) {
			parts->iov_base = (char *)parts->iov_base + done;
			parts->iov_len -= (size_t)done;
		}
	}
}

static struct iovec part(const void *bytes, size_t size)
{
	return (struct iovec){ .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
}

/* A file of an earlier process with this number is replaced; a link of others is not followed. */
static int create(void)
{
	enum { PATH_BYTES = 4096 };
	char path[PATH_BYTES];
	const char *folder = getenv("TMPDIR");
	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder && folder[0] == '/' ? folder : "/tmp", (int)getpid());
	unlink(path);
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

bool dump_open(void)
{
	const struct jitdump_header header = { .magic = JITDUMP_MAGIC,
					       .version = JITDUMP_VERSION,
					       .bytes = sizeof(header),
					       .machine = ARCH_ELF_MACHINE,
					       .pid = (uint32_t)getpid(),
					       .time_ns = now_ns() };
	struct iovec parts[] = { part(&header, sizeof(header)) };
	dump.fd = create();
	write_parts(parts, 1);
	/* It is never unmapped: a profiler that attaches later finds it. */
	if (dump.fd >= 0 &&
	    mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, dump.fd, 0) == MAP_FAILED) {
		int number = errno;
		close(dump.fd);
		dump.fd = -1;
		errno = number;
	}
	return dump.fd >= 0;
}

void dump_code(const char *name, const void *code, size_t bytes, const struct buffer *entries, uint64_t entry_count)
{
	size_t name_bytes = strlen(name) + 1;
	struct jitdump_load load = { .record = { .id = JITDUMP_LOAD },
				     .pid = (uint32_t)getpid(),
				     .tid = (uint32_t)syscall(SYS_gettid),
				     .address = (uintptr_t)code,
				     .code_address = (uintptr_t)code,
				     .code_bytes = bytes };
	struct jitdump_entries inlined = { .record = { .id = JITDUMP_INLINED },
					   .code_address = (uintptr_t)code,
					   .count = entry_count };
	if (bytes > INT32_MAX || name_bytes > INT32_MAX || (entries && entries->size > INT32_MAX))
		return;
	load.record.bytes = (uint32_t)(sizeof(load) + name_bytes + bytes);
	inlined.record.bytes = (uint32_t)(sizeof(inlined) + (entries ? entries->size : 0));
	pthread_mutex_lock(&dump.lock);
	load.record.time_ns = inlined.record.time_ns = now_ns();
	load.index = dump.index++;
	struct iovec parts[] = { part(&inlined, entries ? sizeof(inlined) : 0),
				 part(entries ? entries->bytes : NULL, entries ? entries->size : 0),
				 part(&load, sizeof(load)), part(name, name_bytes), part(code, bytes) };
	write_parts(parts, sizeof(parts) / sizeof(parts[0]));
	pthread_mutex_unlock(&dump.lock);
}
