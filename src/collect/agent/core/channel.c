#include "collect/agent/core/channel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "collect/agent/core/runtime.h"
#include "processor/agent/machine.h"

enum { PAGE = CHANNEL_PAGE, CHUNK_BYTES = CODE_CHUNK_SLOTS * CODE_SLOT_BYTES, ERRORS = 4095 };

static char path_found[64];

const char *channel_path(void)
{
	return path_found;
}

/* --- finding --- */

/* The parts of CHANNEL_VARIABLE's value. */
struct place {
	char path[sizeof(path_found)]; /* the descriptor, without the inode */
	uint64_t monitor, inode;
};

/* Reads a decimal number. Returns its end, or NULL if there is none. */
static const char *read_number(const char *text, uint64_t *number)
{
	enum { DECIMAL = 10, DIGITS_MAX = 19 };
	const char *start = text;
	*number = 0;
	for (; *text >= '0' && *text <= '9' && text - start < DIGITS_MAX; text++)
		*number = *number * DECIMAL + (uint64_t)(*text - '0');
	return text > start ? text : NULL;
}

static const char *skip_text(const char *at, const char *text)
{
	size_t bytes = strlen(text);
	return at && strncmp(at, text, bytes) == 0 ? at + bytes : NULL;
}

static bool read_place(const char *value, struct place *place)
{
	uint64_t descriptor;
	const char *at = skip_text(value, "/proc/");
	at = at ? read_number(at, &place->monitor) : NULL;
	at = skip_text(at, "/fd/");
	at = at ? read_number(at, &descriptor) : NULL;
	size_t bytes = at ? (size_t)(at - value) : 0;
	at = skip_text(at, ":");
	at = at ? read_number(at, &place->inode) : NULL;
	if (!at || *at || strlen(value) >= sizeof(path_found))
		return false;
	memcpy(place->path, value, bytes);
	place->path[bytes] = 0;
	return true;
}

/* Returns whether the descriptor is a memfd of that name. After the recorder has ended, its number may belong to
 * another process, whose files must not even be opened. */
static bool is_named_memory(const struct place *place)
{
	static const char wanted[] = "/memfd:" CHANNEL_FILE " (deleted)";
	char found[sizeof(wanted)];
	long bytes = machine_syscall(SYS_readlink, (long)place->path, (long)found, sizeof(found), 0, 0, 0);
	return bytes == sizeof(wanted) - 1 && memcmp(found, wanted, sizeof(wanted) - 1) == 0;
}

/* Returns whether it is the very memory that the variable names, made by our user, and of a size that cannot
 * change. */
static bool is_recorders(int fd, const struct place *place)
{
	struct stat status;
	long seals = machine_syscall(SYS_fcntl, fd, F_GET_SEALS, 0, 0, 0, 0);
	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == place->inode &&
	       status.st_uid == (uid_t)machine_syscall(SYS_geteuid, 0, 0, 0, 0, 0, 0) &&
	       (uint64_t)status.st_size == CHANNEL_BYTES && seals > 0 && (seals & CHANNEL_SEALS) == CHANNEL_SEALS;
}

/* --- mapping --- */

static const uint8_t *chunks[CHANNEL_CHUNKS]; /* NULL: not mapped yet */
static uint8_t *all_rings;                    /* not NULL: all are mapped */

static void *mapped(long result)
{
	return result < 0 && result >= -ERRORS ? NULL : (void *)result;
}

static void *map(int fd, uint64_t at, uint64_t bytes, int protection)
{
	return mapped(machine_syscall(SYS_mmap, 0, (long)bytes, protection, MAP_SHARED | MAP_NORESERVE, fd, (long)at));
}

static void unmap(const void *at, uint64_t bytes)
{
	if (at)
		machine_syscall(SYS_munmap, (long)at, (long)bytes, 0, 0, 0, 0);
}

/* Maps `bytes` of the memory that begin `skip` bytes behind the start of a mapped page. Maps everything up to there
 * for a moment; the kernel would also lock and fill that if the page were locked. */
static uint8_t *map_behind(const uint8_t *page, uint64_t skip, uint64_t bytes)
{
	machine_syscall(SYS_munlock, (long)page, PAGE, 0, 0, 0, 0);
	uint8_t *all = mapped(machine_syscall(SYS_mremap, (long)page, 0, (long)(skip + bytes), MREMAP_MAYMOVE, 0, 0));
	unmap(all, all ? skip : 0);
	return all ? all + skip : NULL;
}

