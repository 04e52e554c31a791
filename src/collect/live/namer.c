#include "collect/live/namer.h"

#include <sys/resource.h>

#include "collect/sample/clock.h"

enum { QUICK_NS = 100 * 1000 * 1000 };

int namer_init(struct namer *namer, struct module_files *files)
{
	*namer = (struct namer){ .files = files };
	naming_budget_init(&namer->budget);
	return name_cache_init(&namer->names);
}

void namer_release(struct namer *namer)
{
	name_cache_release(&namer->names);
}

static uint64_t ns_of(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

/* Returns the CPU time of this thread and of the jails that have ended. */
static uint64_t cpu_time_ns(void)
{
	struct rusage own, children;
	if (getrusage(RUSAGE_THREAD, &own) < 0 || getrusage(RUSAGE_CHILDREN, &children) < 0)
		return 0;
	return ns_of(own.ru_utime) + ns_of(own.ru_stime) + ns_of(children.ru_utime) + ns_of(children.ru_stime);
}

static int open_module(void *context, uint32_t module, struct error *error)
{
	return module_files_get(context, module, error);
}

static struct frames_options options_of(struct namer *namer)
{
	return (struct frames_options){ .open_module = open_module, .context = namer->files };
}

static int search(struct namer *namer, uint64_t hits_min, struct error *error)
{
	const struct frames_options options = options_of(namer);
	uint64_t began_ns = clock_now_ns(CLOCK_MONOTONIC), cpu_ns = cpu_time_ns();
	int status = name_cache_find(&namer->names, hits_min, &options, error);
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	namer->took_ns = now - began_ns + 1;
	naming_budget_use(&namer->budget, cpu_time_ns() - cpu_ns);
	return status;
}

struct profile *namer_name(struct namer *namer, struct profile_extract *extract, bool is_last, struct error *error)
{
	struct name_cache_lack lack;
	const struct frames_options options = options_of(namer);
	name_cache_renew(&namer->names, &options);
	int status = name_cache_request(&namer->names, extract, &lack);
	if (status < 0)
		error_set(error, status, "cannot name the functions: %s", error_text(status));
	else
		naming_budget_grant(&namer->budget, &lack, clock_now_ns(CLOCK_MONOTONIC));
	bool may_search = status == 0 && naming_budget_permits(&namer->budget, &lack, &namer->hits_min);
	bool is_quick = namer->took_ns > 0 && namer->took_ns < QUICK_NS;
	bool searches = status == 0 && lack.locations > 0 && (is_last || (may_search && is_quick));
	if (searches)
		status = search(namer, is_last ? 0 : namer->hits_min, error);
	namer->lacks = may_search && !searches;
	if (status == 0) {
		status = name_cache_apply(&namer->names, extract);
		if (status < 0)
			error_set(error, status, "cannot name the functions: %s", error_text(status));
	}
	struct profile *profile = extract->profile;
	if (status == 0)
		extract->profile = NULL;
	profile_extract_release(extract);
	return status == 0 ? profile : NULL;
}

int namer_continue(struct namer *namer, struct error *error)
{
	namer->has_found = false;
	if (!namer->lacks)
		return 0;
	namer->lacks = false;
	int status = search(namer, namer->hits_min, error);
	namer->has_found = status == 0;
	return status;
}
