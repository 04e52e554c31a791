/* Separate debug information from the servers in DEBUGINFOD_URLS. */
#ifndef FRAMES_NATIVE_DEBUGINFOD_H
#define FRAMES_NATIVE_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

/* Returns a descriptor of the debug information with that build-id, which the caller closes, or -1: no server has it, or none is named.
 * It is downloaded by a process of its own (frames/jail/download.h). */
int debuginfod_open(const uint8_t *build_id, size_t bytes);

/* Makes this process call `open` instead, if a server is named: a process in a jail has no network. */
void debuginfod_open_through(int (*open)(const uint8_t *build_id, size_t bytes));

#endif
