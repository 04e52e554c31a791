/*
 * The form of an instruction: the extent of its prefixes, opcode, operand and immediate, and with them its length. Private to this folder;
 * every build has it, since a profile may come from a machine of this processor.
 */
#ifndef ARCH_X86_64_INSTRUCTION_FORM_H
#define ARCH_X86_64_INSTRUCTION_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum instruction_map { MAP_ONE_BYTE = 0, MAP_0F = 1 };

struct instruction_form {
	const uint8_t *code;
	size_t left; /* bytes of the code, at most as many as an instruction can have */
	size_t at;   /* its length */
	uint64_t address;
	bool has_66, has_67, is_notrack, is_wide, is_vector;
	uint8_t map, opcode, rex;
	uint8_t mod, reg, rm;
	bool relative; /* the operand is at the instruction's end + `displacement` */
	bool absolute; /* the operand is at `displacement`, perhaps with an index */
	uint8_t scale; /* factor of that index */
	int32_t displacement;
	size_t immediate; /* its offset */
};

/* Reads the form of the instruction at an address. Returns false if the code is not an instruction or is cut off. */
bool instruction_form_read(struct instruction_form *form, const uint8_t *code, size_t left, uint64_t address);

/* Returns the number at an offset of the code, or 0 if it is cut off. */
int32_t instruction_form_word(const struct instruction_form *form, size_t at);

/* Returns whether the instruction is a near branch: those have 32-bit displacements whatever their prefixes are. */
bool instruction_form_is_branch(const struct instruction_form *form);

#endif
