# Assembler without sizes or types: each label reaches to the next.
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
