#include "frames/native/symbolize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "frames/native/functions.h"
#include "frames/native/module_names.h"
#include "frames/native/names.h"
#include "frames/native/progress.h"
#include "frames/native/roles.h"

struct symbolizer {
	struct profile *profile;
	const struct symbolize_options *options;
	struct functions functions;
	struct progress progress;
	uint32_t *locations; /* those to name: without frames, and no mark of a thread; by module and address */
	size_t count;
};

static int by_module_and_address(const void *left, const void *right, void *context)
{
	const struct profile *profile = context;
	const struct profile_location *a = &profile->locations[*(const uint32_t *)left];
	const struct profile_location *b = &profile->locations[*(const uint32_t *)right];
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int find_locations(struct symbolizer *symbolizer)
{
	struct profile *profile = symbolizer->profile;
	symbolizer->locations = calloc(profile->location_count + 1, sizeof(*symbolizer->locations));
	if (!symbolizer->locations)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->location_count; i++)
		if (profile->locations[i].first_frame == PROFILE_NONE &&
		    profile->modules[profile->locations[i].module].kind != MODULE_THREAD)
			symbolizer->locations[symbolizer->count++] = (uint32_t)i;
	qsort_r(symbolizer->locations, symbolizer->count, sizeof(*symbolizer->locations), by_module_and_address,
		profile);
	symbolizer->progress.total = symbolizer->count;
	return 0;
}

/* One function for all locations of a module that is no file. */
static int name_as_one(struct symbolizer *symbolizer, uint32_t module, const uint32_t *locations, size_t count)
{
	struct profile *profile = symbolizer->profile;
	const char *path = profile_string(profile, profile->modules[module].path);
	struct function_identity identity = { .name = path[0] ? path : "[anon]", .module = module };
	if (profile->modules[module].kind == MODULE_ANON && path[0] != '[')
		identity.name = "[anon]";
	for (size_t i = 0; i < count; i++) {
		int status = module_names_set_plain(&symbolizer->functions, locations[i], &identity);
		if (status < 0)
			return status;
	}
	symbolizer->progress.done += count;
	return 0;
}

/* "libfoo.so+0x1a41" for each address: nothing is known of the functions. */
static int name_by_addresses(struct symbolizer *symbolizer, uint32_t module, const uint32_t *locations, size_t count)
{
	struct profile *profile = symbolizer->profile;
	struct buffer text;
	int status = 0;
	buffer_init(&text);
	for (size_t i = 0; i < count && status == 0; i++) {
		size_t length;
		const char *name = name_of_module(profile_string(profile, profile->modules[module].path), &length);
		buffer_clear(&text);
		buffer_append(&text, name, length);
		buffer_printf(&text, "+0x%llx", (unsigned long long)profile->locations[locations[i]].address);
		buffer_append_byte(&text, 0);
		status = buffer_error(&text);
		struct function_identity identity = { .name = (const char *)text.bytes, .module = module };
		if (status == 0)
			status = module_names_set_plain(&symbolizer->functions, locations[i], &identity);
	}
	buffer_release(&text);
	symbolizer->progress.done += count;
	return status;
}

/* Said once, however often the profile gains locations of that module. */
static int warn(struct symbolizer *symbolizer, const char *text)
{
	const struct profile *profile = symbolizer->profile;
	for (size_t i = 0; i < profile->note_count; i++)
		if (strcmp(profile_string(profile, profile->notes[i].value), text) == 0)
			return 0;
	int64_t id = profile_add_note(symbolizer->profile, "warning", text);
	return id < 0 ? (int)id : 0;
}

static int open_module(struct symbolizer *symbolizer, uint32_t module, struct module_file *file, struct error *error)
{
	const struct profile_module *info = &symbolizer->profile->modules[module];
	const char *path = profile_string(symbolizer->profile, info->path);
	if (info->kind == MODULE_VDSO)
		return module_file_open_vdso(file, error);
	errno = 0;
	int fd = symbolizer->options->open_module
			 ? symbolizer->options->open_module(symbolizer->options->context, module)
			 : path_open_regular(path);
	if (fd < 0 && errno == 0)
		errno = ENOENT;
	if (fd < 0)
		return error_set_errno(error, "cannot read %s", path);
	return module_file_open(file, fd, path, error);
}

static int name_by_file(struct symbolizer *symbolizer, uint32_t module, const uint32_t *locations, size_t count)
{
	const struct profile_module *info = &symbolizer->profile->modules[module];
	struct module_file file;
	struct error error = { 0 }, warning = { 0 };
	int status = open_module(symbolizer, module, &file, &error);
	if (status == ERROR_MEMORY)
		return status;
	if (status < 0) {
		error_set(&warning, status, "%s; its functions have no names: record again where it can be read",
			  error.message);
	} else if (info->build_id_bytes && module_file_is_another(&file, info->build_id, info->build_id_bytes)) {
		error_set(&warning, ERROR_NOT_FOUND,
			  "%s was replaced since it was recorded (its build-id differs); its functions have no names: "
			  "record again",
			  profile_string(symbolizer->profile, info->path));
		module_file_close(&file);
	} else {
		status = module_names_set(&symbolizer->functions, &file, module, locations, count,
					  &symbolizer->progress);
		module_file_close(&file);
		return status;
	}
	status = warn(symbolizer, warning.message);
	return status < 0 ? status : name_by_addresses(symbolizer, module, locations, count);
}

static int name_modules(struct symbolizer *symbolizer)
{
	struct profile *profile = symbolizer->profile;
	int status = 0;
	for (size_t first = 0; first < symbolizer->count && status == 0;) {
		const uint32_t *locations = &symbolizer->locations[first];
		uint32_t module = profile->locations[locations[0]].module;
		size_t count = 1;
		while (first + count < symbolizer->count && profile->locations[locations[count]].module == module)
			count++;
		uint8_t kind = profile->modules[module].kind;
		if (kind == MODULE_FILE || kind == MODULE_VDSO)
			status = name_by_file(symbolizer, module, locations, count);
		else
			status = name_as_one(symbolizer, module, locations, count);
		progress_tell(&symbolizer->progress);
		first += count;
	}
	return status;
}

int symbolize_profile(struct profile *profile, const struct symbolize_options *options, struct error *error)
{
	static const struct symbolize_options no_options;
	if (profile->symbolized)
		return 0;
	struct symbolizer symbolizer = { .profile = profile, .options = options ? options : &no_options };
	symbolizer.progress.options = symbolizer.options;
	symbolizer.progress.told_ns = progress_now_ns();
	int status = functions_init(&symbolizer.functions, profile);
	if (status == 0)
		status = find_locations(&symbolizer);
	if (status == 0)
		status = name_modules(&symbolizer);
	if (status == 0)
		status = roles_assign(profile);
	functions_release(&symbolizer.functions);
	free(symbolizer.locations);
	if (status < 0)
		return error_set(error, status, "cannot name the functions: %s", error_text(status));
	profile->symbolized = true;
	if (symbolizer.options->progress)
		symbolizer.options->progress(symbolizer.options->context, symbolizer.count, symbolizer.count);
	return 0;
}
