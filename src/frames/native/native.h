/*
 * Frames of machine code in ELF files and the vDSO, from symbol tables and DWARF. Each address is looked up once.
 * The DIE tree and the line table of each unit are read once, for all addresses in the unit.
 *
 * Symbols come from the first of these that has any: the file's .symtab; the separate debug file's (by build-id,
 * then .gnu_debuglink; debuginfod only if DEBUGINFOD_URLS is set); .gnu_debugdata together with .dynsym; .dynsym.
 * The symbol of an address names its outermost function, so that names do not depend on debug information (symbols.h
 * defines which symbol of several). Inlined functions, files and lines come from DWARF. Without a symbol, the name
 * of the outermost function is, in this order: DWARF's name; "qsort@plt" in a PLT; `_start` and `main` of a stripped
 * program; "module+0x1a40" with the start of the function, from .eh_frame or as the code shows (code_extent.h).
 *
 * Clones and parts of a function (`parse.cold`, `parse.constprop.0`) and its inlined copies are one function,
 * `parse`. Its `linkage` is the shortest symbol that was found.
 */
#ifndef FRAMES_NATIVE_NATIVE_H
#define FRAMES_NATIVE_NATIVE_H

#include "frames/provider.h"

extern const struct frames_provider native_provider;

#endif
