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

/* What a module is called in the names of its nameless functions: the last
 * part of its path, without " (deleted)". *length is set. */
const char *name_of_module(const char *path, size_t *length);

/* The module is (part of) the C library or its dynamic linker, by its file name. */
bool name_is_c_library(const char *path);
bool name_is_dynamic_linker(const char *path);

/* It is what runs inside a program for the preload backend, by its file name. */
bool name_is_runtime(const char *path);

#endif
