/* Loads the user's own implementation, and calls it when the process ends or forks: see implementation.h. */
#include "collect/agent/hooks/implementation.h"

#include <cpprof/implementation.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>

#include "collect/agent/core/real.h"
#include "collect/agent/hooks/around.h"
#include "collect/agent/hooks/tally.h"
#include "collect/agent/probes/registry.h"

static const struct cpprof_implementation *loaded;

/* Sets `output` to the path of the recording: the tally's path without ".tally". */
static void find_output(char output[PATH_MAX])
{
	static const char ending[] = ".tally";
	const size_t ending_bytes = sizeof(ending) - 1;
	const char *path = hooks_environment_value(TALLY_VARIABLE);
	size_t bytes = path ? strnlen(path, PATH_MAX - 1) : 0;
	if (bytes > ending_bytes && strcmp(path + bytes - ending_bytes, ending) == 0)
		bytes -= ending_bytes;
	if (!path) {
		path = hooks_environment_value(TALLY_OUTPUT_VARIABLE);
		path = path && path[0] ? path : "cpprof.data";
		bytes = strnlen(path, PATH_MAX - 1);
	}
	memcpy(output, path, bytes);
	output[bytes] = 0;
}

/* Returns NULL, or the reason why the implementation cannot be used. */
static const char *begin(const struct cpprof_implementation *found)
{
	char output[PATH_MAX];
	if (found->version != CPPROF_IMPLEMENTATION_VERSION)
		return "it is of another version of cpprof/implementation.h";
	if (!found->enter || !found->leave)
		return "its enter or its leave is missing";
	find_output(output);
	if (found->begin && found->begin(output) != 0)
		return "its begin() has refused";
	const char *name = found->name ? found->name : "";
	memcpy(hooks.header->implementation, name, strnlen(name, sizeof(hooks.header->implementation) - 1));
	return NULL;
}

static void load(const char *path)
{
	void *library = REAL(dlopen)(path, RTLD_NOW | RTLD_LOCAL);
	const struct cpprof_implementation *found = library ? REAL(dlsym)(library, "cpprof_implementation") : NULL;
	const char *refusal = found ? begin(found) : NULL;
	if (!library)
		refusal = "it cannot be loaded";
	else if (!found)
		refusal = "it defines no cpprof_implementation";
	if (refusal) {
		probes_report_refusal(path, 0, refusal);
		return;
	}
	loaded = found;
	hooks_set_implementation(found);
}

bool implementation_is_named(const char *value)
{
	return strchr(value, '/') || strstr(value, ".so");
}

/* Without a recorder, hooks_begin makes a file only if the program is linked with this library. */
__attribute__((constructor)) static void load_if_requested(void)
{
	int error = errno;
	cpprof_runtime_begin();
	const char *path = hooks_environment_value(TALLY_MEASURE_VARIABLE);
	if (path && implementation_is_named(path) && !getauxval(AT_SECURE)) {
		if (!hooks.header && !hooks_environment_value(TALLY_VARIABLE))
			hooks_begin();
		if (hooks.header)
			load(path);
	}
	errno = error;
}

void implementation_finish(void)
{
	if (loaded && loaded->finish)
		loaded->finish();
}

void implementation_forked(void)
{
	if (loaded && loaded->forked)
		loaded->forked();
}
