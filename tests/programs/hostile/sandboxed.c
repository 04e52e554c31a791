/*
 * From the middle of its work on, it permits itself only the system calls that it needs, as sandboxes do; all
 * others fail. So timers may be refused, and with them ticks. The program must continue unchanged.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "moment.h"

#define PERMIT(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(void)
{
	struct sock_filter instructions[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		PERMIT(SYS_write),
		PERMIT(SYS_exit_group),
		PERMIT(SYS_rt_sigreturn),
		PERMIT(SYS_clock_gettime), /* burn() reads the thread's CPU time */
		PERMIT(SYS_brk),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog filter = { .len = sizeof(instructions) / sizeof(instructions[0]), .filter = instructions };

	burn(4000);
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
	for (int i = 1; i < 100; i++) {
		errno = i;
		burn(40);
		CHECK(errno == i);
		CHECK(syscall(SYS_getppid) == -1 && errno == EPERM);
	}
	return moment_ends("it stayed inside\n");
}
