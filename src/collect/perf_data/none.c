/* A build without the collectors cannot read perf.data: the stacks in such a file are unwound by code of collect/sample/. */
#include "base/quote.h"
#include "collect/perf_data/perf_data.h"

struct profile *perf_data_read(FILE *in, const char *name, struct error *error)
{
	const char *mark = quote_mark(name);
	(void)in;
	error_set(error, ERROR_UNSUPPORTED,
		  "cannot import %s%s%s: this build of cpprof has no collectors, which unwind the stacks of perf.data "
		  "(import it with a build that has them, and read the profile here)",
		  mark, name, mark);
	return NULL;
}
