/*
 * The memory that the preload backend shares with the processes that it is loaded into (abi/channel.h),
 * and the bell by which their agents wake the monitor.
 */
#ifndef COLLECT_SAMPLE_PRELOAD_CHANNEL_H
#define COLLECT_SAMPLE_PRELOAD_CHANNEL_H

#include <stdint.h>

#include "abi/channel.h"
#include "base/error.h"
#include "collect/sample/backend.h"

struct preload_channel;

/* Makes a channel with the settings of the request. Returns NULL if that fails, with the reason in
 * `error`. */
struct preload_channel *preload_channel_new(const struct backend_request *request, struct error *error);
void preload_channel_free(struct preload_channel *channel); /* NULL is fine */

/* Returns the mapped memory, CHANNEL_BYTES in size. */
struct channel *preload_channel_memory(const struct preload_channel *channel);

/* Returns the descriptor of the memory, which the targets open through /proc. */
int preload_channel_file(const struct preload_channel *channel);
/* Returns the inode of the memory: after our end, another file may get our pid and the descriptor's number. */
uint64_t preload_channel_inode(const struct preload_channel *channel);

/* Returns a descriptor that is readable from the time when an agent rings until preload_channel_clear_bell. */
int preload_channel_bell(const struct preload_channel *channel);
/* Called before the memory is read: a later ring makes the descriptor readable again. */
void preload_channel_clear_bell(struct preload_channel *channel);

/* Wakes all threads that wait for a futex of the channel; they test it again. */
void preload_channel_wake(uint32_t *futex);

#endif
