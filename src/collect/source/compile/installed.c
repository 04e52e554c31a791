#include "collect/source/compile/installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "processor/names.h"

/* Searches the build folder, folders beside an installed program, and the configured prefix. */
static bool find(char *path, const char *folder, const char *const *points, const char *name)
{
	for (; *points; points++) {
		char near[PATH_MAX + 256];
		if ((*points)[0] == '/')
			snprintf(near, sizeof(near), "%s/%s", *points, name);
		else
			snprintf(near, sizeof(near), "%s/%s/%s", folder, *points, name);
		char *real = realpath(near, NULL);
		bool is_found = real && access(real, R_OK) == 0 && strlen(real) < PATH_MAX;
		if (is_found)
			snprintf(path, PATH_MAX, "%s", real);
		free(real);
		if (is_found)
			return true;
	}
	return false;
}

static bool is_standard(const char *folder)
{
	static const char *const standard[] = {
		"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/lib/" ARCH_MULTIARCH, "/usr/lib/" ARCH_MULTIARCH, NULL
	};
	for (size_t i = 0; standard[i]; i++)
		if (strcmp(standard[i], folder) == 0)
			return true;
	return false;
}

int installed_find(struct installed *installed, struct error *error)
{
	static const char *const headers[] = { "../collect/source/compile", "../" CPPROF_INCLUDEDIR_NAME "/cpprof",
					       CPPROF_INCLUDEDIR "/cpprof", NULL };
	static const char *const libraries[] = { "../collect/agent", "../" CPPROF_LIBDIR_NAME, CPPROF_LIBDIR, NULL };
	*installed = (struct installed){ 0 };
	char folder[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	folder[length > 0 ? length : 0] = 0;
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
	if (!find(installed->profiler, folder, headers, "profiler.h"))
		return error_set(error, ERROR_NOT_FOUND,
				 "the header cpprof/profiler.h is neither beside this program nor in " CPPROF_INCLUDEDIR
				 " (install cpprof again: 'meson install')");
	if (!find(installed->processor, folder, headers, ARCH_PROFILER_HEADER))
		return error_set(error, ERROR_NOT_FOUND,
				 "the header cpprof/" ARCH_PROFILER_HEADER " is not beside cpprof/profiler.h"
				 ": install cpprof again ('meson install')");
	/* libcpprof.so is a symbolic link, which realpath follows to the library beside it. */
	if (!find(installed->library, folder, libraries, "libcpprof.so"))
		return error_set(error, ERROR_NOT_FOUND,
				 "the library libcpprof.so is neither beside this program nor in " CPPROF_LIBDIR
				 " (install cpprof again: 'meson install')");
	find(installed->static_library, folder, libraries, "libcpprof.a");
	snprintf(installed->library_folder, sizeof(installed->library_folder), "%s", installed->library);
	*strrchr(installed->library_folder, '/') = 0;
	installed->is_searched = is_standard(installed->library_folder);
	return 0;
}
