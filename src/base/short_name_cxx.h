/* The part of base/short_name.c that reads C++ and Rust. */
#ifndef BASE_SHORT_NAME_CXX_H
#define BASE_SHORT_NAME_CXX_H

#include "base/short_name.h"

/* Appends a demangled name without clone suffixes and hashes. `stage` is at most SHORT_NAME_OUTER. */
void short_name_cxx(struct buffer *to, const char *name, size_t length, enum short_name_stage stage);

#endif
