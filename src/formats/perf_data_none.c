/* A build without the collectors does not read perf.data: their recorder unwinds its stacks. */
#include "formats/format.h"

const struct format format_perf_data = { .name = "perf" };
