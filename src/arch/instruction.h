/*
 * The length of an instruction and its successors: all that is needed to follow a function's code from block to
 * block. Members that are marked with (count) are read only for programs with hooks of basic blocks, those with (tails) where
 * tail calls are searched; a processor for which the collectors are not built leaves them 0.
 */
#ifndef ARCH_INSTRUCTION_H
#define ARCH_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum instruction_flow {
	INSTRUCTION_NEXT,     /* to the next one */
	INSTRUCTION_CALL,     /* ... after a call of `target` */
	INSTRUCTION_BRANCH,   /* to `target` or to the next one */
	INSTRUCTION_JUMP,     /* to `target` */
	INSTRUCTION_INDIRECT, /* jumps to an unknown address */
	INSTRUCTION_END,      /* returns, or traps */
};

struct instruction {
	uint8_t bytes; /* its length */
	uint8_t flow;  /* enum instruction_flow */
	bool has_target;
	bool is_padding;          /* it does nothing, or traps: the space between two functions is filled with it */
	bool sets_first_argument; /* (count) it computes the first argument's register from only it and constants */
	bool takes_address;       /* (count) it loads the address `memory` */
	bool restores;            /* (count) it restores a register of the caller, as functions do at their end */
	uint64_t target;          /* of a call, branch or jump; 0 and !has_target: unknown */
	uint64_t memory;   /* (count) address of its operand, if relative to the instruction or absolute; else 0 */
	bool indexes_by_8; /* (count) ... and an index in steps of 8 bytes is added */
	/* (tails) Registers by their number + 1; 0: none */
	uint8_t gets_sum;    /* ... that gets the sum of it and another one */
	uint8_t gets_memory; /* ... that gets the 8 bytes of its operand */
	uint8_t jumps_to;    /* ... that has the address of an indirect jump */
	bool is_of_switch;   /* (tails) an indirect jump whose prefix states that it stays in its function */
};

/* Decodes the instruction at an address. Returns false if the code is not an instruction or is cut off. */
bool instruction_decode(const uint8_t *code, size_t left, uint64_t address, struct instruction *instruction);

#endif
