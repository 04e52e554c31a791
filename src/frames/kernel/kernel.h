/* The provider of names for the kernel's functions, from a list of its symbols (frames/kernel/symbols.h). */
#ifndef FRAMES_KERNEL_KERNEL_H
#define FRAMES_KERNEL_KERNEL_H

#include "frames/provider.h"

extern const struct frames_provider kernel_provider;

#endif
