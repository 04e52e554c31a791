/* Converts names of symbol tables and DWARF to names of the source. */
#ifndef FRAMES_NATIVE_NAMES_H
#define FRAMES_NATIVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of a linkage name without its symbol version (`read@@GLIBC_2.2.5`) and without the suffixes
 * that compilers append to clones of a function (`parse.constprop.0`, `parse.cold`, `parse.llvm.1234`). */
size_t name_base_length(const char *linkage);

/* Returns the length of a linkage name without its symbol version. */
size_t name_plain_length(const char *linkage);

enum { NAME_READABLE_MOST = 16 * 1024 };

/* Returns the demangled name of a C++ or Rust function (without Rust's hash), which the caller frees; or NULL if the
 * name is not mangled, is longer than NAME_READABLE_MOST bytes, or memory is exhausted. */
char *name_demangle(const char *base);

/* Returns the name of a function of Haskell, "base:GHC.Base.++", by its symbol, base_GHCziBase_zpzp_info, which the caller frees; or NULL if
 * GHC does not form symbols so, or memory is exhausted. C has such symbols, too: ask for those of files that GHC linked. Source of the
 * encoding: GHC's module GHC.Utils.Encoding. */
char *name_haskell(const char *symbol);

/* Returns whether the Rust compiler mangled the name. Two such names are two functions even if they are displayed
 * alike: the hash, which is not displayed, distinguishes instances. */
bool name_is_rust(const char *base);

#endif
