/*
 * mcount, _mcount and __fentry__: gcc and clang call them at the start of each function that is compiled with -pg,
 * or with -pg -mfentry. At that point any register may hold an argument (rax: the number of vector registers of a
 * variadic function; r10: a nested function's frame), so the hooks preserve all of them; only flags may change.
 *
 *	mcount, in a function that has its frame            __fentry__, its first instruction
 *
 *	|  return address   |  8(%rbp)   <- slot            |  return address   |  <- slot
 *	|  caller's rbp     |  (%rbp)                       |  in the function  |  <- rsp
 *	:                   :
 *	|  in the function  |  <- rsp
 *
 * The assembly handles the most frequent case. For `arcs`, the edge is in the cache. For `paths` and `trace`, the
 * caller is the frame on top, or one below it, and has called this function before. The measurement handles all
 * other cases, in C. hooks/frames.c explains the conditions for dropping frames.
 */
#include "processor/agent/hooks_offsets.h"

#define PUSH(register)    \
	push register;    \
	.cfi_adjust_cfa_offset 8

#define POP(register)    \
	pop register;    \
	.cfi_adjust_cfa_offset -8

#define BEGIN(name)              \
	.globl name;             \
	.type name, @function;   \
	.balign 64;              \
name:                            \
	.cfi_startproc;          \
	endbr64

#define END(name)       \
	.cfi_endproc;   \
	.size name, . - name

	.hidden hook_thread
	.hidden hooks_off
	.hidden hooks_arcs
	.hidden hooks_paths
	.hidden hooks_trace
	.hidden hooks_trace_put_slowly
	.hidden hooks_keep_vectors
	.hidden hooks_no_edge
	.hidden hooks_ready
	.hidden hooks_become_ready
	.text

/* Bytes of the stack from the last pushed register to the return address. */
#define PUSHED_THREE 24
#define PUSHED_FIVE 40
#define PUSHED_SIX 48
#define POP_THREE \
	POP(%rdx); POP(%rcx); POP(%rax)
#define POP_FIVE \
	POP(%rdi); POP(%rsi); POP_THREE

/* A frame that a handler has overwritten is written again, but not for ever: handlers may come at every instruction. */
#define PUSH_TRIES 8

/* Counts a call by a frame that has made it before. `slot`: the offset of the return slot from `base`; if from_stack
 * is 1, the base is the stack pointer before the pushes. rax: the thread. Three registers are pushed; all other
 * cases jump to `otherwise` in that state. */
.macro COUNT_PATH slot, base, from_stack, otherwise, writes_event
	/* rcx: the calling frame; rdx: its distance from the return slot rdi. */
	PUSH(%rsi)
	PUSH(%rdi)
	mov	THREAD_TOP(%rax), %rcx
	lea	\slot + \from_stack * PUSHED_FIVE(\base), %rdi
	mov	FRAME_RETURN_SLOT(%rcx), %rdx
	sub	%rdi, %rdx
	jbe	.Lreturned\@
.Lcaller\@:

	/* rdi: the guessed edge; rsi: the call site. */
	mov	(%rdi), %rsi
	mov	FRAME_GUESS(%rcx), %rdi
	cmp	EDGE_CODE(%rdi), %edx
	jne	.Lslow\@
	cmp	EDGE_CALL_SITE(%rdi), %rsi
	jne	.Lslow\@
	mov	PUSHED_FIVE(%rsp), %rdx
	cmp	EDGE_FUNCTION(%rdi), %rdx
	jne	.Lslow\@
	incq	EDGE_COUNT(%rdi)
	mov	EDGE_CHILD(%rdi), %rdx
	mov	EDGE_AFTER(%rdi), %rdi
	mov	%rdi, FRAME_GUESS(%rcx)
	add	$FRAME_BYTES, %rcx
	lea	\slot + \from_stack * PUSHED_FIVE(\base), %rdi
	mov	%rdi, FRAME_RETURN_SLOT(%rcx)
	cmp	%rdx, FRAME_NODE(%rcx)
	jne	.Lnode\@
.Lpush\@:
	mov	%rsi, FRAME_CALL_SITE(%rcx)
	mov	%rcx, THREAD_TOP(%rax)
	cmp	%rdi, FRAME_RETURN_SLOT(%rcx)
	jne	.Lagain\@
.Ldone\@:
.if \writes_event
	WRITE_EVENT
.endif
	.cfi_remember_state
	POP_FIVE
	ret
	.cfi_restore_state

.Lreturned\@:
	sub	$FRAME_BYTES, %rcx
	mov	FRAME_RETURN_SLOT(%rcx), %rdx
	sub	%rdi, %rdx
	ja	.Lcaller\@
	sub	$FRAME_BYTES, %rcx
	mov	FRAME_RETURN_SLOT(%rcx), %rdx
	sub	%rdi, %rdx
	ja	.Lcaller\@
	jmp	.Lreturned\@

	/* The last call from here was another function. The last frame guesses nothing, because there is no room for
	 * a next one. */
