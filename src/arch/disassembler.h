/*
 * The settings of libcapstone for the code of one processor. Every build has the rows of all
 * processors (the file `processors` lists their folders), since a profile may come from a machine
 * of another one.
 */
#ifndef ARCH_DISASSEMBLER_H
#define ARCH_DISASSEMBLER_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stdint.h>

struct arch_disassembler {
	uint16_t machine; /* e_machine of its ELF files */
	cs_arch architecture;
	cs_mode mode;
	/* Returns whether the last operand of a decoded jump or call is an address, and sets *target to it. */
	bool (*target)(const cs_insn *instruction, uint64_t *target);
	/* Returns the length of the instruction at `code` [left], which libcapstone cannot decode, or the least length of an
	 * instruction if the code is none. At least 1 and at most `left`. */
	size_t (*length)(const uint8_t *code, size_t left);
};

/* Returns the row of a machine, or NULL if there is none. */
const struct arch_disassembler *arch_disassembler(uint16_t machine);

#endif
