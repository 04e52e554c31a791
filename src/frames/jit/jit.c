#include "frames/jit/jit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "frames/jit/perf_map.h"
#include "frames/jit/runtime_names.h"
#include "profile/generated_code.h"

enum jit_cause { JIT_UNREADABLE };

static const struct frames_cause causes[] = {
	[JIT_UNREADABLE] = { .remedy = "record again where the process's perf map can be read" },
};

static bool serves(const struct profile *profile, uint32_t module)
{
	return profile->modules[module].kind == MODULE_ANON;
}

/* Code that no line of a map contains is "[anon]": the runtime's stubs, or all code of a process without a map. */
static int set_name(struct frames_naming *naming, uint32_t module, uint32_t location, const char *text, size_t length)
{
	struct runtime_name *name = malloc(sizeof(*name));
	if (!name)
		return ERROR_MEMORY;
	runtime_name_read(text, length, name);
	struct function_identity identity = { .name = length ? name->name : GENERATED_CODE_NAMELESS, .module = module };
	if (name->file[0]) {
		identity.file = name->file;
		identity.line = name->line;
		identity.is_static = true;
	}
	int status = frames_set_plain(naming, location, FRAME_JIT, &identity);
	free(name);
	return status;
}

/* fd -1: there is no map. */
static int name_all(struct frames_naming *naming, uint32_t module, const uint32_t *locations, size_t count, int fd,
		    struct frames_failure *failure)
{
	struct buffer names;
	buffer_init(&names);
	uint64_t *addresses = malloc((count + 1) * sizeof(*addresses));
	struct perf_map_name *found = malloc((count + 1) * sizeof(*found));
	int status = addresses && found ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < count && status == 0; i++)
		addresses[i] = naming->profile->locations[locations[i]].address;
	if (status == 0 && fd < 0)
		memset(found, 0, count * sizeof(*found));
	else if (status == 0)
		status = perf_map_read(fd, addresses, count, found, &names);
	if (status == ERROR_SYSTEM) {
		error_set_errno(&failure->detail, "cannot read the perf map of generated code");
		failure->cause = &causes[JIT_UNREADABLE];
		status = 0;
	} else {
		for (size_t i = 0; i < count && status == 0; i++)
			status = set_name(naming, module, locations[i],
					  found[i].length ? (const char *)names.bytes + found[i].at : "",
					  found[i].length);
		naming->progress.done += count;
	}
	free(addresses);
	free(found);
	buffer_release(&names);
	return status;
}

static int name_module(struct frames_naming *naming, uint32_t module, const uint32_t *locations, size_t count,
		       struct frames_failure *failure)
{
	const struct frames_options *options = naming->options;
	struct error none;
	int fd = options->open_module ? options->open_module(options->context, module, &none) : ERROR_NOT_FOUND;
	int status = name_all(naming, module, locations, count, fd, failure);
	if (fd >= 0)
		close(fd);
	return status;
}

const struct frames_provider jit_provider = {
	.kind = FRAME_JIT,
	.causes = causes,
	.cause_count = sizeof(causes) / sizeof(causes[0]),
	.serves = serves,
	.name_module = name_module,
};
