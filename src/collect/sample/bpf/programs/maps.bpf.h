/* The maps and global variables of the eBPF programs. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_MAPS_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_MAPS_BPF_H

#include "collect/sample/bpf/programs/shared.h"

/* A global function: the verifier checks it once in each program that calls it, and not anew in
 * each state of its callers. With inlined or static functions, the start of a recording took
 * three times as long. */
#define WALK_FUNCTION __attribute__((noinline))
#include "collect/shared/python_walk.h"
#include "collect/shared/row_walk.h"
#include "processor/registers.h"

/* --- settings: fixed before the programs are loaded --- */

const volatile struct bpf_settings settings;
const volatile struct bpf_request requests[SAMPLE_REQUESTS];
const volatile uint8_t syscall_classes[BPF_SYSCALLS];

struct bpf_results results; /* counts over all threads */
uint32_t is_on;             /* counting has begun, except in threads that wait for an exec */
uint64_t on_since_ns;       /* when that was */

/* --- threads --- */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct bpf_thread);
} threads SEC(".maps");

/* The processes that BPF_PASS_WATCH watches. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, BPF_WANTED);
	__type(key, uint32_t); /* pid */
	__type(value, uint8_t);
} wanted SEC(".maps");

/* --- code --- */

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* preallocated: before 6.1 perf events may use no other map */
	__uint(max_entries, 32768);
	__type(key, uint32_t); /* pid */
	__type(value, struct walk_process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WALK_CODES);
	__type(key, uint32_t);
	__type(value, struct walk_code);
} codes SEC(".maps");

/* All chunks are alike. Adding one to `chunks` takes the kernel some 10 ms. */
struct chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CODE_CHUNK_SLOTS);
	__type(key, uint32_t);
	__type(value, uint64_t);
} first_chunk SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CODE_CHUNKS);
	__type(key, uint32_t);
	__array(values, struct chunk);
} chunks SEC(".maps");

/* --- probes: uprobes, tracepoints --- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BPF_PROBES);
	__type(key, uint32_t);
	__type(value, struct bpf_probe);
} probes SEC(".maps");

/* --- records --- */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set when loaded */
} ring SEC(".maps");

/* Hashes of the functions of interpreted programs that the monitor has descriptions of, each at
 * a place that depends on it; 0: none. An array costs a recording of other programs next to
 * nothing. */
enum { DESCRIBED = 8192 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DESCRIBED);
	__type(key, uint32_t);
	__type(value, uint64_t);
} described SEC(".maps");

/* A buffer in which a record is assembled. A program may be interrupted by another one, or (a uprobe's) be
 * preempted, so each takes a buffer that no other program uses. */
struct scratch {
	uint32_t busy;
	uint32_t kernel_count;
	uint64_t kernel[SAMPLE_KERNEL_FRAMES]; /* the kernel's own stack */
	struct python_walk python;
	struct walk walk;
	/* Room for registers and stack, which are longer than the frames, and for the kernel's frames and the
	 * interpreter's behind them. */
	uint8_t more[ARCH_REGISTERS * 8 + SAMPLE_STACK_BYTES - WALK_FRAMES * 8 + SAMPLE_KERNEL_FRAMES * 8 +
		     INTERPRETED_MOST * sizeof(struct interpreted_frame)];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set when loaded: BPF_SCRATCHES_PER_CPU for each CPU */
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

#endif