.Lnode\@:
	mov	%rdx, FRAME_NODE(%rcx)
	lea	FRAME_BYTES(%rcx), %rdi
	cmp	THREAD_LIMIT(%rax), %rdi
	lea	hooks_no_edge(%rip), %rdi
	jae	.Lno_guess\@
	cmpq	$0, NODE_RECENT(%rdx)
	cmovne	NODE_RECENT(%rdx), %rdi
.Lno_guess\@:
	mov	%rdi, FRAME_GUESS(%rcx)
	lea	\slot + \from_stack * PUSHED_FIVE(\base), %rdi
	jmp	.Lpush\@

	/* A handler that came between these stores has pushed a frame or a base here, with another return slot. */
.Lagain\@:
	PUSH($PUSH_TRIES)
.Ltry\@:
	lea	\slot + \from_stack * PUSHED_SIX(\base), %rdi
	mov	%rdi, FRAME_RETURN_SLOT(%rcx)
	mov	%rdx, FRAME_NODE(%rcx)
	mov	%rsi, FRAME_CALL_SITE(%rcx)
	lea	hooks_no_edge(%rip), %rdi
	mov	%rdi, FRAME_GUESS(%rcx)
	mov	%rcx, THREAD_TOP(%rax)
	lea	\slot + \from_stack * PUSHED_SIX(\base), %rdi
	cmp	%rdi, FRAME_RETURN_SLOT(%rcx)
	je	.Lpushed\@
	decq	(%rsp)
	jnz	.Ltry\@
.Lpushed\@:
	POP(%rdi)
	jmp	.Ldone\@

.Lslow\@:
	POP(%rdi)
	POP(%rsi)
	jmp	\otherwise
.endm

/* Writes the event that the path of node rdx is current now; five registers are pushed. hooks/trace.c explains the
 * order: take a word of the ring, then write it if it is in the ring and the ring is still the same. */
.macro WRITE_EVENT
	mov	%rax, %rdi
	mov	NODE_NUMBER(%rdx), %rsi
	lfence
	rdtsc
	cmp	THREAD_TICKS_HIGH(%rdi), %edx
	lea	EVENT_ENTER(, %rsi, EVENT_NUMBER_TIMES), %rsi
	jne	write_event_in_c
	mov	THREAD_EVENTS_END(%rdi), %rcx
	mov	$EVENT_BYTES, %edx
	xadd	%rdx, THREAD_NEXT_EVENT(%rdi)
	sub	%rcx, %rdx
	cmp	$-EVENTS_BYTES, %rdx
	jb	write_event_in_c
	shl	$32, %rax
	or	%rsi, %rax
	mov	%rax, (%rcx, %rdx)
	cmp	%rcx, THREAD_EVENTS_END(%rdi)
	jne	write_event_in_c
.endm

/* `slot`, `from_stack`: see COUNT_PATH. */
.macro HOOK slot, base, from_stack=0
	PUSH(%rax)
	PUSH(%rcx)
	PUSH(%rdx)
	mov	hook_thread@gottpoff(%rip), %rax
	mov	%fs:(%rax), %rax
	lea	hooks_arcs(%rip), %rcx
	mov	THREAD_MEASUREMENT(%rax), %rdx
	cmp	%rcx, %rdx
	jne	.Lno_arcs\@

	mov	PUSHED_THREE(%rsp), %rcx
	mov	\slot + \from_stack * PUSHED_THREE(\base), %rdx
	shr	$CACHE_SHIFT, %rcx
	add	%rdx, %rcx
	and	$(CACHE_SIZE - 1), %ecx
	mov	THREAD_CACHE(%rax, %rcx, 8), %rax
	cmp	EDGE_CALL_SITE(%rax), %rdx
	jne	.Lmeasurement\@
	mov	PUSHED_THREE(%rsp), %rcx
	cmp	EDGE_FUNCTION(%rax), %rcx
	jne	.Lmeasurement\@
	incq	EDGE_COUNT(%rax)
.Lcounted\@:
	.cfi_remember_state
	POP_THREE
	ret
	.cfi_restore_state

.Lno_arcs\@:
	lea	hooks_paths(%rip), %rcx
	cmp	%rcx, %rdx
	jne	.Lno_paths\@
	COUNT_PATH \slot, \base, \from_stack, .Lmeasurement\@, 0

.Lno_paths\@:
	lea	hooks_trace(%rip), %rcx
	cmp	%rcx, %rdx
	jne	.Lno_trace\@
	COUNT_PATH \slot, \base, \from_stack, .Lmeasurement\@, 1

.Lno_trace\@:
	lea	hooks_off(%rip), %rcx
	cmp	%rcx, %rdx
	je	.Lcounted\@
.Lmeasurement\@:
	lea	\slot + \from_stack * PUSHED_THREE(\base), %rcx
	jmp	go_to_measurement
.endm

/* A hook of that name. Before hooks may run, it returns (hooks/hooks.h). */
.macro DEFINE_HOOK name, slot, base, from_stack=0
BEGIN(\name)
	cmpb	$0, hooks_ready(%rip)
	je	.Learly_\name
.Lready_\name:
	HOOK	\slot, \base, \from_stack
