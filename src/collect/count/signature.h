/*
 * Signatures as compilers write them (__PRETTY_FUNCTION__), __func__, and names as symbols have them, demangled:
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

/* Whether a symbol's name may be that of a signature or __func__: their last components are equal, without parameters
 * and arguments. */
bool signature_is_of(const char *symbol, const char *signature);

/* Appends what the symbol of that signature would probably be called. */
void signature_append(struct buffer *to, const char *text);

#endif
