#include "collect/sample/bpf/access.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/sample/bpf/kernel_types.h"
#include "collect/sample/bpf/kernel_version.h"

static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level, (void)format, (void)arguments;
	return 0;
}

/* Tries to load a tracing program. Returns 0, or the errno with which the kernel refuses it. */
static int try_program(void)
{
	/* r0 = 0; exit */
	static const struct bpf_insn instructions[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "cpprof_probe", "GPL", instructions,
			       sizeof(instructions) / sizeof(instructions[0]), NULL);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Returns whether the kernel describes its types (BTF): the file is readable and not empty. */
static bool describes_itself(void)
{
	char byte;
	int fd = open(KERNEL_TYPES_PATH, O_RDONLY | O_CLOEXEC);
	bool is_there = fd >= 0 && read(fd, &byte, 1) == 1;
	if (fd >= 0)
		close(fd);
	return is_there;
}

static int find_out(struct error *error)
{
	libbpf_set_print(print_nothing);
	int refusal = try_program();
	if (refusal == EPERM || refusal == EACCES)
		return error_set(
			error, ERROR_PERMISSION,
			"eBPF programs are not permitted: run as root, give cpprof the capabilities with 'sudo "
			"setcap cap_bpf,cap_perfmon,cap_dac_read_search,cap_sys_ptrace=ep cpprof', or start "
			"the container with --cap-add BPF --cap-add PERFMON and an unconfined seccomp profile");
	if (refusal == ENOSYS || refusal == EINVAL)
		return error_set(
			error, ERROR_UNSUPPORTED,
			"this kernel has no eBPF (CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS), or a sandbox hides it");
	errno = refusal;
	if (refusal != 0)
		return error_set_errno(error, "the kernel refuses eBPF programs");
	if (!describes_itself())
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot read the kernel's types: no /sys/kernel/btf/vmlinux (a kernel with "
				 "CONFIG_DEBUG_INFO_BTF has it, and /sys must be mounted)");
	/* An older version may have it from a distributor. */
	if (!kernel_version_is_from(5, 17) &&
	    libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_loop, NULL) == 0)
		return error_set(error, ERROR_UNSUPPORTED,
				 "this kernel's eBPF cannot walk stacks (bpf_loop): it needs Linux 5.17 or later");
	return 0;
}

int bpf_access(struct error *error)
{
	static bool known;
	static int result;
	static struct error answer;
	if (!known) {
		result = find_out(&answer);
		known = true;
	}
	if (result < 0 && error)
		*error = answer;
	return result;
}

/* The kernel's description of its types names each tracepoint's prototype. */
bool bpf_access_has_tracepoint(const char *name)
{
	char wanted[128];
	snprintf(wanted, sizeof(wanted), "btf_trace_%s", name);
	struct kernel_types *types = kernel_types_open(KERNEL_TYPES_PATH);
	bool found = types && kernel_types_request(types, wanted, false) == 0 && kernel_types_search(types) == 0 &&
		     kernel_types_find(types, BTF_KIND_TYPEDEF, wanted) != 0;
	kernel_types_free(types);
	return found;
}
