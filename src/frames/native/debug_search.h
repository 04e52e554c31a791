/*
 * Finds separate debug information: by build-id below /usr/lib/debug/.build-id; by name beside the file, in .debug/
 * there, and below /usr/lib/debug; from a server if DEBUGINFOD_URLS names one. A file found by name is accepted only if
 * it has the module's build-id or the CRC of .gnu_debuglink.
 *
 * Names in a file may lead anywhere: only regular files are opened, so that a FIFO cannot stop us.
 */
#ifndef FRAMES_NATIVE_DEBUG_SEARCH_H
#define FRAMES_NATIVE_DEBUG_SEARCH_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_image.h"

/* Finds the debug information of a module whose path is `path`. Returns whether there is any. Then *found is its image,
 * and *found_path its path, which the caller frees; NULL if it has none. Sets
 * *lacks_memory if there is none, but memory ran out for a file that may have it; otherwise leaves it. */
bool debug_search(Elf *module, const char *path, struct elf_image *found, char **found_path, bool *lacks_memory);

/* Returns the path of the debug file with a build-id below /usr/lib/debug, which the caller frees; NULL: no such build-id, or no memory. */
char *debug_search_path(const uint8_t *id, size_t id_bytes);

/* Finds the file that .gnu_debugaltlink names in the file at `path`: dwz collects there the information that several
 * files share. The name may be relative to the folder of the file. The build-id must be the named one. */
bool debug_search_shared(Dwarf *dwarf, const char *path, struct elf_image *found);

#endif
