#include "collect/sample/preload/channel.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/sample/preload/requests.h"

/*
 * The bell wakes the monitor. It is a futex, so that no target holds a descriptor of ours. The monitor
 * waits for descriptors, and cannot wait for a futex at the same time, so a separate thread waits for
 * the bell:
 *
 *   waiting --rung--> writes the eventfd --> notified --preload_channel_clear_bell--> waiting
 *
 * In the state `notified`, no agent needs to ring: the monitor will read everything that is there.
 *
 * The thread also raises the beat, by which a waiting agent detects that the monitor runs: the pid of a
 * monitor that was killed exists until its parent has reaped it.
 */
enum bell { BELL_WAITING, BELL_NOTIFIED, BELL_ENDS };

struct preload_channel {
	struct channel *memory;
	int file;
	int bell; /* the eventfd */
	bool has_thread;
	pthread_t thread;
	uint32_t state; /* enum bell: a futex */
};

/* --- the bell --- */

static void futex_wait(uint32_t *futex, uint32_t value)
{
	/* The wait also ends without a wake-up: a process that can write to the memory can suppress one. */
	enum { BETWEEN_BEATS_NS = 200 * 1000 * 1000 };
	const struct timespec longest = { .tv_nsec = BETWEEN_BEATS_NS };
	syscall(SYS_futex, futex, FUTEX_WAIT, value, &longest, NULL, 0);
}

void preload_channel_wake(uint32_t *futex)
{
	syscall(SYS_futex, futex, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void notify_monitor(struct preload_channel *channel)
{
	const uint64_t one = 1;
	uint32_t waiting = BELL_WAITING;
	if (!__atomic_compare_exchange_n(&channel->state, &waiting, BELL_NOTIFIED, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	if (write(channel->bell, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

static void *wait_for_bell(void *context)
{
	struct preload_channel *channel = context;
	struct channel *memory = channel->memory;
	uint32_t heard = 0;
	for (;;) {
		uint32_t state = __atomic_load_n(&channel->state, __ATOMIC_ACQUIRE);
		if (state == BELL_ENDS)
			return NULL;
		__atomic_add_fetch(&memory->beat, 1, __ATOMIC_RELAXED);
		if (state == BELL_NOTIFIED) {
			futex_wait(&channel->state, BELL_NOTIFIED);
			continue;
		}
		__atomic_store_n(&memory->bell_wanted, 1, __ATOMIC_SEQ_CST);
		uint32_t rung = __atomic_load_n(&memory->bell, __ATOMIC_SEQ_CST);
		if (rung == heard)
			futex_wait(&memory->bell, heard);
		rung = __atomic_load_n(&memory->bell, __ATOMIC_ACQUIRE);
		if (rung == heard)
			continue;
		__atomic_store_n(&memory->bell_wanted, 0, __ATOMIC_RELEASE);
		heard = rung;
		notify_monitor(channel);
	}
}

static int start_listening(struct preload_channel *channel)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int result = pthread_create(&channel->thread, NULL, wait_for_bell, channel);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	channel->has_thread = result == 0;
	return result;
}

static void stop_listening(struct preload_channel *channel)
{
	__atomic_store_n(&channel->state, BELL_ENDS, __ATOMIC_RELEASE);
	preload_channel_wake(&channel->state);
	__atomic_add_fetch(&channel->memory->bell, 1, __ATOMIC_SEQ_CST);
	preload_channel_wake(&channel->memory->bell);
	pthread_join(channel->thread, NULL);
}

int preload_channel_bell(const struct preload_channel *channel)
{
	return channel->bell;
}

void preload_channel_clear_bell(struct preload_channel *channel)
{
	uint64_t times;
	uint32_t notified = BELL_NOTIFIED;
	if (read(channel->bell, &times, sizeof(times)) != sizeof(times))
		return;
	if (__atomic_compare_exchange_n(&channel->state, &notified, BELL_WAITING, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		preload_channel_wake(&channel->state);
}

/* --- the memory --- */

struct channel *preload_channel_memory(const struct preload_channel *channel)
{
	return channel->memory;
}

int preload_channel_file(const struct preload_channel *channel)
{
	return channel->file;
}

uint64_t preload_channel_inode(const struct preload_channel *channel)
{
	struct stat status;
	return fstat(channel->file, &status) == 0 ? status.st_ino : 0;
}

/* Makes the memory and seals its size: if a target could shrink it, reading would kill the monitor. */
static int make_memory(struct preload_channel *channel, struct error *error)
{
	channel->file = memfd_create(CHANNEL_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (channel->file < 0)
		return error_set_errno(error, "cannot make memory to share with the target (memfd_create)");
	if (ftruncate(channel->file, (off_t)CHANNEL_BYTES) < 0 || fcntl(channel->file, F_ADD_SEALS, CHANNEL_SEALS) < 0)
		return error_set_errno(error, "cannot set the size of the memory that is shared with the target");
	void *memory = mmap(NULL, CHANNEL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, channel->file, 0);
	if (memory == MAP_FAILED)
		return error_set_errno(
			error, "cannot map the %llu MB of addresses that are shared with the target (see 'ulimit -v')",
			(unsigned long long)CHANNEL_BYTES >> 20);
	channel->memory = memory;
	return 0;
}

static void set_up(struct channel *memory, const struct backend_request *request)
{
	memory->versions = CHANNEL_VERSIONS;
	memory->monitor_pid = (uint32_t)getpid();
	memory->request_count = (uint32_t)request->resource_count;
	memory->starts_paused = request->paused;
	memory->experiment.is_wanted = request->experiments;
	memory->experiment.until_ns = UINT64_MAX; /* until the first drain */
	memory->tick_ns = preload_tick_ns(request);
	for (size_t i = 0; i < request->resource_count; i++)
		memory->requests[i] = preload_request_of(&request->resources[i]);
	__atomic_store_n(&memory->magic, CHANNEL_MAGIC, __ATOMIC_RELEASE);
}

struct preload_channel *preload_channel_new(const struct backend_request *request, struct error *error)
{
	struct preload_channel *channel = calloc(1, sizeof(*channel));
	if (!channel) {
		error_memory(error);
		return NULL;
	}
	channel->file = channel->bell = -1;
	int result = make_memory(channel, error);
	if (result == 0) {
		set_up(channel->memory, request);
		channel->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (channel->bell < 0)
			result = error_set_errno(error, "cannot make an eventfd");
	}
	if (result == 0 && start_listening(channel) != 0)
		result = error_set(error, ERROR_SYSTEM, "cannot start a thread");
	if (result == 0)
		return channel;
	preload_channel_free(channel);
	return NULL;
}

void preload_channel_free(struct preload_channel *channel)
{
	if (!channel)
		return;
	if (channel->has_thread)
		stop_listening(channel);
	if (channel->memory)
		munmap(channel->memory, CHANNEL_BYTES);
	if (channel->bell >= 0)
		close(channel->bell);
	if (channel->file >= 0)
		close(channel->file);
	free(channel);
}
