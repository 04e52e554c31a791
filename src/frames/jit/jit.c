/* The provider of names for generated code, from the perf map (frames/jit/perf_map.h) or the jitdump
 * (frames/jit/jitdump.h) that its runtime writes. A recorder opens the file while the process runs. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "frames/jit/jitdump.h"
#include "frames/jit/perf_map.h"
#include "frames/jit/runtime_names.h"
#include "frames/naming_answer.h"
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
static struct named_function function_of(const char *text, size_t length, struct runtime_name *parts)
{
	runtime_name_read(text, length, parts);
	struct named_function function = { .name = length ? parts->name : GENERATED_CODE_NAMELESS };
	if (parts->file[0]) {
		function.file = parts->file;
		function.line = parts->line;
		function.is_static = true;
	}
	return function;
}

/* --- by a perf map --- */

static int name_by_map(const struct frames_request *request, const uint64_t *addresses, int fd,
		       struct naming_answer *answer)
{
	struct buffer names;
	struct runtime_name *parts = malloc(sizeof(*parts));
	struct perf_map_name *found = calloc(request->count + 1, sizeof(*found));
	buffer_init(&names);
	int status = parts && found ? 0 : ERROR_MEMORY;
	if (status == 0 && fd >= 0)
		status = perf_map_read(fd, addresses, request->count, found, &names);
	for (size_t i = 0; i < request->count && status == 0; i++) {
		const char *text = found[i].length ? (const char *)names.bytes + found[i].at : "";
		const struct named_function function = function_of(text, found[i].length, parts);
		status = naming_answer_plain(answer, &function);
	}
	free(parts);
	free(found);
	buffer_release(&names);
	return status;
}

/* --- by a jitdump --- */

/* Adds one frame, and its function. Returns 0 or a negative error. */
static int add_frame(const struct jitdump *dump, const struct jitdump_frame *frame, struct runtime_name *parts,
		     bool is_inlined, struct naming_answer *answer)
{
	const char *texts = (const char *)dump->texts.bytes, *name = texts + frame->name;
	struct named_function function = { .name = name };
	const char *of_line = frame->line ? texts + frame->file : NULL;
	if (frame->is_whole)
		function.file = of_line;
	else
		function = function_of(name, strlen(name), parts);
	/* V8's are wrong (code_lines.c). */
	if (of_line && function.file && runtime_name_is_v8(name, strlen(name)))
		of_line = function.file;
	if (of_line && !of_line[0])
		of_line = NULL;
	int64_t number = naming_answer_function(answer, &function);
	const struct named_frame named = {
		.function = (uint32_t)number, .file = of_line, .line = of_line ? frame->line : 0, .inlined = is_inlined
	};
	return number < 0 ? (int)number : naming_answer_frame(answer, &named);
}

static int add_frames(const struct jitdump *dump, const struct jitdump_found *found, struct runtime_name *parts,
		      struct naming_answer *answer)
{
	int status = 0;
	for (size_t i = 0; i < found->count && status == 0; i++)
		status = add_frame(dump, &dump->frames[found->first + i], parts, i + 1 < found->count, answer);
	if (found->count > 0)
		return status;
	return naming_answer_plain(answer, &(struct named_function){ .name = GENERATED_CODE_NAMELESS });
}

/* Returns the times of the locations, which the caller frees, or NULL if they are unknown or memory ran out. */
static uint64_t *times_of(const struct frames_request *request)
{
	const struct frames_options *options = request->options;
	uint64_t *times = options->times ? malloc((request->count + 1) * sizeof(*times)) : NULL;
	for (size_t i = 0; i < request->count && times; i++) {
		uint32_t location = request->locations[i];
		times[i] = location < options->time_count ? options->times[location] : UINT64_MAX;
	}
	return times;
}

static int name_by_dump(const struct frames_request *request, const uint64_t *addresses, int fd,
			struct naming_answer *answer)
{
	struct jitdump dump;
	struct runtime_name *parts = malloc(sizeof(*parts));
	uint64_t *times = times_of(request);
	int status = jitdump_read(fd, addresses, times, request->count, &dump);
	if (status == 0 && !parts)
		status = ERROR_MEMORY;
	for (size_t i = 0; i < request->count && status == 0; i++)
		status = add_frames(&dump, &dump.found[i], parts, answer);
	jitdump_release(&dump);
	free(times);
	free(parts);
	return status;
}

/* --- a module --- */

/* fd -1: there is neither a map nor a dump. */
static int name_all(const struct frames_request *request, int fd, struct naming_answer *answer)
{
	uint64_t *addresses = malloc((request->count + 1) * sizeof(*addresses));
	if (!addresses)
		return ERROR_MEMORY;
	for (size_t i = 0; i < request->count; i++)
		addresses[i] = frames_request_address(request, i);
	int status = fd >= 0 && jitdump_is(fd) ? name_by_dump(request, addresses, fd, answer)
					       : name_by_map(request, addresses, fd, answer);
	if (status == ERROR_SYSTEM) {
		error_set_errno(&answer->failure.detail, "cannot read the list of generated code");
		answer->failure.cause = &causes[JIT_UNREADABLE];
		status = 0;
	}
	free(addresses);
	return status;
}

static int name_module(const struct frames_request *request, struct naming_answer *answer)
{
	const struct frames_options *options = request->options;
	struct error none;
	int fd =
		options->open_module ? options->open_module(options->context, request->module, &none) : ERROR_NOT_FOUND;
	int status = name_all(request, fd, answer);
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
