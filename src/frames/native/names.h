/*
 * Names: from what stands in a symbol table or in DWARF to what the user wrote.
 */
#ifndef FRAMES_NATIVE_NAMES_H
#define FRAMES_NATIVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a linkage name without its symbol version (`read@@GLIBC_2.2.5`)
 * and without what compilers append to their clones of a function
 * (`parse.constprop.0`, `parse.cold`, `parse.llvm.1234`). */
size_t name_base_length(const char *linkage);

/* Bytes of it without its version only. */
size_t name_plain_length(const char *linkage);

/* Demangled, C++ or Rust (without its hash), to be freed by the caller; NULL:
 * it is not a mangled name, or there is no memory. */
char *name_demangle(const char *base);

/* A name that Rust's compiler mangled. Two of those are two functions even if
 * they read the same: the hash that is not shown tells instances apart. */
bool name_is_rust(const char *base);

#endif
