/* The channel as a storage of code (collect/sample/stacks/code_loader.h). */
#ifndef COLLECT_SAMPLE_PRELOAD_CODE_H
#define COLLECT_SAMPLE_PRELOAD_CODE_H

#include "abi/channel.h"
#include "base/error.h"
#include "collect/sample/stacks/code_loader.h"

/* The slot of a process, or NULL: it has none. */
typedef struct channel_process *preload_find_process(void *context, uint32_t pid);

/* A loader that writes into the channel; neither it nor `context` is owned. NULL: `error` says why. */
struct code_loader *preload_code_loader_new(struct channel *channel, preload_find_process *find, void *context,
					    struct error *error);

#endif
