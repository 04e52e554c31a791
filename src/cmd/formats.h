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

/* Returns the time at which the invocation's profile began, in ns since 1970. If the profile does not state it: the time of the file's last
 * change, as in a store; if there is no file, or its time is out of range, now. */
int64_t format_start_ns(const struct invocation *invocation);

/* For the export of the invocation's profile: sets the time at which it began, if the format needs it and the profile does not state it. */
void format_set_start(const struct invocation *invocation, const struct format *format);

/* Returns EXIT_DONE, or prints a usage error if -r (the option `id`) was given several times. */
int format_check_resources(const struct invocation *invocation, int id);

#endif
