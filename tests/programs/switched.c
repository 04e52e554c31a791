/*
 * Calls functions on the thread's stack from code on a stack of its own, as Go's runtime calls C from goroutines: by
 * the instructions of runtime.asmcgocall, whose call frame information omits the change of stacks. The outermost
 * function on the own stack returns to the second byte of `leave`, as goroutines return to runtime.goexit. It holds on
 * the thread's stack.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "burn.h"
#include "hold.h"

/* Only Go's programs have this note. */
__asm__(".pushsection .note.go.buildid, \"a\", @note\n"
	".long 4, 4, 4\n"
	".asciz \"Go\\0\"\n"
	".long 0\n"
	".popsection\n");

struct goroutine {
	uint64_t stack_start, stack_end;
};
__attribute__((used)) static struct goroutine own;
__attribute__((used)) static struct goroutine *current = &own;
__attribute__((used)) static uint64_t thread_sp;

void call_on_thread(void (*function)(void));
void enter(uint64_t sp, void (*function)(void));
void leave(void);

__asm__(".pushsection .text\n"
	".type call_on_thread, @function\n"
	"call_on_thread:\n"
	".cfi_startproc\n"
	"	mov %rdi, %rax\n"
	"	mov %rsp, %rdx\n"
	"	mov current(%rip), %rdi\n"
	"	mov thread_sp(%rip), %rsp\n"
	"	sub $0x40, %rsp\n"
	"	and $-16, %rsp\n"
	"	mov %rdi, 0x30(%rsp)\n"
	"	mov 8(%rdi), %rdi\n"
	"	sub %rdx, %rdi\n"
	"	mov %rdi, 0x28(%rsp)\n"
	"	call *%rax\n"
	"	mov 0x30(%rsp), %rdi\n"
	"	mov 8(%rdi), %rsi\n"
	"	sub 0x28(%rsp), %rsi\n"
	"	mov %rdi, current(%rip)\n"
	"	mov %rsi, %rsp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size call_on_thread, . - call_on_thread\n"
	/* Runs a function on the stack that begins at sp, until it returns to leave + 1. */
	".type enter, @function\n"
	"enter:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, thread_sp(%rip)\n"
	"	mov %rdi, %rsp\n"
	"	xor %ebp, %ebp\n"
	"	jmp *%rsi\n"
	".size enter, . - enter\n"
	".type leave, @function\n"
	"leave:\n"
	".cfi_startproc\n"
	"	nop\n"
	"	mov thread_sp(%rip), %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size leave, . - leave\n"
	".popsection\n");

NOINLINE static void on_thread(void)
{
	burn(20000);
	hold();
}

NOINLINE static void on_own_stack(void)
{
	burn(20000);
	NOT_A_TAIL_CALL();
}

NOINLINE static void calls_thread(void)
{
	call_on_thread(on_thread);
	NOT_A_TAIL_CALL();
}

NOINLINE static void goroutine(void)
{
	calls_thread();
	on_own_stack();
	NOT_A_TAIL_CALL();
}

int main(void)
{
	enum { BYTES = 256 * 1024 };
	void *stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		return 1;
	own = (struct goroutine){ (uint64_t)(uintptr_t)stack, (uint64_t)(uintptr_t)stack + BYTES };
	uint64_t *top = (uint64_t *)stack + BYTES / sizeof(*top);
	top[-3] = (uint64_t)(uintptr_t)leave + 1;
	enter((uint64_t)(uintptr_t)(top - 3), goroutine);
	share("goroutine;calls_thread;call_on_thread;on_thread;burn", 0.5);
	share("goroutine;on_own_stack;burn", 0.5);
	return 0;
}
