#include "collect/sample/label_use.h"

#include "collect/sample/probes/libraries.h"
#include "profile/profile.h"

static bool label(struct libraries *libraries)
{
	bool found = libraries_call(libraries, "cpprof_label");
	libraries_release(libraries);
	return found;
}

bool label_use_of_command(const char *path)
{
	struct libraries libraries = { 0 };
	/* A script has none: the programs that it starts are not known yet. */
	(void)libraries_by_needs(&libraries, path, NULL);
	return label(&libraries);
}

bool label_use_of_process(pid_t pid)
{
	struct libraries libraries = { 0 };
	(void)libraries_of_process(&libraries, pid, NULL);
	return label(&libraries);
}

bool label_use_of_modules(const struct profile *profile)
{
	struct libraries libraries = { 0 };
	bool is_linked = false;
	for (size_t i = 0; i < profile->module_count; i++) {
		const char *path = profile_string(profile, profile->modules[i].path);
		is_linked |= library_is_libcpprof(path);
		if (path[0] == '/' && libraries_add(&libraries, path, path) < 0)
			break;
	}
	if (!is_linked)
		libraries_release(&libraries);
	return label(&libraries);
}
