/*
 * The functions that allocate. They count the requested bytes and the calls before they call the real function. So a
 * call that then fails is counted too, and realloc counts the whole new size.
 *
 * Between two boundaries of its clock, an allocation costs one addition and one comparison (struct runtime_lane).
 * The clock's total, in the channel, is exact at any moment; the rest of the clock is updated when a boundary is
 * reached.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "collect/agent/core/defined.h"
#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"
#include "collect/shared/allocation.h"

/* Flags of runtime_thread.alloc_lanes. If none is set, the slow way must count. */
enum { LANES_KNOWN = 1, LANE_OF_BYTES = 2, LANE_OF_CALLS = 4 };

void *__libc_malloc(size_t bytes);

/* --- the slow way --- */

static void lane_flush(struct runtime_lane *lane)
{
	if (!lane->clock)
		return;
	lane->clock->used += lane->clock->total - lane->seen;
	lane->seen = lane->clock->total;
}

/* Sets the lane of a counter. Returns false if several requests count it: then there is no lane. */
static bool lane_set(struct runtime_thread *thread, struct runtime_lane *lane, enum counter counter)
{
	uint32_t requests = runtime.requests_of[counter];
	lane->clock = NULL;
	if (!requests)
		return true;
	if (requests & (requests - 1))
		return false;
	uint32_t request = (uint32_t)__builtin_ctz(requests);
	struct interval_clock *clock = &thread->shared->clocks[request];
	uint64_t interval = runtime.channel->requests[request].interval;
	uint64_t until = clock->used <= clock->mark ? clock->mark + 1 : interval;
	uint64_t left = until > clock->used ? until - clock->used : 0;
	lane->clock = clock;
	lane->seen = clock->total;
	/* The slow way decides which requests count no bytes. */
	lane->limit = clock->total + (left < ALLOCATION_ADDRESSES ? left : ALLOCATION_ADDRESSES);
	return true;
}

static void lanes_set(struct runtime_thread *thread)
{
	bool has_lanes = lane_set(thread, &thread->alloc_bytes, COUNTER_ALLOC_BYTES);
	has_lanes = lane_set(thread, &thread->allocs, COUNTER_ALLOCS) && has_lanes;
	uint32_t bytes = thread->alloc_bytes.clock ? LANE_OF_BYTES : 0;
	uint32_t calls = thread->allocs.clock ? LANE_OF_CALLS : 0;
	if (has_lanes)
		thread->alloc_lanes = LANES_KNOWN | bytes | calls;
}

static bool was_begun;

/* Constructors of other libraries may allocate before ours runs. The dynamic linker allocates before the C library
 * is ready, and while it looks up the real functions: that is too early to begin. */
static void begin_early(void)
{
	static _Thread_local bool is_beginning;
	if (__atomic_load_n(&was_begun, __ATOMIC_RELAXED) || is_beginning || !environ || gettid() != getpid() ||
	    !real_functions_are_known())
		return;
	is_beginning = true;
	cpprof_runtime_begin();
	__atomic_store_n(&was_begun, true, __ATOMIC_RELAXED);
	is_beginning = false;
}

static __attribute__((noinline)) void count_slowly(uint64_t bytes, uint64_t function)
{
	int error = errno;
	begin_early();
	struct runtime_thread *thread = runtime_enter();
	if (thread && thread->depth && RUNTIME_HERE > thread->outer_frame)
		runtime_abandon(thread, RUNTIME_HERE);
	if (thread && thread->depth == 0) {
		if (thread->alloc_lanes) {
			lane_flush(&thread->alloc_bytes);
			lane_flush(&thread->allocs);
			thread->alloc_lanes = 0;
		}
		if (bytes > 0 && bytes < ALLOCATION_ADDRESSES)
			runtime_count(thread, COUNTER_ALLOC_BYTES, bytes, function);
		runtime_count(thread, COUNTER_ALLOCS, 1, function);
		lanes_set(thread);
	}
	if (thread)
		runtime_leave(thread);
	errno = error;
}

/* --- the fast way --- */

static inline bool is_below(const struct runtime_lane *lane, uint64_t amount)
{
	return amount < lane->limit - lane->clock->total;
}

/* Counts if that takes only an addition, or if there is nothing to count. Returns false if the slow way must count. */
static inline __attribute__((always_inline)) bool counted(uint64_t bytes)
{
	struct runtime_thread *thread = runtime_thread;
	if (__builtin_expect(!thread, 0))
		return __atomic_load_n(&was_begun, __ATOMIC_RELAXED);
	struct runtime_lane *of_bytes = &thread->alloc_bytes, *of_calls = &thread->allocs;
	uint32_t lanes = thread->alloc_lanes;
	if (__builtin_expect(!runtime.on, 0))
		return true;
	if (__builtin_expect(lanes == (LANES_KNOWN | LANE_OF_BYTES), 1)) {
		if (__builtin_expect(!is_below(of_bytes, bytes), 0))
			return false;
		of_bytes->clock->total += bytes;
		return true;
	}
	if (lanes <= LANES_KNOWN)
		return lanes == LANES_KNOWN;
	if (!is_below(of_calls, 1) || (lanes & LANE_OF_BYTES && !is_below(of_bytes, bytes)))
		return false;
	if (lanes & LANE_OF_BYTES)
		of_bytes->clock->total += bytes;
	of_calls->clock->total++;
	return true;
}

