/* The backend that measures nothing. It refuses every request with the reason, and shows the minimum that
 * a backend implements. It is used only if the user names it. */
#include "collect/sample/backend.h"

#define REASON "the backend 'none' measures nothing (omit --backend to use bpf, perf or preload)"

static int none_probe(const struct resource_request *request, bool *user_mode_only, struct error *error)
{
	*user_mode_only = false;
	return error_set(error, ERROR_UNSUPPORTED, "cannot measure %s: " REASON, request->name);
}

static struct backend *none_open(const struct backend_request *request, struct error *error)
{
	(void)request;
	error_set(error, ERROR_UNSUPPORTED, "cannot record: " REASON);
	return NULL;
}

static int none_attach(struct backend *backend, pid_t pid, pid_t tid, bool on_exec, struct error *error)
{
	(void)backend, (void)pid, (void)tid, (void)on_exec;
	return error_set(error, ERROR_UNSUPPORTED, REASON);
}

static int none_start(struct backend *backend, struct error *error)
{
	(void)backend;
	return error_set(error, ERROR_UNSUPPORTED, REASON);
}

static size_t none_descriptors(const struct backend *backend, struct pollfd *descriptors, size_t limit)
{
	(void)backend, (void)descriptors, (void)limit;
	return 0;
}

static bool none_drain(struct backend *backend, uint64_t until_ns, const struct backend_sink *sink)
{
	(void)backend, (void)until_ns, (void)sink;
	return false;
}

static void none_stop(struct backend *backend)
{
	(void)backend;
}

static struct backend_counts none_counts(const struct backend *backend, size_t request)
{
	(void)backend, (void)request;
	return (struct backend_counts){ .lost = UINT64_MAX };
}

const struct backend_vtable backend_none = {
	.name = "none",
	.probe = none_probe,
	.open = none_open,
	.attach = none_attach,
	.start = none_start,
	.descriptors = none_descriptors,
	.drain = none_drain,
	.stop = none_stop,
	.counts = none_counts,
	.close = none_stop,
};
