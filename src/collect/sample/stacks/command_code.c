#include "collect/sample/stacks/command_code.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/sample/probes/elf_needs.h"
#include "elf/elf_file.h"

/* Opens a file as the module that the kernel will report: by its real path and its build-id. */
static void open_file(struct modules *modules, const char *path)
{
	char real[PATH_MAX];
	int fd = realpath(path, real) ? path_open_regular(real) : -1;
	struct elf_file *file = fd >= 0 ? elf_file_open(fd, real, NULL) : NULL;
	const uint8_t *id = NULL;
	size_t id_bytes = file ? elf_file_build_id(file, &id) : 0;
	struct mapped_file mapped = { .path = real, .build_id = id_bytes ? id : NULL, .build_id_bytes = id_bytes };
	struct stat status;
	if (file && fstat(fd, &status) == 0) {
		mapped.device = status.st_dev;
		mapped.inode = status.st_ino;
	}
	int64_t module = file ? modules_add(modules, &mapped) : -1;
	if (module >= 0)
		modules_get(modules, (uint32_t)module, NULL, false);
	elf_file_free(file);
	if (fd >= 0)
		close(fd);
}

static bool is_needed(const struct elf_needs *needs, const char *path)
{
	for (size_t i = 0; i < needs->needed_count; i++)
		if (strcmp(needs->needed[i], path_basename(path)) == 0)
			return true;
	return false;
}

/* Opens the files which the command needs by name and which we have mapped too. */
static void open_shared(struct modules *modules, const struct elf_needs *needs)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	char last[PATH_MAX] = "";
	while (maps && fgets(line, sizeof(line), maps)) {
		const char *path = strchr(line, '/');
		line[strcspn(line, "\n")] = 0;
		if (!path || strcmp(path, last) == 0 || !is_needed(needs, path))
			continue;
		snprintf(last, sizeof(last), "%s", path);
		open_file(modules, path);
	}
	if (maps)
		fclose(maps);
}

void command_code_open(struct modules *modules, const char *path)
{
	struct elf_needs needs;
	if (elf_needs_read(&needs, path, NULL) < 0)
		return; /* a script: the maps of its interpreter will be reported */
	open_file(modules, path);
	if (needs.interpreter)
		open_file(modules, needs.interpreter);
	open_shared(modules, &needs);
	elf_needs_release(&needs);
}
