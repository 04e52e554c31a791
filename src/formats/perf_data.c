/* perf.data, the file of `perf record`: a collector reads it (collect/perf_data), because its stacks are not unwound yet. */
#include <string.h>

#include "collect/perf_data/perf_data.h"
#include "formats/format.h"

static struct profile *perf_import(FILE *in, const char *name, const char *image, struct error *error)
{
	(void)image; /* the file has the paths of all programs and libraries */
	return perf_data_read(in, name, error);
}

static bool perf_is(const unsigned char *start, size_t bytes)
{
	static const char magic[] = "PERFILE2", swapped[] = "2ELIFREP";
	return bytes >= sizeof(magic) - 1 &&
	       (memcmp(start, magic, sizeof(magic) - 1) == 0 || memcmp(start, swapped, sizeof(swapped) - 1) == 0);
}

const struct format format_perf_data = {
	.name = "perf",
	.title = "perf.data",
	.ending = "data",
	.summary = "perf.data, the file of perf record; its copied stacks are unwound",
	.has_several = true,
	.is_binary = true,
	.recognise = perf_is,
	.import = perf_import,
};
