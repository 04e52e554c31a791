/*
 * Which of the code that DWARF describes is in the file.
 *
 * A linker that removes a function (--gc-sections, or one of several equal copies) keeps its DWARF. The function's ranges and lines
 * then begin at address 0, 1, -1 or -2, by the linker, and would cover code that is there. Such a range begins below the first
 * executable section, or wraps around.
 */
#ifndef FRAMES_NATIVE_LIVE_CODE_H
#define FRAMES_NATIVE_LIVE_CODE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the address at which the first executable section begins, or 1 if there is none. */
uint64_t live_code_start(Dwarf *dwarf);

/* A run over the ranges of a DIE, without the ranges of removed functions:
 *
 *     struct live_ranges ranges = { .first_code = live_code_start(dwarf) };
 *     while (live_range_next(&ranges, die))
 *         ... ranges.start, ranges.end ... */
struct live_ranges {
	uint64_t first_code;
	Dwarf_Addr start, end;
	Dwarf_Addr base; /* dwarf_ranges keeps it, and `at`, from call to call */
	ptrdiff_t at;
};
bool live_range_next(struct live_ranges *ranges, Dwarf_Die *die);

#endif
