/* Finds separate debug information: libdwfl's find_debuginfo callback. */
#ifndef FRAMES_NATIVE_DEBUG_SEARCH_H
#define FRAMES_NATIVE_DEBUG_SEARCH_H

#include <elfutils/libdwfl.h>

/*
 * With DEBUGINFOD_URLS set, this is libdwfl's own search. Without, it is the
 * same search on this machine only: libdwfl would load the client library and
 * all it depends on (9 ms, once) to find out that there is no server.
 * By build-id below /usr/lib/debug/.build-id; by name beside the file, in
 * .debug/ there, and below /usr/lib/debug. A file found by name counts only
 * if its build-id is the module's, or its CRC the one of .gnu_debuglink.
 */
int debug_search(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base, const char *file_name,
		 const char *link_name, GElf_Word link_crc, char **found_name);

#endif
