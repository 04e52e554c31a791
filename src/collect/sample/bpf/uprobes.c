#include "collect/sample/bpf/uprobes.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The part of union bpf_attr that BPF_LINK_CREATE reads, as of Linux 6.6. */
struct link_create {
	uint32_t program_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t reference_counters;
	uint64_t cookies;
	uint32_t count;
	uint32_t uprobe_flags; /* 1: at the function's return */
	uint32_t pid;          /* 0: all */
	uint32_t spare;
};

int bpf_uprobes_attach(int program_fd, const char *path, const uint64_t *offsets, const uint64_t *cookies, size_t count,
		       bool at_return, pid_t pid)
{
	struct link_create attr = {
		.program_fd = (uint32_t)program_fd,
		.attach_type = BPF_UPROBES_ATTACH_TYPE,
		.path = (uint64_t)(uintptr_t)path,
		.offsets = (uint64_t)(uintptr_t)offsets,
		.cookies = (uint64_t)(uintptr_t)cookies,
		.count = (uint32_t)count,
		.uprobe_flags = at_return,
		.pid = (uint32_t)pid,
	};
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

/* Tries it with a directory, which cannot be probed: a kernel that has this kind of link reports EBADF. */
static bool try_group(void)
{
	/* r0 = 0; exit */
	static const struct bpf_insn instructions[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = (enum bpf_attach_type)BPF_UPROBES_ATTACH_TYPE);
	int program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "cpprof_probe", "GPL", instructions,
				    sizeof(instructions) / sizeof(instructions[0]), &options);
	if (program < 0)
		return false;
	uint64_t offset = 0;
	int link = bpf_uprobes_attach(program, "/", &offset, NULL, 1, false, 0);
	int refusal = errno;
	if (link >= 0)
		close(link);
	close(program);
	return link < 0 && refusal == EBADF;
}

bool bpf_uprobes_can_group(void)
{
	static bool known, can;
	if (!known)
		can = try_group();
	known = true;
	return can;
}
