/* The events of a trace that --process, --cgroup and --thread select. */
#ifndef FORMATS_EVENT_CHOICE_H
#define FORMATS_EVENT_CHOICE_H

#include <stdbool.h>

#include "formats/format.h"

/* Whether an event is of a process and thread that input->view selects. */
bool event_is_chosen(const struct format_input *input, const struct event *event);

#endif
