/* Finds the code of Go's runtime that changes stacks, by its instructions. */
#include <string.h>

#include "arch/arch.h"

enum { WORD = 8 };

/* Reads the displacement of an instruction with an operand at rsp, whose bytes up to ModRM are `opcode`. Returns the
 * length of the instruction, or 0 if it is another one. */
static size_t stack_operand(const uint8_t *code, const uint8_t opcode[2], uint8_t reg, uint8_t *displacement)
{
	enum { BY_SIB = 4, BYTE_DISPLACEMENT = 0x40, SIB_RSP = 0x24 };
	if (memcmp(code, opcode, 2) != 0 || code[3] != SIB_RSP)
		return 0;
	*displacement = 0;
	if (code[2] == (reg << 3 | BY_SIB))
		return 4;
	*displacement = code[4];
	return code[2] == (BYTE_DISPLACEMENT | reg << 3 | BY_SIB) ? 5 : 0;
}

/*
 * runtime.asmcgocall, from Go 1.4 on; the numbers of the slots differ between versions. For a goroutine:
 *
 *	call *%rax
 *	mov $offset, %rcx        only in position-independent programs
 *	mov g(%rsp), %rdi        the goroutine
 *	mov 8(%rdi), %rsi        the end of its stack
 *	sub saved(%rsp), %rsi    the distance from it
 *	...                      stores g
 *	mov %rsi, %rsp
 *
 * For code on a thread's stack already; and in asmcgocall_no_g, with rdx:
 *
 *	call *%rax
 *	mov saved(%rsp), %rsi
 *	mov %rsi, %rsp
 */
static bool read_call_of_c(const uint8_t *at, struct unwind_row *row)
{
	enum { DX = 2, SI = 6, DI = 7, STORE_MAX = 24 };
	static const uint8_t load[] = { 0x48, 0x8b }, subtract[] = { 0x48, 0x2b };
	static const uint8_t end_of_stack[] = { 0x48, 0x8b, 0x77, 0x08 }, to_cx[] = { 0x48, 0xc7, 0xc1 };
	static const uint8_t from_si[] = { 0x48, 0x89, 0xf4 }, from_dx[] = { 0x48, 0x89, 0xd4 };
	uint8_t goroutine, saved;
	size_t bytes = stack_operand(at, load, SI, &saved);
	if (bytes > 0 && memcmp(at + bytes, from_si, sizeof(from_si)) == 0) {
		*row = (struct unwind_row){ .cfa = (int16_t)(saved / WORD), .kind = UNWIND_SWITCH };
		return saved % WORD == 0;
	}
	bytes = stack_operand(at, load, DX, &saved);
	if (bytes > 0 && memcmp(at + bytes, from_dx, sizeof(from_dx)) == 0) {
		*row = (struct unwind_row){ .cfa = (int16_t)(saved / WORD), .kind = UNWIND_SWITCH };
		return saved % WORD == 0;
	}
	at += memcmp(at, to_cx, sizeof(to_cx)) == 0 ? sizeof(to_cx) + sizeof(int32_t) : 0;
	bytes = stack_operand(at, load, DI, &goroutine);
	if (bytes == 0 || memcmp(at + bytes, end_of_stack, sizeof(end_of_stack)) != 0)
		return false;
	at += bytes + sizeof(end_of_stack);
	bytes = stack_operand(at, subtract, SI, &saved);
	if (bytes == 0 || goroutine != saved + WORD || saved % WORD != 0 ||
	    !memmem(at + bytes, STORE_MAX, from_si, sizeof(from_si)))
		return false;
	*row = (struct unwind_row){ .cfa = (int16_t)(saved / WORD),
				    .kind = UNWIND_SWITCH,
				    .fp = (int8_t)(goroutine / WORD) };
	return true;
}

/* The same before the call: mov %rbx, %rdi; mov %rbx, %rcx; call *%rax */
static bool read_before_call_of_c(const uint8_t *at, struct unwind_row *row)
{
	static const uint8_t call[] = { 0xff, 0xd0 };
	return memcmp(at, call, sizeof(call)) == 0 && read_call_of_c(at + sizeof(call), row);
}

