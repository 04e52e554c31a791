/* The end of a thread, for walks in user space, in the target and in the kernel. */
#ifndef ARCH_X86_64_PROCESSOR_THREAD_END_H
#define ARCH_X86_64_PROCESSOR_THREAD_END_H

#include "abi/integers.h"

/* Returns whether code, of which these are the first 10 bytes, ends the thread with the value that its function returned:
 * mov %rax,%rdi (glibc; older ones mov %eax,%edi); mov $SYS_exit,%eax; syscall; or, in musl, mov %eax,%edi; xor %eax,%eax; mov $SYS_exit,%al; syscall. */
static inline bool code_ends_thread(uint64_t code, uint16_t next)
{
	return (code == 0x0000003cb8c78948 && next == 0x050f) ||
	       (code == 0x0f0000003cb8c789 && (next & 0xff) == 0x05) || code == 0x050f3cb0c031c789;
}

#endif
