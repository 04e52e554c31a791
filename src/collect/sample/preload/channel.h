/*
 * The memory that the preload backend shares with the processes that it is loaded into
 * (abi/channel.h), and its bell.
 */
#ifndef COLLECT_SAMPLE_PRELOAD_CHANNEL_H
#define COLLECT_SAMPLE_PRELOAD_CHANNEL_H

#include <stdint.h>

#include "abi/channel.h"
#include "base/error.h"
#include "collect/sample/backend.h"

struct preload_channel;

/* With the settings that the request makes. NULL: `error` says why. */
struct preload_channel *preload_channel_new(const struct backend_request *request, struct error *error);
void preload_channel_free(struct preload_channel *channel); /* NULL is fine */

/* All CHANNEL_BYTES of it. */
struct channel *preload_channel_memory(const struct preload_channel *channel);

/* Of the memory, for whoever is to open it. */
int preload_channel_file(const struct preload_channel *channel);

/* Becomes readable when a runtime rings, until that is heard. */
int preload_channel_bell(const struct preload_channel *channel);
/* Before one looks what there is: what is rung for from now on is told again. */
void preload_channel_hear(struct preload_channel *channel);

/* Whoever waits at a futex of the channel looks again. */
void preload_channel_wake(uint32_t *futex);

#endif
