/* Separate debug information from servers, through elfutils' client. */
#ifndef FRAMES_NATIVE_DEBUGINFOD_H
#define FRAMES_NATIVE_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

/* Queries the servers in DEBUGINFOD_URLS. Returns a descriptor of the debug information with that build-id, which the
 * caller closes, or -1: there is none, no server is named, or the client library is not installed. The library and all
 * that it depends on takes 9 ms to load; it is loaded only if a server is named. */
int debuginfod_open(const uint8_t *build_id, size_t bytes);

/* Makes this process call `open` instead, if a server is named: a process in a jail has no network. */
void debuginfod_open_through(int (*open)(const uint8_t *build_id, size_t bytes));

#endif
