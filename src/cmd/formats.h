/* The --format option of import and export. */
#ifndef CMD_FORMATS_H
#define CMD_FORMATS_H

#include "cmd/command.h"
#include "formats/format.h"

enum direction { DIRECTION_IMPORT, DIRECTION_EXPORT };

/* The format of the value of option `id` ("folded" if it was not given) that
 * works in that direction, or NULL after telling which there are. */
const struct convert_format *format_chosen(const struct invocation *invocation, int id, enum direction direction);

#endif
