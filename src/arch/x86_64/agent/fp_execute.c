#include "processor/agent/fp_execute.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "processor/agent/machine.h"

/*
 * The area: a page of code, which is a copy of the code below, and a page of data.
 *
 *   code   loads the registers, [slot], stores the registers
 *   data   struct data
 */
enum { PAGE_BYTES = 4096, SLOT_BYTES = 16, REGISTERS = 16 };

struct data {
	uint64_t stack, frame, components, mxcsr, flags;
	uint64_t registers[REGISTERS]; /* by their numbers in instructions */
};

_Static_assert(offsetof(struct data, registers) == 40, "as below");

extern const uint8_t fp_execute_code[] __attribute__((visibility("hidden")));
extern const uint8_t fp_execute_slot[] __attribute__((visibility("hidden")));
extern const uint8_t fp_execute_end[] __attribute__((visibility("hidden")));

/* The data is one page behind the code, wherever the code is copied to. */
__asm__(".pushsection .text\n"
	".set fp_execute_data, fp_execute_code + 4096\n"
	".hidden fp_execute_code, fp_execute_slot, fp_execute_end\n"
	".globl fp_execute_code, fp_execute_slot, fp_execute_end\n"
	"fp_execute_code:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	mov fp_execute_data+8(%rip), %rdi\n"
	"	mov fp_execute_data+16(%rip), %eax\n"
	"	xor %edx, %edx\n"
	"	xrstor64 (%rdi)\n"
	"	pushq fp_execute_data+32(%rip)\n"
	"	popfq\n"
	"	mov %rsp, fp_execute_data(%rip)\n"
	"	mov fp_execute_data+40(%rip), %rax\n	mov fp_execute_data+48(%rip), %rcx\n"
	"	mov fp_execute_data+56(%rip), %rdx\n	mov fp_execute_data+64(%rip), %rbx\n"
	"	mov fp_execute_data+72(%rip), %rsp\n	mov fp_execute_data+80(%rip), %rbp\n"
	"	mov fp_execute_data+88(%rip), %rsi\n	mov fp_execute_data+96(%rip), %rdi\n"
	"	mov fp_execute_data+104(%rip), %r8\n	mov fp_execute_data+112(%rip), %r9\n"
	"	mov fp_execute_data+120(%rip), %r10\n	mov fp_execute_data+128(%rip), %r11\n"
	"	mov fp_execute_data+136(%rip), %r12\n	mov fp_execute_data+144(%rip), %r13\n"
	"	mov fp_execute_data+152(%rip), %r14\n	mov fp_execute_data+160(%rip), %r15\n"
	"fp_execute_slot:\n"
	"	.fill 16, 1, 0x90\n"
	"	mov %rax, fp_execute_data+40(%rip)\n	mov %rcx, fp_execute_data+48(%rip)\n"
	"	mov %rdx, fp_execute_data+56(%rip)\n	mov %rbx, fp_execute_data+64(%rip)\n"
	"	mov %rsp, fp_execute_data+72(%rip)\n	mov %rbp, fp_execute_data+80(%rip)\n"
	"	mov %rsi, fp_execute_data+88(%rip)\n	mov %rdi, fp_execute_data+96(%rip)\n"
	"	mov %r8, fp_execute_data+104(%rip)\n	mov %r9, fp_execute_data+112(%rip)\n"
	"	mov %r10, fp_execute_data+120(%rip)\n	mov %r11, fp_execute_data+128(%rip)\n"
	"	mov %r12, fp_execute_data+136(%rip)\n	mov %r13, fp_execute_data+144(%rip)\n"
	"	mov %r14, fp_execute_data+152(%rip)\n	mov %r15, fp_execute_data+160(%rip)\n"
	"	mov fp_execute_data(%rip), %rsp\n"
	"	pushfq\n"
	"	popq fp_execute_data+32(%rip)\n"
	"	cld\n"
	"	mov fp_execute_data+8(%rip), %rdi\n"
	"	mov fp_execute_data+16(%rip), %eax\n"
	"	xor %edx, %edx\n"
	"	xsave64 (%rdi)\n"
	"	fninit\n"
	"	ldmxcsr fp_execute_data+24(%rip)\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	pop %rbx\n"
	"	ret\n"
	"fp_execute_end:\n"
	".popsection\n");