/* The same behind the call, for a goroutine: up to mov %rsi, %rsp */
static size_t read_behind_call_of_c(const uint8_t *code, struct unwind_row *row)
{
	enum { MOST = 40 };
	static const uint8_t restore[] = { 0x48, 0x89, 0xf4 };
	const uint8_t *end = read_call_of_c(code, row) ? memmem(code, MOST, restore, sizeof(restore)) : NULL;
	return end ? (size_t)(end - code) + sizeof(restore) : 0;
}

/* Reads a displacement of 1 or 4 bytes behind a ModRM byte that is `by_byte` or `by_byte` +
 * 0x40. Returns the length of both, or 0. */
static size_t read_displacement(const uint8_t *code, uint8_t by_byte, int32_t *displacement)
{
	enum { LONG_FORM = 0x40, SIGN = 0x80 };
	*displacement = (code[1] ^ SIGN) - SIGN;
	if (code[0] == by_byte)
		return 2;
	memcpy(displacement, code + 1, sizeof(*displacement));
	return code[0] == by_byte + LONG_FORM ? 1 + sizeof(*displacement) : 0;
}

/* Reads the load of Go's present goroutine into rax: mov %fs:offset, %rax, or mov $offset, %rcx;
 * mov %fs:(%rcx), %rax. Returns its length, or 0 if it is another instruction. */
static size_t read_present(const uint8_t *code, int32_t *offset)
{
	static const uint8_t by_offset[] = { 0x64, 0x48, 0x8b, 0x04, 0x25 }, to_cx[] = { 0x48, 0xc7, 0xc1 },
			     by_cx[] = { 0x64, 0x48, 0x8b, 0x01 };
	if (memcmp(code, by_offset, sizeof(by_offset)) == 0) {
		memcpy(offset, code + sizeof(by_offset), sizeof(*offset));
		return sizeof(by_offset) + sizeof(*offset);
	}
	memcpy(offset, code + sizeof(to_cx), sizeof(*offset));
	bool found = memcmp(code, to_cx, sizeof(to_cx)) == 0 &&
		     memcmp(code + sizeof(to_cx) + sizeof(*offset), by_cx, sizeof(by_cx)) == 0;
	return found ? sizeof(to_cx) + sizeof(*offset) + sizeof(by_cx) : 0;
}

/*
 * runtime.systemstack, which calls a function on the thread's stack and then returns to the goroutine's stack:
 *
 *	call *%rdi
 *	mov %fs:..., %rax            g, the present goroutine
 *	mov 0x30(%rax), %rbx         g.m
 *	mov curg(%rbx), %rax         g.m.curg
 *	mov %rax, %fs:...            or %fs:(%rcx)
 *	mov 0x38(%rax), %rsp         its sched.sp
 */
static bool read_systemstack(const uint8_t *at, struct unwind_row *row)
{
	enum { STORE_MAX = 16, MOV_BYTES = 2, LOADED_BX = 0x43 };
	static const uint8_t load_m[] = { 0x48, 0x8b, 0x58, 0x30 }, load[] = { 0x48, 0x8b };
	static const uint8_t load_sp[] = { 0x48, 0x8b, 0x60, 0x38 };
	int32_t offset = 0, curg = 0;
	size_t bytes = read_present(at, &offset);
	if (bytes == 0 || memcmp(at + bytes, load_m, sizeof(load_m)) != 0)
		return false;
	at += bytes + sizeof(load_m);
	bytes = memcmp(at, load, sizeof(load)) == 0 ? read_displacement(at + MOV_BYTES, LOADED_BX, &curg) : 0;
	*row = (struct unwind_row){ .cfa = (int16_t)(curg / WORD),
				    .kind = UNWIND_GOROUTINE,
				    .fp = (int8_t)(offset / WORD) };
	return bytes > 0 && memmem(at + MOV_BYTES + bytes, STORE_MAX, load_sp, sizeof(load_sp)) &&
	       row->cfa * WORD == curg && row->fp * WORD == offset;
}

/* runtime.mcall: a goroutine calls the scheduler, which does not return to it. pop %rax; jmp runtime.badmcall2 */
static bool read_mcall(const uint8_t *at, struct unwind_row *row)
{
	enum { POP_AX = 0x58, JMP = 0xe9, LEA = 0x48 };
	*row = (struct unwind_row){ .kind = UNWIND_END };
	return at[0] == POP_AX && (at[1] == JMP || at[1] == LEA);
}

