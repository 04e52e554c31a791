/*
 * The functions of a program's own code (docs/definitions.md). Library code is:
 *   - all code of the kernel, and of shared libraries in the system's directories;
 *   - the code that starts programs and threads;
 *   - the file that interprets a program's functions, and the runtime of generated code;
 *   - code whose source file is in a directory of the system or of a package manager;
 *   - code without a source file whose name is a standard library's (std::, core::, runtime. and others).
 * All other code is own code, even if the program's file is in a directory of the system.
 */
#ifndef ANALYZE_OWN_LABELS_H
#define ANALYZE_OWN_LABELS_H

#include <stdbool.h>

#include "analyze/view.h"

/* Returns for each label of a view by function or line whether it is of own code, [view->label_count] or more, which the caller frees; or NULL if memory ran
 * out. */
bool *own_labels_find(const struct view *view);

#endif
