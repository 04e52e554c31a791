#include "collect/sample/bpf/programs.h"

#include <asm/unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/sample/bpf/access.h"
#include "collect/sample/bpf/kernel_version.h"
#include "collect/sample/bpf/sources.h"
#include "collect/sample/bpf/type_subset.h"
#include "collect/sample/bpf/uprobes.h"

/* --- libbpf's messages --- */

static char last_warning[256];

/* Keeps one line of libbpf's last warning, which names the obstacle. */
static int store_warning(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char line[sizeof(last_warning)];
	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\n")] = 0;
	const char *text = strncmp(line, "libbpf: ", 8) == 0 ? line + 8 : line;
	snprintf(last_warning, sizeof(last_warning), "%s", text);
	return 0;
}

/* --- settings --- */

/* The classes of system calls: the direction in which they move bytes, where they hold the requested
 * number, and the kind of wait in them. */
static const struct {
	int number;
	uint8_t class;
} classes[] = {
	{ __NR_read, BPF_TRANSFER_READ | BPF_TRANSFER_THIRD | BPF_SYSCALL_IO },
	{ __NR_pread64, BPF_TRANSFER_READ | BPF_TRANSFER_THIRD | BPF_SYSCALL_IO },
	{ __NR_readv, BPF_TRANSFER_READ | BPF_TRANSFER_VECTOR | BPF_SYSCALL_IO },
	{ __NR_preadv, BPF_TRANSFER_READ | BPF_TRANSFER_VECTOR | BPF_SYSCALL_IO },
	{ __NR_preadv2, BPF_TRANSFER_READ | BPF_TRANSFER_VECTOR | BPF_SYSCALL_IO },
	{ __NR_recvfrom, BPF_TRANSFER_READ | BPF_TRANSFER_THIRD | BPF_SYSCALL_IO },
	{ __NR_recvmsg, BPF_TRANSFER_READ | BPF_TRANSFER_MESSAGE | BPF_SYSCALL_IO },
	{ __NR_recvmmsg, BPF_TRANSFER_READ | BPF_TRANSFER_MESSAGES | BPF_SYSCALL_IO },
	{ __NR_write, BPF_TRANSFER_WRITE | BPF_TRANSFER_THIRD | BPF_SYSCALL_IO },
	{ __NR_pwrite64, BPF_TRANSFER_WRITE | BPF_TRANSFER_THIRD | BPF_SYSCALL_IO },
	{ __NR_writev, BPF_TRANSFER_WRITE | BPF_TRANSFER_VECTOR | BPF_SYSCALL_IO },
	{ __NR_pwritev, BPF_TRANSFER_WRITE | BPF_TRANSFER_VECTOR | BPF_SYSCALL_IO },
	{ __NR_pwritev2, BPF_TRANSFER_WRITE | BPF_TRANSFER_VECTOR | BPF_SYSCALL_IO },
	{ __NR_sendto, BPF_TRANSFER_WRITE | BPF_TRANSFER_THIRD | BPF_SYSCALL_IO },
	{ __NR_sendmsg, BPF_TRANSFER_WRITE | BPF_TRANSFER_MESSAGE | BPF_SYSCALL_IO },
	{ __NR_sendmmsg, BPF_TRANSFER_WRITE | BPF_TRANSFER_MESSAGES | BPF_SYSCALL_IO },
	{ __NR_sendfile, BPF_TRANSFER_WRITE | BPF_TRANSFER_FOURTH | BPF_SYSCALL_IO },
	{ __NR_copy_file_range, BPF_TRANSFER_WRITE | BPF_TRANSFER_FIFTH | BPF_SYSCALL_IO },
	{ __NR_splice, BPF_SYSCALL_IO },
	{ __NR_vmsplice, BPF_SYSCALL_IO },
	{ __NR_fsync, BPF_SYSCALL_IO },
	{ __NR_fdatasync, BPF_SYSCALL_IO },
	{ __NR_sync, BPF_SYSCALL_IO },
	{ __NR_syncfs, BPF_SYSCALL_IO },
	{ __NR_sync_file_range, BPF_SYSCALL_IO },
	{ __NR_msync, BPF_SYSCALL_IO },
	{ __NR_fallocate, BPF_SYSCALL_IO },
	{ __NR_truncate, BPF_SYSCALL_IO },
	{ __NR_ftruncate, BPF_SYSCALL_IO },
	{ __NR_open, BPF_SYSCALL_IO },
	{ __NR_openat, BPF_SYSCALL_IO },
	{ __NR_getdents64, BPF_SYSCALL_IO },
	{ __NR_futex, BPF_SYSCALL_LOCK },
	{ __NR_futex_waitv, BPF_SYSCALL_LOCK },
	{ 455 /* futex_wait, since 6.7 */, BPF_SYSCALL_LOCK },
};