/* runtime.morestack: the call of runtime.newstack, and the call of runtime.abort, because runtime.newstack does not return. */
static bool read_morestack(const uint8_t *at, struct unwind_row *row)
{
	enum { CALL = 0xe8 };
	*row = (struct unwind_row){ .kind = UNWIND_GROWING };
	return at[0] == CALL;
}

/* runtime.sigreturn: mov $15, %rax; syscall; int $3 */
static bool read_sigreturn(const uint8_t *at, struct unwind_row *row)
{
	enum { INT = 0xcd };
	*row = (struct unwind_row){ .cfa = ARCH_SIGNAL_WORDS, .kind = UNWIND_SIGNAL };
	return at[0] == INT;
}

/*
 * time.now, runtime.nanotime1 and runtime.walltime, which call the vDSO on the thread's stack and
 * store their own CFA for Go's walks:
 *
 * 	mov %rdx, vdsoSP(%rbx)       in struct m
 * 	cmp curg(%rbx), %r14
 * 	jne 1f
 * 	mov (%rbx), %rdx             g0
 * 	mov 0x38(%rdx), %rsp         its sched.sp
 *   1: ...                          the row's code begins
 * 	mov %r12, %rsp               its last instruction
 */
static size_t read_clock(const uint8_t *code, struct unwind_row *row)
{
	enum { STORE_BYTES = 7, COMPARE_BYTES = 7, BEGIN = STORE_BYTES + COMPARE_BYTES + 9, STORE_OPERAND = 3 };
	static const uint8_t switches[] = { 0x75, 0x07, 0x48, 0x8b, 0x13, 0x48, 0x8b, 0x62, 0x38 };
	static const uint8_t compare[] = { 0x4c, 0x3b, 0xb3 }, restore[] = { 0x4c, 0x89, 0xe4 };
	int32_t offset;
	memcpy(&offset, code + STORE_OPERAND, sizeof(offset));
	*row = (struct unwind_row){ .cfa = (int16_t)(offset / WORD), .kind = UNWIND_CLOCK };
	if (memcmp(code + STORE_BYTES, compare, sizeof(compare)) != 0 ||
	    memcmp(code + STORE_BYTES + COMPARE_BYTES, switches, sizeof(switches)) != 0 || row->cfa * WORD != offset)
		return 0;
	const uint8_t *end = memmem(code + BEGIN, ARCH_SWITCH_BYTES - BEGIN, restore, sizeof(restore));
	return end ? (size_t)(end - code) + sizeof(restore) : 0;
}

/*
 * runtime.cgocallback, which C calls on the thread's stack, continues on the goroutine's:
 *
 * 	mov %rdi, %rsp
 *   1: mov %rbx, (%rsp)             the row's code begins
 * 	mov %rcx, 8(%rsp)
 * 	...
 * 	call *%rax
 * 	lea cfa(%rsp), %rax
 * 	sub %rsp, %rax
 * 	...
 * 	mov 0x38(%rsi), %rsp         the thread's again: its last instruction
 */
static size_t read_callback(const uint8_t *code, struct unwind_row *row)
{
	enum { BEGIN = 12, CFA_OPERAND = 6, LEA_BYTES = 7 };
	static const uint8_t second[] = { 0x48, 0x89, 0x4c, 0x24, 0x08 },
			     call[] = { 0xff, 0xd0, 0x48, 0x8d, 0x44, 0x24 };
	static const uint8_t size[] = { 0x48, 0x29, 0xe0 }, restore[] = { 0x48, 0x8b, 0x66, 0x38 };
	if (memcmp(code + BEGIN - sizeof(second), second, sizeof(second)) != 0)
		return 0;
	const uint8_t *at = memmem(code + BEGIN, ARCH_SWITCH_BYTES - BEGIN, call, sizeof(call));
	const uint8_t *end = at ? memmem(at, (size_t)(code + ARCH_SWITCH_BYTES - at), restore, sizeof(restore)) : NULL;
	if (!end || memcmp(at + LEA_BYTES, size, sizeof(size)) != 0 || at[CFA_OPERAND] % WORD != 0)
		return 0;
	*row = (struct unwind_row){ .cfa = (int16_t)(at[CFA_OPERAND] / WORD), .kind = UNWIND_CALLBACK };
	return (size_t)(end - code) + sizeof(restore);
}