static inline void count(uint64_t bytes, void *function)
{
	if (!counted(bytes))
		count_slowly(bytes, (uint64_t)(uintptr_t)function);
}

/* --- calls within calls ---
 *
 * The C library's allocating functions do not call one another through these functions, except reallocarray; the functions
 * of another allocator may. */
struct outer_call {
	struct runtime_thread *thread; /* NULL: outer_call_ended does nothing */
	uint32_t depth, lanes;
};

static bool is_of_libc(void)
{
	return (void *)REAL(malloc) == (void *)REAL(__libc_malloc);
}

static inline __attribute__((always_inline)) struct outer_call outer_call_begins(bool calls_others)
{
	struct outer_call outer = { .thread = calls_others ? runtime_thread : NULL };
	if (outer.thread) {
		outer.lanes = outer.thread->alloc_lanes;
		outer.depth = outer.thread->depth;
		if (outer.depth == 0) {
			outer.thread->outer_frame = RUNTIME_HERE;
			outer.thread->outer_lanes = outer.lanes;
		}
		outer.thread->depth++;
		outer.thread->alloc_lanes = 0;
	}
	return outer;
}

static void outer_call_ended(const struct outer_call *outer)
{
	if (!outer->thread)
		return;
	outer->thread->depth = outer->depth;
	outer->thread->alloc_lanes = outer->lanes;
}

/* Called while the real functions are looked up, which works without memory. */
static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

/* --- the functions --- */

static __attribute__((noinline)) void *malloc_slowly(size_t bytes)
{
	void *(*real)(size_t) = REAL(malloc);
	if (!real)
		return no_memory();
	count(bytes, (void *)real);
	return real(bytes);
}

/* Its own work is only the choice between two jumps. */
INTERPOSED void *malloc(size_t bytes)
{
	void *(*real)(size_t) = REAL_IF_KNOWN(malloc);
	if (__builtin_expect(real && counted(bytes), 1))
		return real(bytes);
	return malloc_slowly(bytes);
}

#define ALLOCATING(name, parameters, arguments, bytes, calls_others) \
	INTERPOSED void *name parameters                             \
	{                                                            \
		__typeof__(&name) real = REAL(name);                 \
		if (!real)                                           \
			return no_memory();                          \
		count(bytes, (void *)real);                          \
		if (!(calls_others))                                 \
			return real arguments;                       \
		struct outer_call outer = outer_call_begins(true);   \
		void *memory = real arguments;                       \
		outer_call_ended(&outer);                            \
		return memory;                                       \
	}

ALLOCATING(calloc, (size_t count_of, size_t bytes), (count_of, bytes), allocation_product(count_of, bytes),
	   !is_of_libc())
ALLOCATING(realloc, (void *memory_was, size_t bytes), (memory_was, bytes), bytes, !is_of_libc())
ALLOCATING(memalign, (size_t alignment, size_t bytes), (alignment, bytes), bytes, !is_of_libc())
ALLOCATING(aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes), bytes, !is_of_libc())
ALLOCATING(valloc, (size_t bytes), (bytes), bytes, !is_of_libc())
ALLOCATING(pvalloc, (size_t bytes), (bytes), bytes, !is_of_libc())

/* Where the product overflows, it fails without a request to the allocator. */
INTERPOSED void *reallocarray(void *memory_was, size_t count_of, size_t bytes)
{
	__typeof__(&reallocarray) real = REAL(reallocarray);
	size_t all;
	if (!real)
		return no_memory();
	if (__builtin_mul_overflow(count_of, bytes, &all))
		return real(memory_was, count_of, bytes);
	count(all, (void *)real);
	struct outer_call outer = outer_call_begins(true);
	void *memory = real(memory_was, count_of, bytes);
	outer_call_ended(&outer);
	return memory;
}

INTERPOSED int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
	int (*real)(void **, size_t, size_t) = REAL(posix_memalign);
	if (!real)
		return ENOMEM;
	count(bytes, (void *)real);
	struct outer_call outer = outer_call_begins(!is_of_libc());
	int result = real(memory, alignment, bytes);
	outer_call_ended(&outer);
	return result;
}

/* --- unobserved allocations --- */

static const void *module_of(const void *function)
{
	Dl_info info;
	return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

/* Returns the reasons why allocations stay unobserved: an allocator in the program itself precedes ours; an
 * allocator in a library may serve operator new without the functions above. */
static uint32_t find_own_allocators(void)
{
	void *first = REAL(dlsym)(RTLD_DEFAULT, "malloc");
	void *new = defined_somewhere("_Znwm", false) ? REAL(dlsym)(RTLD_DEFAULT, "_Znwm") : NULL;
	uint32_t findings = first && module_of(first) != module_of((void *)count_slowly) ? CHANNEL_FINDING_MALLOC : 0;
	if (new && !is_of_libc() && module_of(new) == module_of((void *)REAL(malloc)))
		findings |= CHANNEL_FINDING_NEW;
	return findings;
}

__attribute__((constructor)) static void report_own_allocators(void)
{
	cpprof_runtime_begin();
	__atomic_store_n(&was_begun, true, __ATOMIC_RELAXED);
	if (!runtime.process || !(runtime.requests_of[COUNTER_ALLOC_BYTES] | runtime.requests_of[COUNTER_ALLOCS]))
		return;
	struct outer_call outer = outer_call_begins(true);
	__atomic_fetch_or(&runtime.process->findings, find_own_allocators(), __ATOMIC_RELAXED);
	outer_call_ended(&outer);
}