void *fp_execute_new(void)
{
	long memory = machine_syscall(SYS_mmap, 0, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory < 0)
		return NULL;
	void *area = (void *)memory; // NOLINT(performance-no-int-to-ptr)
	memcpy(area, fp_execute_code, (size_t)(fp_execute_end - fp_execute_code));
	return area;
}

void fp_execute_free(void *area)
{
	if (area)
		machine_syscall(SYS_munmap, (long)area, 2 * PAGE_BYTES, 0, 0, 0, 0);
}

/* --- the instruction ---
 *
 *   legacy  [66 F2 F3 64 65]* [REX] 0F [38 3A] opcode ModRM [SIB] [disp] [imm8]
 *   VEX     C5 RvvvvLpp | C4 RXBmmmmm WvvvvLpp, then as above from the opcode on
 *   EVEX    62 RXBR'0mmm ... ...
 *   x87     [64 65] [REX] D8..DF ModRM [SIB] [disp]; 9B
 */
struct instruction {
	uint8_t bytes[SLOT_BYTES];
	uint32_t length;
	uint32_t extension; /* position of the byte with bit B, if has_extension. Inverted in VEX and EVEX */
	bool is_inverted, has_extension;
	uint32_t modrm; /* position; 0: none */
	bool has_immediate;
	bool to_general; /* ModRM.reg is a general register */
};

static bool find_vex(struct instruction *found, uint32_t at, uint32_t *map)
{
	enum { MAP_MASK = 0x1f, EVEX_MAP_MASK = 7 };
	const uint8_t *code = found->bytes;
	if (code[at] == 0xc5) {
		*map = 1;
		found->modrm = at + 3;
		return true;
	}
	*map = code[at + 1] & (code[at] == 0x62 ? EVEX_MAP_MASK : MAP_MASK);
	found->extension = at + 1;
	found->has_extension = found->is_inverted = true;
	found->modrm = at + (code[at] == 0x62 ? 5 : 4);
	return true;
}

static bool find_opcode(struct instruction *found)
{
	const uint8_t *code = found->bytes;
	uint32_t at = 0, map = 1;
	while (at < 4 &&
	       (code[at] == 0x66 || code[at] == 0xf2 || code[at] == 0xf3 || code[at] == 0x64 || code[at] == 0x65))
		at++;
	if ((code[at] & 0xf0) == 0x40) {
		found->extension = at++;
		found->has_extension = true;
	}
	if (code[at] == 0x9b) {
		found->length = at + 1;
		return true;
	}
	if ((code[at] & 0xf8) == 0xd8) {
		found->modrm = at + 1;
		return true;
	}
	if (code[at] == 0xc5 || code[at] == 0xc4 || code[at] == 0x62) {
		if (!find_vex(found, at, &map))
			return false;
	} else if (code[at] == 0x0f) {
		map = code[at + 1] == 0x38 ? 2 : code[at + 1] == 0x3a ? 3 : 1;
		found->modrm = at + (map == 1 ? 2 : 3);
	} else {
		return false;
	}
	uint8_t opcode = code[found->modrm - 1];
	found->has_immediate = map == 3 || (map == 1 && opcode == 0xc2);
	found->to_general = opcode == 0x2c || opcode == 0x2d || opcode == 0x78 || opcode == 0x79;
	return true;
}

/* Finds the length. Changes an operand relative to rip into one by a register: *moved is that register's number, or
 * -1, and *address the value that it must have. */
static void find_length(struct instruction *found, uint64_t rip, int *moved, uint64_t *address)
{
	enum { DISPLACEMENT = 4, B = 1, INVERTED_B = 0x20 };
	uint8_t *modrm = &found->bytes[found->modrm];
	uint8_t mod = *modrm >> 6, rm = *modrm & 7;
	uint32_t at = found->modrm + 1;
	*moved = -1;
	if (mod != 3 && rm == 4 && (found->bytes[at++] & 7) == 5 && mod == 0)
		at += DISPLACEMENT;
	at += mod == 1 ? 1 : mod == 2 ? DISPLACEMENT : 0;
	if (mod != 0 || rm != 5) {
		found->length = at + found->has_immediate;
		return;
	}
	int32_t displacement;
	memcpy(&displacement, &found->bytes[at], sizeof(displacement));
	found->length = at + DISPLACEMENT + found->has_immediate;
	*address = rip + found->length + (uint64_t)(int64_t)displacement;
	*moved = found->to_general && (*modrm >> 3 & 7) == 0 ? 1 : 0;
	*modrm = (uint8_t)((*modrm & 0x38) | *moved);
	found->bytes[at] = found->bytes[at + DISPLACEMENT];
	if (found->has_extension)
		found->bytes[found->extension] =
			(uint8_t)(found->is_inverted ? found->bytes[found->extension] | INVERTED_B
						     : found->bytes[found->extension] & ~B);
}

