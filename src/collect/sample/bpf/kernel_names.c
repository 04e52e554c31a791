#include "collect/sample/bpf/kernel_names.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "collect/sample/bpf/programs.h"

void bpf_kernel_names_init(struct bpf_kernel_names *names, struct programs *programs)
{
	*names = (struct bpf_kernel_names){ .programs = programs };
	hash_map_init(&names->is_tracing_code);
}

void bpf_kernel_names_release(struct bpf_kernel_names *names)
{
	hash_map_release(&names->is_tracing_code);
}

/* Has the kernel write the names of at most BPF_NAMES addresses. Returns 0, or ERROR_SYSTEM with errno set. */
static int find(struct programs *programs, const uint64_t *addresses, size_t count)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	memcpy(programs->bss->names.address, addresses, count * sizeof(*addresses));
	return bpf_prog_test_run_opts(bpf_program__fd(programs->progs.on_names), &options) < 0 ? ERROR_SYSTEM : 0;
}

/* Returns whether a function of this name only calls programs at a tracepoint. */
static bool only_calls_programs(const char *name)
{
	static const char *const starts[] = { "bpf_prog_",      "bpf_trace_run", "__bpf_trace_",   "__traceiter_",
					      "bpf_trampoline", "perf_trace_",   "trace_call_bpf", "perf_call_bpf" };
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static bool is_tracing_code(struct bpf_kernel_names *names, uint64_t address)
{
	uint32_t known = hash_map_get(&names->is_tracing_code, address);
	if (known != HASH_MAP_NONE)
		return known;
	bool is_it =
		find(names->programs, &address, 1) == 0 && only_calls_programs(names->programs->bss->names.name[0]);
	hash_map_put(&names->is_tracing_code, address, is_it); /* without memory, it is asked again */
	return is_it;
}

void bpf_kernel_names_trim(struct bpf_kernel_names *names, struct backend_sample *sample)
{
	while (sample->kernel_count > 0 && is_tracing_code(names, sample->kernel[0])) {
		sample->kernel++;
		sample->kernel_count--;
	}
}

int bpf_kernel_names_write(struct bpf_kernel_names *names, const uint64_t *addresses, size_t count, int fd)
{
	const struct bpf_names *found = &names->programs->bss->names;
	for (size_t first = 0; first < count; first += BPF_NAMES) {
		size_t some = count - first < BPF_NAMES ? count - first : BPF_NAMES;
		int status = find(names->programs, addresses + first, some);
		if (status < 0)
			return status;
		for (size_t i = 0; i < some; i++)
			if (dprintf(fd, "%016" PRIx64 " t %.*s\n", addresses[first + i], BPF_NAME_BYTES,
				    found->name[i]) < 0)
				return ERROR_SYSTEM;
	}
	return 0;
}
