/*
 * Compares and converts the forms of a function's name: signatures as compilers write them (__PRETTY_FUNCTION__),
 * __func__, and demangled symbols:
 *
 *   gcc      U ns::C<T>::work(T, U) [with U = int; T = double]
 *   clang    U ns::C<double>::work(T, U) [T = double, U = int]
 *   symbol   int ns::C<double>::work<int>(double, int)
 *   func     work
 */
#ifndef COLLECT_COUNT_SIGNATURE_H
#define COLLECT_COUNT_SIGNATURE_H

#include <stdbool.h>

#include "base/buffer.h"

/* Whether a symbol may belong to a signature or __func__: their last components are equal, without parameters and
 * template arguments. */
bool signature_is_of(const char *symbol, const char *signature);

/* Appends the probable symbol, demangled, of a signature. */
void signature_append(struct buffer *to, const char *text);

#endif
