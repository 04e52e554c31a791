/*
 * Frames of machine code in ELF files and the vDSO, from symbol tables and DWARF. Each address is looked up once.
 * The DIE tree and the line table of each unit are read once, for all addresses in the unit.
 *
 * Symbols come from the first of these that has any: the file's .symtab; the separate debug file's (by build-id,
 * then .gnu_debuglink; debuginfod only if DEBUGINFOD_URLS is set); .gnu_debugdata together with .dynsym; .dynsym.
 * The symbol of an address names its outermost function, so that names do not depend on debug information (symbols.h
 * defines which symbol of several). Inlined functions, files and lines come from DWARF. Without a symbol, the name
 * of the outermost function is, in this order: DWARF's name; "qsort@plt" in a PLT; `_start` and `main` of a stripped
 * program; "module+0x1a40" with the start of the function, from .eh_frame or as the code shows (code_extent.h).
 *
 * Clones and parts of a function (`parse.cold`, `parse.constprop.0`) and its inlined copies are one function,
 * `parse`. Its `linkage` is the shortest symbol that was found.
 */
#include "base/path.h"
#include "frames/naming_answer.h"
#include "frames/native/module_file.h"
#include "frames/native/module_names.h"
#include "frames/native/roles.h"

enum native_cause { NATIVE_UNREADABLE, NATIVE_FOR_ROOT, NATIVE_NO_ELF, NATIVE_REPLACED };

static const struct frames_cause causes[] = {
	[NATIVE_UNREADABLE] = { .remedy = "record again where it can be read" },
	[NATIVE_FOR_ROOT] = { .remedy = "record as root" },
	[NATIVE_NO_ELF] = { .remedy = "its addresses have no names" },
	[NATIVE_REPLACED] = { .remedy = "record again" },
};

static bool serves(const struct profile *profile, uint32_t module)
{
	uint8_t kind = profile->modules[module].kind;
	return kind == MODULE_FILE || kind == MODULE_VDSO;
}

static int open_module(const struct frames_request *request, struct module_file *file, struct error *error)
{
	const struct profile_module *info = &request->profile->modules[request->module];
	const struct frames_options *options = request->options;
	const char *path = profile_string(request->profile, info->path);
	if (info->kind == MODULE_VDSO)
		return module_file_open_vdso(file, error);
	int fd = options->open_module ? options->open_module(options->context, request->module, error)
				      : path_open_regular(path);
	if (fd >= 0)
		return module_file_open(file, fd, path, error);
	return options->open_module ? fd : error_set_errno(error, "cannot read '%s'", path);
}

static const struct frames_cause *cause_of(int code)
{
	switch (code) {
	case ERROR_PERMISSION:
		return &causes[NATIVE_FOR_ROOT];
	case ERROR_FORMAT:
	case ERROR_UNSUPPORTED:
	case ERROR_CORRUPT:
		return &causes[NATIVE_NO_ELF];
	default:
		return &causes[NATIVE_UNREADABLE];
	}
}

static int name_module(const struct frames_request *request, struct naming_answer *answer)
{
	const struct profile_module *info = &request->profile->modules[request->module];
	struct frames_failure *failure = &answer->failure;
	struct module_file file;
	int status = open_module(request, &file, &failure->detail);
	if (status == ERROR_MEMORY)
		return status;
	if (status < 0) {
		failure->cause = cause_of(status);
		return 0;
	}
	if (info->build_id_bytes && module_file_is_another(&file, info->build_id, info->build_id_bytes)) {
		error_set(&failure->detail, ERROR_NOT_FOUND,
			  "%s was replaced since it was recorded (its build-id differs)",
			  profile_string(request->profile, info->path));
		failure->cause = &causes[NATIVE_REPLACED];
		status = 0;
	} else {
		status = module_names_add(request, &file, answer);
	}
	module_file_close(&file);
	return status;
}

const struct frames_provider native_provider = {
	.kind = FRAME_NATIVE,
	.causes = causes,
	.cause_count = sizeof(causes) / sizeof(causes[0]),
	.serves = serves,
	.name_module = name_module,
	.assign_roles = roles_assign,
};
