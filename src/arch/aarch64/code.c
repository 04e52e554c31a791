/* Recognizes code as the compilers, linkers and C libraries of this processor make it. Instructions are 4 bytes,
 * little endian; names and fields: Arm Architecture Reference Manual, C6.2. */
#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "processor/thread_end.h"

const uint32_t arch_chosen_relocation = R_AARCH64_IRELATIVE;
const uint32_t arch_relative_relocation = R_AARCH64_RELATIVE;

enum { BYTES = 4 };

static uint32_t instruction_at(const uint8_t *code)
{
	uint32_t instruction;
	memcpy(&instruction, code, sizeof(instruction));
	return instruction;
}

static int64_t sign_extended(uint64_t value, unsigned bits)
{
	uint64_t sign = UINT64_C(1) << (bits - 1);
	return (int64_t)((value ^ sign) - sign);
}

/* Returns whether calls and jumps by register may lead to this instruction: bti, paciasp or pacibsp. */
static bool is_landing(uint32_t instruction)
{
	return (instruction & 0xffffff3f) == 0xd503241f || instruction == 0xd503233f || instruction == 0xd503237f;
}

/* Sets *page to the page that adrp xN at `address` computes. Returns false if it is another instruction. */
static bool adrp(uint32_t instruction, unsigned number, uint64_t address, uint64_t *page)
{
	enum { PAGE_SHIFT = 12 };
	if ((instruction & 0x9f00001f) != (0x90000000 | number))
		return false;
	uint64_t pages = (instruction >> 5 & 0x7ffff) << 2 | (instruction >> 29 & 3);
	*page = (address >> PAGE_SHIFT << PAGE_SHIFT) + ((uint64_t)sign_extended(pages, 21) << PAGE_SHIFT);
	return true;
}

/* Returns the target of b and bl. */
static uint64_t branch_target(uint32_t instruction, uint64_t address)
{
	return address + (uint64_t)sign_extended(instruction & 0x3ffffff, 26) * BYTES;
}

enum arch_call arch_call_in(const uint8_t code[ARCH_CALL_BYTES], uint64_t return_address, uint64_t *target)
{
	uint32_t instruction = instruction_at(code);
	*target = 0;
	if ((instruction & 0xfc000000) == 0x94000000) { /* bl */
		*target = branch_target(instruction, return_address - BYTES);
		return ARCH_CALL;
	}
	/* blr, and the variants that check a signature: blraaz, blrabz, blraa, blrab */
	bool is_blr = (instruction & 0xfffffc1f) == 0xd63f0000 || (instruction & 0xfffff81f) == 0xd63f081f ||
		      (instruction & 0xfffff800) == 0xd73f0800;
	return is_blr ? ARCH_CALL : ARCH_NO_CALL;
}

/* Finds the slot of a stub: adrp x16; ldr x17, [x16, #offset], behind an optional bti. */
static bool slot_of_stub(const uint8_t *code, size_t size, uint64_t address, uint64_t *slot)
{
	enum { X16 = 16, LDR_X17_X16 = 0xf9400211 };
	uint64_t page;
	size_t at = size >= BYTES && is_landing(instruction_at(code)) ? BYTES : 0;
	if (at + 2 * BYTES > size || !adrp(instruction_at(code + at), X16, address + at, &page))
		return false;
	uint32_t load = instruction_at(code + at + BYTES);
	if ((load & 0xffc003ff) != LDR_X17_X16)
		return false;
	*slot = page + (load >> 10 & 0xfff) * sizeof(uint64_t);
	return true;
}

bool arch_is_stub(const uint8_t *code, size_t size)
{
	uint64_t slot;
	return slot_of_stub(code, size, 0, &slot);
}

bool arch_ends_in_system_call(const uint8_t code[ARCH_SYSTEM_CALL_BYTES])
{
	return instruction_at(code) == 0xd4000001; /* svc #0 */
}

