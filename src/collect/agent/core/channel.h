/*
 * The recorder's channel (abi/channel.h) in this process. The process maps only the parts that it uses, so that
 * mlockall does not lock the others: from the start the slots and the list of codes, later the rings of its threads
 * and the chunks of rows that its walks read. It holds no descriptor of the memory, so a later part is mapped as the
 * extension of one that is mapped (mremap with an old size of 0).
 */
#ifndef COLLECT_AGENT_CORE_CHANNEL_H
#define COLLECT_AGENT_CORE_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the channel that CHANNEL_VARIABLE names and sets runtime.channel and runtime.code. Returns false if there is
 * none, or if it is not the memory of a recorder that lives and has our effective user. */
bool channel_find(void);

/* Returns the value of CHANNEL_VARIABLE by which this process found the channel, or "" if it has none. */
const char *channel_path(void);

/* Maps the ring of the thread slot of this number. Returns NULL if the kernel refuses. The caller unmaps it by
 * channel_unmap_ring, for which NULL is fine. */
uint8_t *channel_map_ring(uint32_t thread);
void channel_unmap_ring(uint8_t *ring);

/* Returns the chunk of this number (below CHANNEL_CHUNKS), which it maps at the first call, or NULL if the kernel
 * refuses. Async-signal-safe. */
const uint8_t *channel_chunk(uint32_t number);

/* Unlock, after mlockall, all mapped parts but the rings, and one ring (NULL is fine). Keep errno. */
void channel_unlock(void);
void channel_unlock_ring(const uint8_t *ring);

#endif