uint8_t *channel_map_ring(uint32_t thread)
{
	uint64_t skip = PAGE + (uint64_t)thread * CHANNEL_RING_BYTES;
	if (all_rings)
		return all_rings + skip - PAGE;
	return map_behind((uint8_t *)runtime.channel + CHANNEL_RINGS - PAGE, skip, CHANNEL_RING_BYTES);
}

void channel_unmap_ring(uint8_t *ring)
{
	if (!all_rings)
		unmap(ring, CHANNEL_RING_BYTES);
}

static uint8_t *map_chunk(uint32_t number)
{
	const uint8_t *page = runtime.code + (CHANNEL_CHUNKS_AT - CHANNEL_CODES) - PAGE;
	return map_behind(page, PAGE + (uint64_t)number * CHUNK_BYTES, CHUNK_BYTES);
}

const uint8_t *channel_chunk(uint32_t number)
{
	const uint8_t *chunk = __atomic_load_n(&chunks[number], __ATOMIC_ACQUIRE), *others = NULL;
	if (__builtin_expect(chunk != NULL, 1))
		return chunk;
	chunk = map_chunk(number);
	if (!chunk ||
	    __atomic_compare_exchange_n(&chunks[number], &others, chunk, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return chunk;
	unmap(chunk, CHUNK_BYTES); /* another thread was faster */
	return others;
}

/* Maps all rings and chunks now, where the kernel cannot extend mappings. */
static bool map_all(int fd)
{
	all_rings = map(fd, CHANNEL_RINGS, CHANNEL_CODES - CHANNEL_RINGS, PROT_READ | PROT_WRITE);
	const uint8_t *all_chunks = map(fd, CHANNEL_CHUNKS_AT, CHANNEL_BYTES - CHANNEL_CHUNKS_AT, PROT_READ);
	for (uint32_t i = 0; i < CHANNEL_CHUNKS && all_chunks; i++)
		chunks[i] = all_chunks + (uint64_t)i * CHUNK_BYTES;
	return all_rings && all_chunks;
}

static void unmap_all(void)
{
	unmap(runtime.channel, CHANNEL_RINGS);
	unmap(runtime.code, CHANNEL_CHUNKS_AT - CHANNEL_CODES);
	unmap(all_rings, CHANNEL_CODES - CHANNEL_RINGS);
	runtime.channel = NULL;
}

static bool map_channel(int fd, const struct place *place)
{
	runtime.channel = map(fd, 0, CHANNEL_RINGS, PROT_READ | PROT_WRITE);
	runtime.code = map(fd, CHANNEL_CODES, CHANNEL_CHUNKS_AT - CHANNEL_CODES, PROT_READ);
	const struct channel *found = runtime.channel;
	if (found && runtime.code && channel_has_our_layouts(found) && found->monitor_pid == place->monitor &&
	    !found->is_over && (channel_chunk(0) || map_all(fd)))
		return true;
	unmap_all();
	return false;
}

/* Not with interposed calls: these need state that does not exist yet, and would be counted. */
bool channel_find(void)
{
	struct place place;
	const char *value = getenv(CHANNEL_VARIABLE);
	if (!value || !read_place(value, &place) || !is_named_memory(&place))
		return false;
	long fd = machine_syscall(SYS_openat, AT_FDCWD, (long)place.path, O_RDWR | O_CLOEXEC | O_NONBLOCK, 0, 0, 0);
	if (fd < 0)
		return false;
	bool found = is_recorders((int)fd, &place) && map_channel((int)fd, &place);
	if (found)
		memcpy(path_found, value, strlen(value) + 1);
	machine_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return found;
}

/* --- locked memory --- */

static void unlock(const void *at, uint64_t bytes)
{
	if (at)
		machine_syscall(SYS_munlock, (long)at, (long)bytes, 0, 0, 0, 0);
}

void channel_unlock_ring(const uint8_t *ring)
{
	unlock(ring, CHANNEL_RING_BYTES);
}

void channel_unlock(void)
{
	unlock(runtime.channel, CHANNEL_RINGS);
	unlock(runtime.code, CHANNEL_CHUNKS_AT - CHANNEL_CODES);
	for (uint32_t i = 0; i < CHANNEL_CHUNKS; i++)
		unlock(chunks[i], CHUNK_BYTES);
}
