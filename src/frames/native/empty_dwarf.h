/* Debug information that has no entries. */
#ifndef FRAMES_NATIVE_EMPTY_DWARF_H
#define FRAMES_NATIVE_EMPTY_DWARF_H

#include <elfutils/libdw.h>

#include "elf/elf_image.h"

/* Returns it, or NULL if there is no memory. The caller ends it, before it ends image->elf and releases the image. */
Dwarf *empty_dwarf(struct elf_image *image);

#endif
