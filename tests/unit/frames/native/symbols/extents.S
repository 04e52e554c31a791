/*
 * Assembler without sizes. The names with `hidden` are not exported, so a stripped library has no symbols for them.
 */
#ifdef __aarch64__
#define BRANCH cbz x0,
#else
#define BRANCH jz
#endif
	.macro function name
	.balign 16
\name:
	nop
	.endm

	.text
	function hidden_first
	ret
	.globl label
	function label
	BRANCH hidden_tail
	ret
hidden_tail:
	nop
	ret
	function hidden_second
	ret
	function hidden_third
	ret
	.globl sized, label_in_sized
	.type sized, %function
	function sized
label_in_sized:
	ret
	.size sized, . - sized
	function hidden_fourth
	ret
	.globl framed
	.balign 16
framed:
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	function hidden_fifth
	ret

	.section other_code, "ax", %progbits
	function hidden_other
	ret

	.section far_code, "ax", %progbits
	.globl far
	function far
	.rept 6000
	nop
	.endr
	ret
	.section .note.GNU-stack, "", %progbits
