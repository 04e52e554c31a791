/* A storage of code (collect/sample/stacks/code_loader.h) in the channel. */
#ifndef COLLECT_SAMPLE_PRELOAD_CODE_H
#define COLLECT_SAMPLE_PRELOAD_CODE_H

#include "abi/channel.h"
#include "base/error.h"
#include "collect/sample/stacks/code_loader.h"

/* Returns the slot of a process, or NULL if it has none. */
typedef struct channel_process *preload_find_process(void *context, uint32_t pid);

/* Returns a loader that writes into the channel, or NULL with the reason in `error`. It owns neither the
 * channel nor `context`. */
struct code_loader *preload_code_loader_new(struct channel *channel, preload_find_process *find, void *context,
					    struct error *error);

#endif