struct bpf_request bpf_request_of(const struct resource_request *request)
{
	const struct resource_row *row = request->row;
	return (struct bpf_request){
		.interval = request->interval * (row->is_time && row->gtick_ns ? row->gtick_ns : 1),
		.syscall = request->target.syscall,
		.counter = (uint8_t)request->counter,
	};
}

/* --- which programs --- */

struct needs {
	bool clock, event, change, cpu, waits, syscall, signal, trap, disk, function, tracepoint, usdt;
	bool names;          /* of the kernel's functions */
	bool reports_resume; /* a tracepoint reports it: kernels from 6.16 on */
};

static struct needs needs_of(const struct backend_request *request)
{
	struct needs needs = { 0 };
	for (size_t i = 0; i < request->resource_count; i++) {
		enum counter counter = request->resources[i].counter;
		enum bpf_source source = bpf_source_of(counter);
		needs.clock |= source == BPF_SOURCE_CLOCK || counter == COUNTER_REAL;
		needs.event |= source == BPF_SOURCE_EVENT;
		needs.change |= source == BPF_SOURCE_SWITCH;
		needs.cpu |= counter == COUNTER_CPU;
		needs.waits |= counter_is_wait(counter);
		needs.syscall |= source == BPF_SOURCE_SYSCALL;
		needs.signal |= source == BPF_SOURCE_SIGNAL;
		needs.trap |= source == BPF_SOURCE_TRAP;
		needs.disk |= source == BPF_SOURCE_DISK;
		needs.function |= source == BPF_SOURCE_FUNCTION;
		needs.tracepoint |= source == BPF_SOURCE_TRACEPOINT;
		needs.usdt |= source == BPF_SOURCE_USDT;
	}
	needs.names = request->kernel_stacks;
	needs.reports_resume = needs.waits && bpf_access_has_tracepoint("sched_exit_tp");
	return needs;
}

static void choose(struct programs *programs, const struct needs *needs)
{
	const struct {
		struct bpf_program *program;
		bool needed;
	} choices[] = {
		{ programs->progs.on_clock, needs->clock },
		{ programs->progs.on_software_event, needs->event },
		{ programs->progs.on_switch, needs->change || needs->cpu },
		{ programs->progs.on_resume, needs->waits && needs->reports_resume },
		{ programs->progs.on_syscall, needs->syscall || (needs->waits && !needs->reports_resume) },
		{ programs->progs.on_last_call, needs->syscall },
		{ programs->progs.on_signal, needs->signal },
		{ programs->progs.on_user_trap, needs->trap },
		{ programs->progs.on_kernel_trap, needs->trap },
		{ programs->progs.on_disk_request, needs->disk },
		{ programs->progs.on_function, needs->function },
		{ programs->progs.on_tracepoint, needs->tracepoint },
		{ programs->progs.on_static_probe, needs->usdt },
	};
	bpf_program__set_autoload(programs->progs.on_names, needs->names);
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		bpf_program__set_autoload(choices[i].program, choices[i].needed);
	if (needs->function && bpf_uprobes_can_group())
		bpf_program__set_expected_attach_type(programs->progs.on_function,
						      (enum bpf_attach_type)BPF_UPROBES_ATTACH_TYPE);
	bpf_map__set_autocreate(programs->maps.__bpf_usdt_specs, needs->usdt);
	bpf_map__set_autocreate(programs->maps.__bpf_usdt_ip_to_spec_id, needs->usdt);
}

static void set_up(struct programs *programs, const struct backend_request *request, const struct needs *needs)
{
	struct bpf_settings *settings = (struct bpf_settings *)&programs->rodata->settings;
	settings->self = (uint32_t)getpid();
	settings->everything = request->everything;
	settings->creations = request->creations;
	settings->children = !request->no_children;
	settings->kernel_stacks = request->kernel_stacks;
	settings->measures_waits = needs->waits;
	settings->measures_cpu = needs->cpu;
	settings->late_waits = needs->waits && !needs->reports_resume;
	settings->requests = (uint32_t)request->resource_count;
	for (size_t i = 0; i < request->resource_count; i++) {
		*(struct bpf_request *)&programs->rodata->requests[i] = bpf_request_of(&request->resources[i]);
		if (bpf_source_of(request->resources[i].counter) == BPF_SOURCE_SYSCALL)
			settings->syscall_request[settings->syscall_requests++] = (uint8_t)i;
	}
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		*(uint8_t *)&programs->rodata->syscall_classes[classes[i].number] = classes[i].class;
}

static int refused(int result, struct error *error)
{
	if (result == -EPERM || result == -EACCES)
		return error_set(error, ERROR_PERMISSION,
				 "the kernel does not permit the eBPF programs: %s (run as root, or with CAP_BPF and "
				 "CAP_PERFMON)",
				 last_warning);
	return error_set(error, ERROR_UNSUPPORTED,
			 "the kernel refuses the eBPF programs: %s ('--backend perf' needs none)", last_warning);
}

