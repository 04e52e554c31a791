#include "collect/sample/perf/access.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NOT_READABLE = -2, USER_MODE_PARANOID = 2, KERNEL_MODE_PARANOID = 1, EVERYTHING_PARANOID = 0 };

static long read_number(const char *path, long otherwise)
{
	FILE *file = fopen(path, "re");
	long number;
	if (!file || fscanf(file, "%ld", &number) != 1)
		number = otherwise;
	if (file)
		fclose(file);
	return number;
}

int perf_access_paranoid(void)
{
	return (int)read_number("/proc/sys/kernel/perf_event_paranoid", NOT_READABLE);
}

static int refused_by_sandbox(int paranoid, struct error *error)
{
	return error_set(error, ERROR_PERMISSION,
			 "perf events are not permitted here although kernel.perf_event_paranoid is %d: a container's "
			 "seccomp profile probably forbids perf_event_open (start the container with --cap-add "
			 "PERFMON, or with --security-opt seccomp=unconfined)",
			 paranoid);
}

long perf_access_max_sample_rate(void)
{
	return read_number("/proc/sys/kernel/perf_event_max_sample_rate", 0);
}

static int refused_by_privilege(const struct resource_row *row, bool user_mode_only, struct error *error)
{
	int paranoid = perf_access_paranoid();
	int needed = user_mode_only ? KERNEL_MODE_PARANOID : USER_MODE_PARANOID;
	if (paranoid <= needed && !user_mode_only)
		return refused_by_sandbox(paranoid, error);
	if (user_mode_only)
		return error_set(error, ERROR_PERMISSION,
				 "cannot measure %s: kernel.perf_event_paranoid = %d hides what happens in the kernel "
				 "(record user mode with -r user, or permit all with 'sudo sysctl "
				 "kernel.perf_event_paranoid=%d' or CAP_PERFMON)",
				 row->name, paranoid, needed);
	return error_set(error, ERROR_PERMISSION,
			 "perf events are not permitted: kernel.perf_event_paranoid is %d ('sudo sysctl "
			 "kernel.perf_event_paranoid=%d' permits them, or CAP_PERFMON)",
			 paranoid, needed);
}

int perf_access_refused(const struct resource_row *row, int refusal, bool user_mode_only, struct error *error)
{
	switch (refusal) {
	case EACCES:
	case EPERM:
		return refused_by_privilege(row, user_mode_only, error);
	case ENOSYS:
		return error_set(error, ERROR_UNSUPPORTED,
				 "this kernel has no perf events (CONFIG_PERF_EVENTS), or a sandbox hides them");
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		if (row->is_hardware)
			return error_set(error, ERROR_UNSUPPORTED,
					 "this machine has no hardware counter for %s, as many virtual machines (cpu, "
					 "user, sys and page-faults need none)",
					 row->name);
		return error_set(error, ERROR_UNSUPPORTED, "this kernel cannot count %s", row->name);
	default:
		errno = refusal;
		return error_set_errno(error, "the kernel refuses to count %s", row->name);
	}
}

int perf_access_everything_refused(int refusal, struct error *error)
{
	int paranoid = perf_access_paranoid();
	if (refusal != EACCES && refusal != EPERM) {
		errno = refusal;
		return error_set_errno(error, "cannot observe all threads of a CPU");
	}
	if (paranoid <= EVERYTHING_PARANOID)
		return refused_by_sandbox(paranoid, error);
	return error_set(
		error, ERROR_PERMISSION,
		"cannot observe every process: kernel.perf_event_paranoid is %d ('sudo sysctl "
		"kernel.perf_event_paranoid=%d' permits it, or CAP_PERFMON; -p PID records your own processes)",
		paranoid, EVERYTHING_PARANOID);
}

/* Returns whether we have CAP_IPC_LOCK, bit 14 of the effective capabilities. */
static bool may_lock_memory(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	unsigned long long capabilities = 0;
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %llx", &capabilities) == 1)
			break;
	if (file)
		fclose(file);
	enum { CAP_IPC_LOCK_BIT = 14 };
	return (capabilities >> CAP_IPC_LOCK_BIT) & 1;
}

static size_t power_of_two_below(size_t bytes)
{
	size_t power = 1;
	while (power <= bytes / 2)
		power *= 2;
	return power;
}

void perf_access_ring_sizes(size_t cpu_count, size_t side_wanted, size_t samples_wanted, size_t samples_min,
			    size_t *side_bytes, size_t *sample_bytes)
{
	/* More CPUs share the memory of this many, so that it stays bounded, as long as that
	 * leaves a megabyte for each. */
	enum { FULL_SIZE_CPUS = 4, SHARE_LEAST = 1024 * 1024 };
	size_t share = cpu_count > FULL_SIZE_CPUS ? samples_wanted * FULL_SIZE_CPUS / cpu_count : samples_wanted;
	*side_bytes = side_wanted;
	*sample_bytes = power_of_two_below(share);
	if (*sample_bytes < SHARE_LEAST)
		*sample_bytes = SHARE_LEAST;
	if (may_lock_memory() || perf_access_paranoid() == -1)
		return;
	enum { KB = 1024, DEFAULT_MLOCK_KB = 516, CONTROL_PAGES = 3 /* of the sample ring and up to two side rings */ };
	size_t per_cpu = (size_t)read_number("/proc/sys/kernel/perf_event_mlock_kb", DEFAULT_MLOCK_KB) * KB;
	struct rlimit limit;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
		per_cpu += (limit.rlim_cur == RLIM_INFINITY ? samples_wanted * cpu_count : limit.rlim_cur) / cpu_count;
	size_t control = CONTROL_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	per_cpu = per_cpu > control ? per_cpu - control : 0;
	if (*side_bytes > per_cpu / 4)
		*side_bytes = power_of_two_below(per_cpu / 4);
	size_t left = per_cpu > *side_bytes ? per_cpu - *side_bytes : 0;
	if (*sample_bytes > left)
		*sample_bytes = power_of_two_below(left);
	if (*sample_bytes < samples_min)
		*sample_bytes = samples_min;
	if (*side_bytes < samples_min / 4)
		*side_bytes = samples_min / 4;
}
