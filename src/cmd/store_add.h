/* `cpprof store add`: puts recordings into a store, or into the folder where they wait for it. */
#ifndef CMD_STORE_ADD_H
#define CMD_STORE_ADD_H

#include "cmd/command.h"
#include "cmd/store_options.h"

/* The options that only `add` has. */
enum { OPTION_SPOOL = STORE_TO + 1, OPTION_SPOOL_LIMIT, OPTION_SERVICES, STORE_ADD_OPTIONS_END };

/* The word that --services can be in place of a file's name. */
const char *store_add_services_word(size_t index);

/* Returns whether the last run kept recordings in the spool, because the store did not take them. */
bool store_add_has_kept(void);

int store_add_run(const struct invocation *invocation);

#endif
