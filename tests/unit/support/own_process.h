/*
 * The test itself as the process that is recorded: its maps and threads are told
 * to a recorder by attach_process, through a backend that only pretends.
 */
#ifndef TESTS_OWN_PROCESS_H
#define TESTS_OWN_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/sample/recorder.h"

/* 0 or an error; the recorder is then released. */
int own_process_recorder(struct recorder *recorder, struct error *error);

/* The frame of a run-time pc of this process: only address and module are set
 * (UINT32_MAX: in no module). */
struct unwind_frame own_process_frame(struct recorder *recorder, uint64_t pc);

/* Copies the memory from an address up, where a sanitizer would see words that
 * are nobody's; returns how many bytes there are. */
size_t own_process_copy(uint64_t address, void *to, size_t size);

#endif
