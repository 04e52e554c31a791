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

/* Private to frames/code/ and its tests: the task that runs in the jail.
 *
 * The request: u8 bytes of the build-id | build-id | each: u64 address, ascending
 * The answer: ranges, as code_list_read reads them */
extern const struct jail_task disassembly_task;

#endif
