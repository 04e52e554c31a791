/*
 * Frames of machine code in ELF files and the vDSO, by symbol tables and DWARF.
 * Each address is looked at once; each unit's DIE tree is walked once, however
 * many addresses lie in it, and so is its line table.
 *
 * Symbols come from the first of these that has any: the file's .symtab, the
 * separate debug file's (by build-id, then .gnu_debuglink; debuginfod only
 * when DEBUGINFOD_URLS is set), .gnu_debugdata together with .dynsym, .dynsym.
 * The outermost function of an address is named by its symbol (symbols.h says
 * by which of several), so that names do not depend on debug information;
 * inlined functions, files and lines come from DWARF. Without a symbol it is,
 * in this order: DWARF's name; "qsort@plt" in a PLT; `_start` and `main` of
 * a stripped program; "module+0x1a40" after the function's start in .eh_frame;
 * "module+" the address itself.
 *
 * Clones and parts of a function (`parse.cold`, `parse.constprop.0`) and its
 * inlined copies are one function, `parse`; its `linkage` is the shortest
 * symbol that was met.
 */
#ifndef FRAMES_NATIVE_NATIVE_H
#define FRAMES_NATIVE_NATIVE_H

#include "frames/provider.h"

extern const struct frames_provider native_provider;

#endif
