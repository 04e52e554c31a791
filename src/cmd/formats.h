/* The --format option of import and export. */
#ifndef CMD_FORMATS_H
#define CMD_FORMATS_H

#include "cmd/command.h"
#include "formats/format.h"

enum direction { DIRECTION_IMPORT, DIRECTION_EXPORT };

/* Returns the format that option `id` names ("folded" if it was not given) if it supports that direction. If not,
 * prints a usage error that lists those that do, and returns NULL. */
const struct format *format_chosen(const struct invocation *invocation, int id, enum direction direction);

/* Writes their names into `list`, cut to `bytes` (at least 1): "folded, strace or perf". Returns `list`. */
char *formats_list(enum direction direction, char *list, size_t bytes);

/* For struct command: the formats that can be read, and those that can be written. */
bool format_imported(size_t index, struct command_format *value);
bool format_exported(size_t index, struct command_format *value);

#endif
