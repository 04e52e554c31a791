# Assembler code without sizes or types: each label extends to the next.
	.text
	.globl bare_first, bare_second
bare_first:
	nop
	nop
	ret
bare_second:
	nop
	nop
	ret
	.section .note.GNU-stack,"",@progbits