.Learly_\name:
	call	become_ready
	cmpb	$0, hooks_ready(%rip)
	jne	.Lready_\name
	ret
END(\name)
.endm

	DEFINE_HOOK mcount, 8, %rbp

	.globl	_mcount
	.type	_mcount, @function
	.set	_mcount, mcount

	DEFINE_HOOK __fentry__, 8, %rsp, 1

/* Calls the measurement, with the three registers above on the stack and the return slot in rcx. Then restores all
 * registers and returns for the hook. */
	.type	go_to_measurement, @function
	.balign	16
go_to_measurement:
	.cfi_startproc
	.cfi_adjust_cfa_offset PUSHED_THREE
	PUSH(%rsi)
	PUSH(%rdi)
	mov	hook_thread@gottpoff(%rip), %rax
	mov	%fs:(%rax), %rdi
	mov	PUSHED_FIVE(%rsp), %rsi
	mov	(%rcx), %rdx
	mov	THREAD_MEASUREMENT(%rdi), %rax
	mov	MEASUREMENT_ENTERED(%rax), %rax

	/* rax: a function in C; five registers are pushed. */
call_in_c:
	PUSH(%r8)
	PUSH(%r9)
	PUSH(%r10)
	PUSH(%r11)
	PUSH(%rbp)
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	and	$-16, %rsp
	call	*%rax
	mov	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	POP(%rbp)
	.cfi_restore %rbp
	POP(%r11)
	POP(%r10)
	POP(%r9)
	POP(%r8)
	POP_FIVE
	ret
	.cfi_endproc
	.size	go_to_measurement, . - go_to_measurement

/* Calls hooks_become_ready and restores all registers. */
	.type	become_ready, @function
	.balign	16
become_ready:
	.cfi_startproc
	PUSH(%rax)
	PUSH(%rcx)
	PUSH(%rdx)
	PUSH(%rsi)
	PUSH(%rdi)
	lea	hooks_become_ready(%rip), %rax
	jmp	call_in_c
	.cfi_endproc
	.size	become_ready, . - become_ready

/* rdi: the thread; rsi: the event without its time. */
	.type	write_event_in_c, @function
	.balign	16
write_event_in_c:
	.cfi_startproc
	.cfi_adjust_cfa_offset PUSHED_FIVE
	lea	hooks_trace_put_slowly(%rip), %rax
	jmp	call_in_c
	.cfi_endproc
	.size	write_event_in_c, . - write_event_in_c

/* uint64_t hooks_keep_vectors(uint64_t (*function)(void *, uint64_t), void *first, uint64_t second): calls the
 * function and preserves the vector registers, in the layout of XSAVE, or of FXSAVE if the kernel does not enable
 * XSAVE.
 *
 *	0 legacy area   512 header, which must be zero for restoring   576 ... 2688 the rest
 */
#define VECTORS_BYTES 2688
#define HEADER 512
#define HEADER_BYTES 64
#define SSE_AVX_AVX512 0xe6

	.globl	hooks_keep_vectors
BEGIN(hooks_keep_vectors)
	PUSH(%rbp)
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%rbx
	push	%r12
	.cfi_offset %rbx, -24
	.cfi_offset %r12, -32
	sub	$VECTORS_BYTES, %rsp
	and	$-64, %rsp
	mov	%rdi, %r12
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	mov	has_xsave(%rip), %eax
	test	%eax, %eax
	jne	.Lknown
	mov	$1, %eax
	xor	%ecx, %ecx
	cpuid
	xor	%eax, %eax
	bt	$27, %ecx	/* OSXSAVE */
	setc	%al
	inc	%eax
	mov	%eax, has_xsave(%rip)
.Lknown:
	cmp	$2, %eax
	jne	.Lno_xsave
	xor	%eax, %eax
	.set	at, 0
	.rept	HEADER_BYTES / 8
	mov	%rax, HEADER + at(%rsp)
	.set	at, at + 8
	.endr
	mov	$SSE_AVX_AVX512, %eax
	xor	%edx, %edx
	xsave	(%rsp)
	call	*%r12
	mov	%rax, %r12
	mov	$SSE_AVX_AVX512, %eax
	xor	%edx, %edx
	xrstor	(%rsp)
.Lkept:
	mov	%r12, %rax
	mov	-8(%rbp), %rbx
	mov	-16(%rbp), %r12
	mov	%rbp, %rsp
	.cfi_remember_state
	.cfi_def_cfa_register %rsp
	.cfi_restore %rbx
	.cfi_restore %r12
	POP(%rbp)
	.cfi_restore %rbp
	ret
	.cfi_restore_state
.Lno_xsave:
	fxsave	(%rsp)
	call	*%r12
	mov	%rax, %r12
	fxrstor	(%rsp)
	jmp	.Lkept
END(hooks_keep_vectors)

	.local	has_xsave
	.comm	has_xsave, 4, 4		/* 0: unknown; 1: no; 2: yes */

	.section .note.GNU-stack, "", @progbits
	/* It may run where the processor requires each indirect call to end at an endbr64. */
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0	/* x86 features: IBT and shadow stacks */
