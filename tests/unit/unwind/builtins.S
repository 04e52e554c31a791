/* A program with code as V8's embedded builtins: functions without call frame information between two functions that have it. */
	/* x86-64: sub $8,%rsp; add $8,%rsp; ret: functions that the search for rows by the code finds. */
	.macro FUNCTIONS bytes
#ifdef HAS_CODE
	.rept (\bytes) / 16
	.byte 0x48, 0x83, 0xec, 0x08, 0x48, 0x83, 0xc4, 0x08, 0xc3
	.skip 7, 0x90
	.endr
#else
	.skip \bytes
#endif
	.endm

	.text
	.globl before
	.type before, STT_FUNC
before:
	.cfi_startproc
	.skip 64
	.cfi_endproc
	.size before, . - before

#ifdef IS_V8
	.globl _ZN2v88internal7Isolate4InitEv
	.type _ZN2v88internal7Isolate4InitEv, STT_FUNC
	.set _ZN2v88internal7Isolate4InitEv, before
#endif

	/* Some code that is no builtin. */
	.skip 64

	.type Builtins_First, STT_FUNC
Builtins_First:
	FUNCTIONS 0x20000
#ifndef HAS_NO_SIZES
	.size Builtins_First, . - Builtins_First
#endif

#ifndef HAS_NO_SIZES
	.type Builtins_Last, STT_FUNC
#endif
Builtins_Last:
	FUNCTIONS BUILTIN_BYTES
#ifndef HAS_NO_SIZES
	.size Builtins_Last, . - Builtins_Last
#endif

	.skip 64

	.globl after
	.type after, STT_FUNC
after:
	.cfi_startproc
	.skip 64
	.cfi_endproc
	.size after, . - after

	/* A name that begins as theirs, but no function. */
	.data
	.globl Builtins_table
	.type Builtins_table, STT_OBJECT
Builtins_table:
	.skip 8
	.size Builtins_table, . - Builtins_table
	.section .note.GNU-stack,"",%progbits