/* --- */

static const uint8_t general[REGISTERS] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
					    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

/* Returns the components of a frame in the format of XSAVE, or 0 if it has another one. */
static uint32_t components_of(const ucontext_t *context)
{
	enum { MAGIC_AT = 464, MAGIC = 0x46505853, FEATURES_AT = 472, KNOWN = 0xe7 };
	const uint8_t *frame = (const uint8_t *)context->uc_mcontext.fpregs;
	uint32_t magic, features;
	memcpy(&magic, frame + MAGIC_AT, sizeof(magic));
	memcpy(&features, frame + FEATURES_AT, sizeof(features));
	return magic == MAGIC ? features & KNOWN : 0;
}

static void run(uint8_t *area, ucontext_t *context, uint32_t components)
{
	enum { STATUS_FLAGS = 0x8d5, HEADER_AT = 512, LEGACY = 3, MXCSR_DEFAULT = 0x1f80, FIP_AT = 8 };
	struct data *data = (struct data *)(void *)(area + PAGE_BYTES);
	uint8_t *frame = (uint8_t *)context->uc_mcontext.fpregs;
	greg_t *registers = context->uc_mcontext.gregs;
	uint64_t fip;
	data->frame = (uint64_t)(uintptr_t)frame;
	data->components = components;
	data->mxcsr = MXCSR_DEFAULT;
	data->flags = (uint64_t)registers[REG_EFL] & STATUS_FLAGS;
	((void (*)(void))(uintptr_t)area)();
	registers[REG_EFL] =
		(greg_t)(((uint64_t)registers[REG_EFL] & ~(uint64_t)STATUS_FLAGS) | (data->flags & STATUS_FLAGS));
	frame[HEADER_AT] |= LEGACY;
	memcpy(&fip, frame + FIP_AT, sizeof(fip));
	if (fip - (uint64_t)(uintptr_t)area < PAGE_BYTES)
		memcpy(frame + FIP_AT, &registers[REG_RIP], sizeof(fip));
}

bool fp_execute(void *area, ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;
	struct instruction found = { .length = 0 };
	uint32_t components = area ? components_of(context) : 0;
	uint64_t address = 0;
	int moved = -1;
	uint64_t rip = (uint64_t)registers[REG_RIP];
	enum { LONGEST = 15 };
	if (!components || rip % PAGE_BYTES + LONGEST > PAGE_BYTES) /* the next page may not be mapped */
		return false;
	memcpy(found.bytes, (const void *)(uintptr_t)rip, LONGEST); // NOLINT(performance-no-int-to-ptr)
	if (!find_opcode(&found))
		return false;
	if (found.modrm)
		find_length(&found, rip, &moved, &address);
	if (found.length > LONGEST)
		return false;
	uint32_t used = found.length - (moved >= 0 ? 4 : 0);
	memset(found.bytes + used, 0x90, SLOT_BYTES - used);
	uint8_t *slot = (uint8_t *)area + (fp_execute_slot - fp_execute_code);
	if (memcmp(slot, found.bytes, SLOT_BYTES) != 0)
		memcpy(slot, found.bytes, SLOT_BYTES);
	struct data *data = (struct data *)(void *)((uint8_t *)area + PAGE_BYTES);
	for (int i = 0; i < REGISTERS; i++)
		data->registers[i] = (uint64_t)registers[general[i]];
	if (moved >= 0)
		data->registers[moved] = address;
	run(area, context, components);
	for (int i = 0; i < REGISTERS; i++)
		if (i != moved)
			registers[general[i]] = (greg_t)data->registers[i];
	registers[REG_RIP] += found.length;
	return true;
}
