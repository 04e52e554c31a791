/*
 * How long an instruction is, and where it leads: all that is needed to follow a function's code from block to
 * block.
 */
#ifndef ARCH_INSTRUCTION_H
#define ARCH_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum instruction_flow {
	INSTRUCTION_NEXT,     /* to the next one */
	INSTRUCTION_CALL,     /* ... after a call of `target` */
	INSTRUCTION_BRANCH,   /* there or to `target` */
	INSTRUCTION_JUMP,     /* to `target` */
	INSTRUCTION_INDIRECT, /* jumps to where nobody says */
	INSTRUCTION_END,      /* returns, or traps */
};

struct instruction {
	uint8_t bytes; /* its length */
	uint8_t flow;  /* enum instruction_flow */
	bool has_target;
	bool sets_first_argument; /* the first argument's register, from nothing but itself and constants */
	bool takes_address;       /* lea of `memory` */
	bool restores;            /* a register of the caller's: what functions end with */
	uint64_t target;          /* of a call (0 and !has_target: an indirect one), branch or jump */
	uint64_t memory;          /* that its operand is in: relative to the instruction, or absolute; 0: neither */
	bool indexes_by_8;        /* ... with an index in steps of 8 bytes */
};

/* Of the code at an address; false: it is none, or is cut off. */
bool instruction_decode(const uint8_t *code, size_t left, uint64_t address, struct instruction *instruction);

#endif