/* Gives all chunks the type of the first one. Otherwise libbpf makes a chunk of 2 MB only to show the type. */
static int share_chunk(struct programs *programs)
{
	struct bpf_map *first = programs->maps.first_chunk;
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = bpf_map__map_flags(first));
	int fd = bpf_map_create(bpf_map__type(first), bpf_map__name(first), bpf_map__key_size(first),
				bpf_map__value_size(first), bpf_map__max_entries(first), &options);
	if (fd < 0)
		return -errno;
	int result = bpf_map__reuse_fd(first, fd);
	close(fd); /* `first` has its own */
	return result < 0 ? result : bpf_map__set_inner_map_fd(programs->maps.chunks, bpf_map__fd(first));
}

size_t bpf_ring_bytes(const struct backend_request *request)
{
	return request->has_low_rate ? BPF_RING_SMALL_BYTES : BPF_RING_BYTES;
}

/* Makes the maps as small as the request permits: the kernel clears all of their memory. */
static int set_sizes(struct programs *programs, const struct backend_request *request, size_t cpus)
{
	const struct {
		struct bpf_map *map;
		size_t entries;
	} sizes[] = {
		{ programs->maps.scratches, cpus * BPF_SCRATCHES_PER_CPU },
		{ programs->maps.ring, bpf_ring_bytes(request) },
		{ programs->maps.wanted, process_list_is_empty(request->processes) ? 1 : BPF_WANTED },
	};
	int result = 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && result == 0; i++)
		result = bpf_map__set_max_entries(sizes[i].map, (uint32_t)sizes[i].entries);
	/* Before Linux 6.1, programs of perf events may use a hash map only if its elements are allocated at once. */
	if (result == 0 && kernel_version_is_from(6, 1))
		result = bpf_map__set_map_flags(programs->maps.processes, BPF_F_NO_PREALLOC);
	return result < 0 ? result : share_chunk(programs);
}

/* Opens, sets up and loads the programs; *programs is NULL if it fails. `subset` is NULL if libbpf is to read the
 * kernel's types itself. Returns 0 or a negative errno. */
static int try_to_load(const struct backend_request *request, const struct needs *needs, size_t cpus,
		       struct type_subset *subset, struct programs **programs)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = subset ? type_subset_path(subset) : NULL);
	last_warning[0] = 0;
	*programs = programs__open_opts(&options);
	if (!*programs)
		return -errno;
	choose(*programs, needs);
	set_up(*programs, request, needs);
	int result = set_sizes(*programs, request, cpus);
	if (result == 0 && subset && type_subset_fill(subset, (*programs)->obj) < 0)
		result = -EINVAL;
	if (result == 0)
		result = programs__load(*programs);
	if (result < 0) {
		programs__destroy(*programs);
		*programs = NULL;
	}
	return result;
}

/* Tries to load with a subset of the kernel's types first: that is quicker. Whatever prevents it, libbpf then reads
 * all types, and reports what prevents that. */
static int load(const struct backend_request *request, const struct needs *needs, size_t cpus,
		struct programs **programs)
{
	struct type_subset *subset = type_subset_new();
	int result = subset ? try_to_load(request, needs, cpus, subset, programs) : -ENOENT;
	type_subset_free(subset);
	if (result == 0)
		return 0;
	type_subset_abandon();
	return try_to_load(request, needs, cpus, NULL, programs);
}

struct programs *bpf_programs_load(const struct backend_request *request, size_t cpus, struct error *error)
{
	libbpf_set_print(store_warning);
	struct needs needs = needs_of(request);
	struct programs *programs = NULL;
	int result = load(request, &needs, cpus, &programs);
	if (result == 0 && programs->bss)
		return programs;
	if (result == 0) /* libbpf could not map the variables: an old kernel, or a failed system call */
		error_set(error, ERROR_UNSUPPORTED,
			  "the kernel does not share the variables of eBPF programs ('--backend perf' needs none)");
	else
		refused(result, error);
	programs__destroy(programs);
	return NULL;
}

int bpf_programs_pass(struct programs *programs, enum bpf_task_pass pass)
{
	char nothing[64];
	programs->bss->pass = pass;
	struct bpf_link *link = bpf_program__attach_iter(programs->progs.on_task, NULL);
	if (!link)
		return ERROR_SYSTEM;
	int fd = bpf_iter_create(bpf_link__fd(link));
	ssize_t got;
	do
		got = fd < 0 ? -1 : read(fd, nothing, sizeof(nothing));
	while (got > 0 || (got < 0 && fd >= 0 && errno == EINTR));
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return got < 0 ? ERROR_SYSTEM : 0;
}

uint64_t bpf_programs_missed(const struct programs *programs)
{
	uint64_t missed = 0;
	struct bpf_program *program;
	bpf_object__for_each_program(program, programs->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t bytes = sizeof(info);
		/* A clock's interrupt during one of our own programs is no loss of the target's. */
		if (!bpf_program__autoload(program) || program == programs->progs.on_clock ||
		    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) < 0)
			continue;
		missed += info.recursion_misses;
	}
	return missed;
}
