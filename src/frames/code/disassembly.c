#include "frames/code/disassembly.h"

#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/quote.h"
#include "frames/code/capstone_calls.h"
#include "frames/jail/once.h"
#include "profile/file_users.h"

/* --- the answer --- */

/* Sets *kept to the list's copy of the next text, or to NULL if it is empty. */
static int read_text(struct code_list *list, struct cursor *answer, const char **kept)
{
	const char *text = cursor_string(answer);
	*kept = NULL;
	if (!text || !text[0])
		return 0;
	int64_t id = strings_add(&list->texts, text, strlen(text));
	if (id < 0)
		return (int)id;
	*kept = strings_get(&list->texts, (uint32_t)id);
	return 0;
}

static int read_instruction(struct code_list *list, struct cursor *answer, uint64_t address, uint64_t end)
{
	struct code_instruction instruction = { .address = address, .bytes = cursor_u8(answer) };
	uint8_t flags = cursor_u8(answer);
	instruction.is_reached = flags & DISASSEMBLY_REACHED;
	instruction.leaves_range = flags & DISASSEMBLY_LEAVES;
	instruction.target = cursor_u64(answer);
	instruction.line = cursor_u32(answer);
	int status = read_text(list, answer, &instruction.text);
	if (status == 0)
		status = read_text(list, answer, &instruction.file);
	if (status == 0)
		status = read_text(list, answer, &instruction.callee);
	if (status < 0)
		return status;
	if (answer->failed || !instruction.text || instruction.bytes == 0 || instruction.bytes > end - address)
		return ERROR_CORRUPT;
	if (ARRAY_RESERVE(list->instructions, list->capacity, list->count + 1) < 0)
		return ERROR_MEMORY;
	list->instructions[list->count++] = instruction;
	return 0;
}

static int read_range(struct code_list *list, uint32_t module, struct cursor *answer)
{
	struct code_range range = { .module = module, .first = list->count };
	range.start = cursor_u64(answer);
	range.end = cursor_u64(answer);
	range.count = cursor_u32(answer);
	const struct code_range *before = list->range_count ? &list->ranges[list->range_count - 1] : NULL;
	if (answer->failed || range.start >= range.end || range.count == 0 ||
	    (before && before->module == module && range.start < before->end))
		return ERROR_CORRUPT;
	uint64_t address = range.start;
	for (size_t i = 0; i < range.count; i++) {
		int status = address < range.end ? read_instruction(list, answer, address, range.end) : ERROR_CORRUPT;
		if (status < 0)
			return status;
		address += list->instructions[list->count - 1].bytes;
	}
	if (address != range.end)
		return ERROR_CORRUPT;
	if (ARRAY_RESERVE(list->ranges, list->range_capacity, list->range_count + 1) < 0)
		return ERROR_MEMORY;
	list->ranges[list->range_count++] = range;
	return 0;
}

int disassembly_read(struct code_list *list, uint32_t module, struct cursor answer)
{
	const size_t ranges = list->range_count, instructions = list->count;
	uint32_t count = cursor_u32(&answer);
	int status = 0;
	for (uint32_t i = 0; i < count && status == 0; i++)
		status = read_range(list, module, &answer);
	if (status == 0 && (answer.failed || cursor_left(&answer)))
		status = ERROR_CORRUPT;
	if (status < 0) {
		list->range_count = ranges;
		list->count = instructions;
	}
	return status;
}

/* --- the request --- */

/* Code for which there is no file that could be read, or checked. */
static int check_module(const struct profile *profile, const struct profile_module *module, struct error *error)
{
	static const struct {
		enum module_kind kind;
		const char *reason;
	} rows[] = {
		{ MODULE_VDSO, "it is code of the kernel's [vdso], which is not a file (look at its callers: --up)" },
		{ MODULE_ANON,
		  "it was generated at run time, and a profile does not keep generated code (look at its lines or "
		  "callers: --source, --up)" },
		{ MODULE_KERNEL, "it is code of the kernel (look at its callers: --up)" },
		{ MODULE_NAMES,
		  "the profile was imported and has no addresses (record the program with 'cpprof record')" },
		{ MODULE_THREAD, "it is not code (choose one of 'cpprof report --functions')" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (module->kind == rows[i].kind)
			return error_set(error, ERROR_UNSUPPORTED, "%s", rows[i].reason);
	if (module->build_id_bytes == 0)
		return error_set(error, ERROR_UNSUPPORTED,
				 "%s has no build-id, so nothing shows that it is still the file that was recorded "
				 "(link it with "
				 "-Wl,--build-id and record again)",
				 QUOTE(profile_string(profile, module->path)));
	return 0;
}

static void write_request(struct buffer *request, const struct profile_module *module, const uint64_t *addresses,
			  size_t count)
{
	buffer_append_byte(request, module->build_id_bytes);
	buffer_append(request, module->build_id, module->build_id_bytes);
	buffer_append(request, addresses, count * sizeof(*addresses));
}

static int decode_file(const struct profile *profile, const char *path, const struct buffer *request,
		       struct buffer *answer, struct error *error)
{
	int fd = file_users_open_once(profile, path);
	if (fd < 0) {
		error_set_errno(error, "cannot open %s", QUOTE(path));
		char reason[sizeof(error->message)];
		snprintf(reason, sizeof(reason), "%s", error->message);
		return error_set(error, error->code, "%s (%s)", reason,
				 error->code == ERROR_PERMISSION ? FILE_USERS_REMEDY
								 : "run this where the file with that build-id is");
	}
	capstone_calls(); /* while it can be loaded; the task reports that it is missing */
	int status = jail_run_on(&disassembly_task, fd, path, request, NULL, answer, error);
	close(fd);
	return status;
}

static int decode(void *context, const struct profile *profile, uint32_t module, const uint64_t *addresses,
		  size_t count, struct code_list *list, struct error *error)
{
	const struct profile_module *own = &profile->modules[module];
	const char *path = profile_string(profile, own->path);
	struct buffer request, answer;
	(void)context;
	int status = check_module(profile, own, error);
	if (status < 0)
		return status;
	buffer_init(&request);
	buffer_init(&answer);
	write_request(&request, own, addresses, count);
	status = buffer_error(&request);
	if (status < 0)
		error_set(error, status, "out of memory");
	else
		status = decode_file(profile, path, &request, &answer, error);
	if (status == 0) {
		status = disassembly_read(list, module, cursor_over(answer.bytes, answer.size));
		if (status == ERROR_CORRUPT)
			jail_refuse_answer(&disassembly_task, path, error);
		else if (status < 0)
			error_set(error, status, "out of memory");
	}
	buffer_release(&request);
	buffer_release(&answer);
	return status;
}

const struct code_source code_of_files = { .decode = decode };
