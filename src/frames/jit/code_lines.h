/* The records of a jitdump that describe the lines of code, and the functions that are inlined in it. */
#ifndef FRAMES_JIT_CODE_LINES_H
#define FRAMES_JIT_CODE_LINES_H

#include "frames/jit/dump_reader.h"
#include "frames/jit/jitdump.h"

/* Sets line and file of a frame from the last entry at or before an address, of the debug info at an offset of the file. */
void code_line_at(struct dump_reader *reader, uint64_t at, uint64_t bytes, uint64_t address,
		  struct jitdump_frame *frame, struct buffer *texts);

/* Returns by how much the addresses of lines are larger than the addresses of the code, by the form of its name: V8 counts them from the header of
 * the ELF file that perf makes of the code. */
uint64_t code_lines_shift(const char *name);

/* Appends the frames of the last entry at or before an address, of the record JITDUMP_INLINED at an offset of the file. Returns 0 or
 * ERROR_MEMORY. */
int code_inlined_at(struct dump_reader *reader, uint64_t at, uint64_t bytes, uint64_t address, struct jitdump *dump);

#endif
