#include "frames/code/disassembly.h"

#include <string.h>
#include <unistd.h>

#include "base/quote.h"
#include "frames/code/capstone_calls.h"
#include "frames/jail/once.h"
#include "profile/file_users.h"

/* --- the request --- */

/* Returns whether a module's functions are those of interpreted programs. */
static bool is_interpreted(const struct profile *profile, const struct profile_module *module)
{
	uint32_t index = (uint32_t)(module - profile->modules);
	for (size_t i = 0; i < profile->location_count && module->kind == MODULE_NAMES; i++) {
		const struct profile_location *location = &profile->locations[i];
		if (location->module == index && location->first_frame != PROFILE_NONE)
			return profile->frames[location->first_frame].kind == FRAME_INTERPRETER;
	}
	return false;
}

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
	if (is_interpreted(profile, module))
		return error_set(
			error, ERROR_UNSUPPORTED,
			"an interpreter executes it, so that it has no machine code (look at its lines: --source)");
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
		status = code_list_read(list, module, cursor_over(answer.bytes, answer.size));
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