/*
 * crosscall2, through which C calls runtime.cgocallback. Call frame information of Go's assembler does not have the caller's rbp:
 *
 *	mov %rcx, 16(%rsp)
 *	call runtime.cgocallback     the row's code
 *	add $24, %rsp
 *	...
 *	mov saved(%rsp), %rbp
 *	add $size, %rsp
 *	ret
 */
static bool read_call_of_callback(const uint8_t *at, struct unwind_row *row)
{
	enum { LOADS_MAX = 40, LOAD_BYTES = 5, RET_AT = LOAD_BYTES + 4, ARGUMENTS = 24, RET = 0xc3 };
	static const uint8_t remove[] = { 0x48, 0x83, 0xc4, ARGUMENTS }, load[] = { 0x48, 0x8b, 0x6c, 0x24 };
	if (memcmp(at, remove, sizeof(remove)) != 0)
		return false;
	at = memmem(at + sizeof(remove), LOADS_MAX, load, sizeof(load));
	if (!at || memcmp(at + LOAD_BYTES, remove, sizeof(remove) - 1) != 0)
		return false;
	int saved = at[LOAD_BYTES - 1] + ARGUMENTS, cfa = at[RET_AT - 1] + ARGUMENTS + WORD;
	*row = (struct unwind_row){ .cfa = (int16_t)(cfa / WORD),
				    .kind = UNWIND_SP,
				    .fp = (int8_t)((saved - cfa) / WORD) };
	return at[RET_AT] == RET && cfa % WORD == 0 && saved % WORD == 0;
}

/* Code by its first bytes. `start`: where the row begins. */
static const struct pattern {
	uint8_t code[9];
	uint8_t bytes, start, operand_bytes;
	/* One of them: reads what follows the code and its operand, where the row ends; or all
	 * code, and returns where the row ends. */
	bool (*read)(const uint8_t *after, struct unwind_row *row);
	size_t (*read_all)(const uint8_t *code, struct unwind_row *row);
} patterns[] = {
	{ { 0xff, 0xd0 }, 2, 0, 0, read_call_of_c, NULL },
	{ { 0x48, 0x89, 0xdf, 0x48, 0x89, 0xd9 }, 6, 0, 0, read_before_call_of_c, NULL },
	{ { 0x48, 0x8b, 0x7c, 0x24 }, 4, 0, 0, NULL, read_behind_call_of_c },
	{ { 0xff, 0xd7 }, 2, 0, 0, read_systemstack, NULL },
	{ { 0x41, 0xff, 0xd4 }, 3, 0, 0, read_mcall, NULL },
	/* mov 0x38(%rbx), %rsp; call; and from Go 1.21 on, mov 0x68(%rbx), %rbp before the call */
	{ { 0x48, 0x8b, 0x63, 0x38, 0xe8 }, 5, 4, 4, read_morestack, NULL },
	{ { 0x48, 0x8b, 0x6b, 0x68, 0xe8 }, 5, 4, 4, read_morestack, NULL },
	{ { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }, 9, 0, 0, read_sigreturn, NULL },
	{ { 0x48, 0x89, 0x93 }, 3, 23, 0, NULL, read_clock },
	{ { 0x48, 0x89, 0xfc, 0x48, 0x89, 0x1c, 0x24 }, 7, 3, 0, NULL, read_callback },
	{ { 0x48, 0x89, 0x4c, 0x24, 0x10, 0xe8 }, 6, 5, 4, read_call_of_callback, NULL },
};

/* Returns the length of the pattern at `code`, which has ARCH_SWITCH_BYTES, or 0 if it is not there. */
static size_t read_pattern(const struct pattern *pattern, const uint8_t *code, struct unwind_row *row)
{
	if (memcmp(code, pattern->code, pattern->bytes) != 0)
		return 0;
	if (pattern->read_all)
		return pattern->read_all(code, row);
	size_t end = (size_t)pattern->bytes + pattern->operand_bytes;
	return pattern->read(code + end, row) ? end : 0;
}

bool arch_next_switch(const uint8_t *code, size_t size, size_t *at, size_t *end, struct unwind_row *row)
{
	for (; *at + ARCH_SWITCH_BYTES <= size; ++*at) {
		uint8_t first = code[*at];
		if (first != 0xff && first != 0x41 && first != 0x48)
			continue;
		for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
			size_t bytes = read_pattern(&patterns[i], code + *at, row);
			if (bytes == 0)
				continue;
			*end = *at + bytes;
			*at += patterns[i].start;
			return true;
		}
	}
	return false;
}
