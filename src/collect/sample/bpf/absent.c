/* Replaces the bpf backend in a build that lacks libbpf, clang or bpftool. */
#include "collect/sample/bpf/sources.h"
#include "collect/sample/inside.h"

static bool absent_serves(const struct resource_row *row)
{
	return bpf_source_of(row->counter) != BPF_SOURCE_NONE;
}

static int absent_probe(const struct resource_request *request, bool *user_mode_only, struct error *error)
{
	*user_mode_only = false;
	if (inside_refuse_resource(request, error) < 0)
		return ERROR_UNSUPPORTED;
	return error_set(error, ERROR_UNSUPPORTED,
			 "this cpprof was built without eBPF: build it where libbpf, clang and bpftool are installed "
			 "(tools/setup does it)");
}

/* The other members are unreachable, because the backend refuses every resource. */
const struct backend_vtable backend_bpf = { .name = "bpf", .serves = absent_serves, .probe = absent_probe };
