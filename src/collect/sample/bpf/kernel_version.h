#ifndef COLLECT_SAMPLE_BPF_KERNEL_VERSION_H
#define COLLECT_SAMPLE_BPF_KERNEL_VERSION_H

#include <stdbool.h>

/* Returns whether the running kernel is of this version of Linux or a later one. */
bool kernel_version_is_from(unsigned major, unsigned minor);

#endif
