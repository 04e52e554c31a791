#include "frames/jit/jit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "frames/jit/jitdump.h"
#include "frames/jit/perf_map.h"
#include "frames/jit/runtime_names.h"
#include "profile/generated_code.h"

enum jit_cause { JIT_UNREADABLE };

static const struct frames_cause causes[] = {
	[JIT_UNREADABLE] = { .remedy = "record again where the process's perf map or jitdump can be read" },
};

static bool serves(const struct profile *profile, uint32_t module)
{
	return profile->modules[module].kind == MODULE_ANON;
}

/* Fills in what a runtime's name states. `parts` keeps the texts. Code without a name is the runtime's stubs, or all code of a process whose
 * runtime lists none. */
static struct function_identity identity_of(const char *text, size_t length, struct runtime_name *parts)
{
	runtime_name_read(text, length, parts);
	struct function_identity identity = { .name = length ? parts->name : GENERATED_CODE_NAMELESS };
	if (parts->file[0]) {
		identity.file = parts->file;
		identity.line = parts->line;
		identity.is_static = true;
	}
	return identity;
}

/* --- by a perf map --- */

static int name_by_map(struct frames_naming *naming, uint32_t module, const uint32_t *locations,
		       const uint64_t *addresses, size_t count, int fd)
{
	struct buffer names;
	struct runtime_name *parts = malloc(sizeof(*parts));
	struct perf_map_name *found = calloc(count + 1, sizeof(*found));
	buffer_init(&names);
	int status = parts && found ? 0 : ERROR_MEMORY;
	if (status == 0 && fd >= 0)
		status = perf_map_read(fd, addresses, count, found, &names);
	for (size_t i = 0; i < count && status == 0; i++) {
		const char *text = found[i].length ? (const char *)names.bytes + found[i].at : "";
		struct function_identity identity = identity_of(text, found[i].length, parts);
		identity.module = module;
		status = frames_set_plain(naming, locations[i], FRAME_JIT, &identity);
	}
	free(parts);
	free(found);
	buffer_release(&names);
	return status;
}

/* --- by a jitdump --- */

/* Adds one frame, and its function. Returns its id, or a negative error. */
static int64_t add_frame(struct frames_naming *naming, uint32_t module, const struct jitdump *dump,
			 const struct jitdump_frame *frame, struct runtime_name *parts, bool is_inlined)
{
	const char *texts = (const char *)dump->texts.bytes, *name = texts + frame->name;
	struct function_identity identity = { .name = name };
	const char *of_line = frame->line ? texts + frame->file : NULL;
	if (frame->is_whole)
		identity.file = of_line;
	else if (!frame->is_whole)
		identity = identity_of(name, strlen(name), parts);
	identity.module = module;
	/* V8's are wrong (code_lines.c). */
	if (of_line && identity.file && runtime_name_is_v8(name, strlen(name)))
		of_line = identity.file;
	if (of_line && !of_line[0])
		of_line = NULL;
	int64_t function = functions_add(&naming->functions, &identity);
	int64_t file = function < 0 || !of_line ? 0 : profile_add_string(naming->profile, of_line);
	if (function < 0 || file < 0)
		return function < 0 ? function : file;
	const struct profile_frame added = { .function = (uint32_t)function,
					     .file = (uint32_t)file,
					     .line = of_line ? frame->line : 0,
					     .inlined = is_inlined,
					     .kind = FRAME_JIT };
	return profile_add_frame(naming->profile, &added);
}

static int set_frames(struct frames_naming *naming, uint32_t module, uint32_t location, const struct jitdump *dump,
		      const struct jitdump_found *found, struct runtime_name *parts)
{
	struct profile_location *named = &naming->profile->locations[location];
	for (size_t i = 0; i < found->count; i++) {
		bool is_inlined = i + 1 < found->count;
		int64_t id = add_frame(naming, module, dump, &dump->frames[found->first + i], parts, is_inlined);
		if (id < 0)
			return (int)id;
		if (i == 0)
			named->first_frame = (uint32_t)id;
		named->frame_count++;
	}
	if (found->count > 0)
		return 0;
	const struct function_identity nameless = { .name = GENERATED_CODE_NAMELESS, .module = module };
	return frames_set_plain(naming, location, FRAME_JIT, &nameless);
}

/* Returns the times of the locations, which the caller frees, or NULL if they are unknown or memory ran out. */
static uint64_t *times_of(const struct frames_naming *naming, const uint32_t *locations, size_t count)
{
	const struct frames_options *options = naming->options;
	uint64_t *times = options->times ? malloc((count + 1) * sizeof(*times)) : NULL;
	for (size_t i = 0; i < count && times; i++)
		times[i] = locations[i] < options->time_count ? options->times[locations[i]] : UINT64_MAX;
	return times;
}

static int name_by_dump(struct frames_naming *naming, uint32_t module, const uint32_t *locations,
			const uint64_t *addresses, size_t count, int fd)
{
	struct jitdump dump;
	struct runtime_name *parts = malloc(sizeof(*parts));
	uint64_t *times = times_of(naming, locations, count);
	int status = jitdump_read(fd, addresses, times, count, &dump);
	if (status == 0 && !parts)
		status = ERROR_MEMORY;
	for (size_t i = 0; i < count && status == 0; i++)
		status = set_frames(naming, module, locations[i], &dump, &dump.found[i], parts);
	jitdump_release(&dump);
	free(times);
	free(parts);
	return status;
}

/* --- a module --- */

/* fd -1: there is neither a map nor a dump. */
static int name_all(struct frames_naming *naming, uint32_t module, const uint32_t *locations, size_t count, int fd,
		    struct frames_failure *failure)
{
	uint64_t *addresses = malloc((count + 1) * sizeof(*addresses));
	if (!addresses)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++)
		addresses[i] = naming->profile->locations[locations[i]].address;
	int status = fd >= 0 && jitdump_is(fd) ? name_by_dump(naming, module, locations, addresses, count, fd)
					       : name_by_map(naming, module, locations, addresses, count, fd);
	if (status == ERROR_SYSTEM) {
		error_set_errno(&failure->detail, "cannot read the list of generated code");
		failure->cause = &causes[JIT_UNREADABLE];
		status = 0;
	} else {
		naming->progress.done += count;
	}
	free(addresses);
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
