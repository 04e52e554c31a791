/* Finds separate debug information: the find_debuginfo callback of libdwfl. */
#ifndef FRAMES_NATIVE_DEBUG_SEARCH_H
#define FRAMES_NATIVE_DEBUG_SEARCH_H

#include <elfutils/libdwfl.h>

/*
 * If DEBUGINFOD_URLS is set, this is libdwfl's own search. If not, it is the same search on this machine only:
 * libdwfl would load the client library and all its dependencies (9 ms, once) only to find that there is no server.
 *
 * The search looks by build-id below /usr/lib/debug/.build-id; by name beside the file, in .debug/ there, and below
 * /usr/lib/debug. A file found by name is accepted only if it has the module's build-id or the CRC of
 * .gnu_debuglink.
 */
int debug_search(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base, const char *file_name,
		 const char *link_name, GElf_Word link_crc, char **found_name);

#endif