/*
 * .plt begins with 32 bytes that all stubs share. Stubs are 16 bytes (adrp, ldr, add, br), or 24 bytes with a bti
 * at their beginning or with a check of a signature.
 */
size_t arch_plt_stub(const char *section, const uint8_t *code, size_t code_size, size_t offset, size_t *size)
{
	enum { HEADER_BYTES = 32, STUB_BYTES = 16, LONG_STUB_BYTES = 24 };
	size_t header = strcmp(section, ".plt") == 0 ? HEADER_BYTES : 0;
	*size = HEADER_BYTES;
	if (offset < header)
		return 0;
	const uint8_t *first = code + header;
	size_t left = code_size - header;
	*size = STUB_BYTES;
	bool has_landing = left >= BYTES && is_landing(instruction_at(first));
	/* autia1716 in place of br */
	bool has_check = left >= STUB_BYTES && instruction_at(first + 3 * (size_t)BYTES) == 0xd503219f;
	if (has_landing || has_check)
		*size = LONG_STUB_BYTES;
	return header + (offset - header) / *size * *size;
}

struct arch_plt_jump arch_plt_jump(const uint8_t *stub, size_t size, uint64_t address)
{
	struct arch_plt_jump jump = { .kind = ARCH_PLT_UNKNOWN };
	if (slot_of_stub(stub, size, address, &jump.slot))
		jump.kind = ARCH_PLT_SLOT;
	return jump;
}

/*
 * _start passes main's address to __libc_start_main in x0. Unless it loads the address from a slot that the
 * dynamic linker fills in, its code is
 *
 *	adrp x0, page; add x0, x0, #offset
 *
 * and the address may be the address of a stub of one instruction, b main.
 */
uint64_t arch_main_of_start(const uint8_t *code, size_t size, uint64_t address, uint64_t low, uint64_t high)
{
	enum { START_BYTES = 80, ADD_X0_X0 = 0x91000000 };
	for (size_t at = 0; at + 2 * BYTES <= size && at < START_BYTES; at += BYTES) {
		uint64_t page;
		uint32_t add = instruction_at(code + at + BYTES);
		if (!adrp(instruction_at(code + at), 0, address + at, &page) || (add & 0xffc003ff) != ADD_X0_X0)
			continue;
		uint64_t target = page + (add >> 10 & 0xfff);
		uint64_t near = target - address;
		bool is_inside = near < size && size - near >= BYTES;
		size_t skip = is_inside && is_landing(instruction_at(code + near)) ? BYTES : 0;
		if (is_inside && size - near >= skip + BYTES &&
		    (instruction_at(code + near + skip) & 0xfc000000) == 0x14000000)
			target = branch_target(instruction_at(code + near + skip), target + skip);
		if (target >= low && target < high)
			return target;
	}
	return 0;
}

bool arch_ends_thread(const uint8_t code[ARCH_THREAD_END_BYTES])
{
	return code_ends_thread(instruction_at(code) | (uint64_t)instruction_at(code + BYTES) << 32, 0);
}

size_t arch_vector_instruction(const uint8_t *code, size_t left)
{
	(void)code;
	(void)left;
	return 0;
}

/* Recognizes bl hook and the instructions that prepare it: bti; adrp x0 and add x0, by which clang's hook gets the
 * block's number; stp x29, x30, [sp, #-n]! and mov x29, sp, which make a frame. */
size_t arch_hook_instruction(const uint8_t *code, size_t left)
{
	if (left < BYTES)
		return 0;
	uint32_t instruction = instruction_at(code);
	uint64_t page;
	bool is_known = (instruction & 0xfc000000) == 0x94000000 || is_landing(instruction) ||
			adrp(instruction, 0, 0, &page) || (instruction & 0xffc003ff) == 0x91000000 ||
			(instruction & 0xffc07fff) == 0xa9807bfd || instruction == 0x910003fd;
	return is_known ? BYTES : 0;
}
