/* Lists the kernel's symbols, by which the kernel's addresses in a run get names: /proc/kallsyms, or a file in memory of the same form with
 * the symbols that the backend can name. To write all of /proc/kallsyms takes the kernel some 50 ms. */
#ifndef COLLECT_SAMPLE_KERNEL_SYMBOLS_H
#define COLLECT_SAMPLE_KERNEL_SYMBOLS_H

#include "base/error.h"
#include "collect/sample/backend.h"
#include "profile/profile.h"

/* Returns whether /proc/kallsyms has addresses for this process. Otherwise they are all 0 there. */
bool kernel_symbols_are_shown(void);

/* Returns a descriptor, which the caller closes, or a negative error with the reason in `error`.
 * `backend` may be NULL: it is closed. */
int kernel_symbols_open(const struct profile *profile, const struct backend_vtable *vtable, struct backend *backend,
			struct error *error);

#endif
