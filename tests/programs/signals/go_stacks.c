/*
 * Does with signal stacks what Go's runtime does in a program with C code: if a system call reports an alternate stack, this
 * thread's handlers must run on it; if none is reported, it sets one of its own.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

/* The note by which such programs are recognised: ".note.go.buildid". */
__asm__(".pushsection .note.go.buildid, \"a\", @note\n"
	".balign 4\n"
	".long 4, 4, 4\n"
	".asciz \"Go\\0\"\n"
	".ascii \"test\"\n"
	".popsection");

static stack_t stack;
static atomic_int outside, inside;

static void on_signal(int number)
{
	char here;
	(void)number;
	if (&here >= (char *)stack.ss_sp && &here < (char *)stack.ss_sp + stack.ss_size)
		atomic_fetch_add(&inside, 1);
	else
		atomic_fetch_add(&outside, 1);
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART };
	syscall(SYS_sigaltstack, NULL, &stack);
	if (stack.ss_flags & SS_DISABLE) {
		stack = (stack_t){ .ss_sp = malloc(65536), .ss_size = 65536 };
		syscall(SYS_sigaltstack, &stack, NULL);
	}
	sigemptyset(&action.sa_mask);
	check(sigaction(SIGURG, &action, NULL) == 0, "the action is set");
	for (int i = 0; i < 200; i++) {
		busy(0.0003);
		raise(SIGURG);
	}
	check(atomic_load(&inside) == 200, "each handler runs on that stack");
	check(atomic_load(&outside) == 0, "none runs elsewhere");
	return 0;
}
