/*
 * Disassembles functions of modules: opens the file that a profile names, if it is still the recorded file, by its build-id,
 * and decodes it in a jail (frames/jail/once.h), by libcapstone.
 */
#ifndef FRAMES_CODE_DISASSEMBLY_H
#define FRAMES_CODE_DISASSEMBLY_H

#include "frames/jail/jail.h"
#include "profile/code.h"

/* Decodes code of files on this machine; it has no context. */
extern const struct code_source code_of_files;

/* Reads the answer of disassembly_task for a module, and appends its ranges to `list`. The answer is checked as a file from outside.
 * Returns 0, ERROR_CORRUPT or ERROR_MEMORY, with the ranges and instructions of `list` unchanged. */
int disassembly_read(struct code_list *list, uint32_t module, struct cursor answer);

/* Private to frames/code/ and its tests: the task that runs in the jail.
 *
 * The request: u8 bytes of the build-id | build-id | each: u64 address, ascending
 * The answer:  u32 ranges | each: u64 start | u64 end | u32 instructions |
 *                                 each: u8 bytes | u8 flags | u64 target | u32 line | text NUL | file NUL | callee NUL
 * "" is a text that is not known. Instructions follow each other without a gap. */
enum disassembly_flag { DISASSEMBLY_REACHED = 1, DISASSEMBLY_LEAVES = 2 };
extern const struct jail_task disassembly_task;

#endif
