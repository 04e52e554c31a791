#include "frames/frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "frames/jail/naming.h"
#include "frames/naming_answer.h"
#include "frames/tail_frames.h"
#include "profile/findings.h"
#include "profile/module_name.h"
#include "profile/nameless.h"

static const struct frames_provider *const providers[] = {
#define X(name) &name##_provider,
	FRAMES_PROVIDERS(X)
#undef X
};
enum { PROVIDER_COUNT = sizeof(providers) / sizeof(providers[0]) };

static const struct frames_provider *provider_of(const struct profile *profile, uint32_t module)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		if (providers[i]->serves(profile, module))
			return providers[i];
	return NULL;
}

/* Locations without frames, sorted by module and address. Thread marks, which never have frames, are left out. */
struct unnamed {
	uint32_t *locations; /* owned */
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

static bool is_unnamed(const struct profile *profile, const struct profile_location *location,
		       const struct frames_options *options)
{
	if (location->first_frame != PROFILE_NONE || profile->modules[location->module].kind == MODULE_THREAD)
		return false;
	return !options->wants_module || options->wants_module(options->context, location->module);
}

static int unnamed_find(struct unnamed *unnamed, struct profile *profile, const struct frames_options *options)
{
	unnamed->locations = calloc(profile->location_count + 1, sizeof(*unnamed->locations));
	if (!unnamed->locations)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->location_count; i++)
		if (is_unnamed(profile, &profile->locations[i], options))
			unnamed->locations[unnamed->count++] = (uint32_t)i;
	qsort_r(unnamed->locations, unnamed->count, sizeof(*unnamed->locations), by_module_and_address, profile);
	return 0;
}

/* --- without a file --- */

/* Gives all locations of a module without a provider the same function. */
static int name_as_one(const struct frames_request *request, struct naming_answer *answer)
{
	const struct profile *profile = request->profile;
	const char *path = profile_string(profile, profile->modules[request->module].path);
	const struct named_function function = { .name = path[0] ? path : "[anon]" };
	int status = 0;
	for (size_t i = 0; i < request->count && status == 0; i++)
		status = naming_answer_plain(answer, &function);
	return status;
}

/* Names each address of a module whose functions are unknown: "libfoo.so+0x1a41". */
static int name_by_addresses(const struct frames_request *request, struct naming_answer *answer)
{
	const struct profile *profile = request->profile;
	size_t length;
	const char *name = module_name(profile_string(profile, profile->modules[request->module].path), &length);
	struct buffer text;
	int status = 0;
	buffer_init(&text);
	for (size_t i = 0; i < request->count && status == 0; i++) {
		buffer_clear(&text);
		buffer_append(&text, name, length);
		buffer_printf(&text, "+0x%llx", (unsigned long long)frames_request_address(request, i));
		buffer_append_byte(&text, 0);
		status = buffer_error(&text);
		const struct named_function function = { .name = (const char *)text.bytes };
		if (status == 0)
			status = naming_answer_plain(answer, &function);
	}
	buffer_release(&text);
	return status;
}

/* --- all modules --- */

/* Reports that a module could not be read: as a finding, and as the remedy for its functions without names. */
static int add_failure(struct profile *profile, uint32_t module, size_t count, const struct frames_failure *failure)
{
	struct buffer text;
	if (failure->cause->is_interruption) {
		finding_add(profile, FINDING_NAMING_INTERRUPTED, count,
			    "naming was interrupted: {# address has|# addresses have} no name");
		return profile->findings_error;
	}
	buffer_init(&text);
	buffer_printf(&text, "%s (%s)", failure->detail.message, failure->cause->remedy);
	buffer_append_byte(&text, 0);
	int status = buffer_error(&text) ? ERROR_MEMORY : 0;
	if (status == 0) {
		const struct nameless_source source = { .failure = (const char *)text.bytes };
		finding_add(profile, FINDING_FILE_UNREADABLE, count, "%s", source.failure);
		status = nameless_note_remedy(profile, profile_string(profile, profile->modules[module].path), &source);
	}
	buffer_release(&text);
	return status < 0 ? status : profile->findings_error;
}

static int name_module(struct naming *naming, uint32_t module, const uint32_t *locations, size_t count)
{
	const struct profile *profile = naming->profile;
	struct frames_provider plain = { .kind = FRAME_NATIVE, .name_module = name_as_one };
	struct frames_request request = {
		provider_of(profile, module), profile, naming->options, &naming->progress, module, locations, count
	};
	if (request.provider) {
		struct frames_failure failure = { 0 };
		int status = naming_name(naming, &request, &failure);
		if (status == 0 && failure.cause)
			status = add_failure(naming->profile, module, count, &failure);
		if (status < 0 || !failure.cause)
			return status;
		plain = (struct frames_provider){ .kind = request.provider->kind, .name_module = name_by_addresses };
	} else if (profile->modules[module].kind == MODULE_KERNEL) {
		plain.kind = FRAME_KERNEL;
	}
	request.provider = &plain;
	return naming_name_here(naming, &request);
}

static int name_modules(struct naming *naming, const struct unnamed *unnamed)
{
	const struct profile *profile = naming->profile;
	int status = 0;
	for (size_t first = 0; first < unnamed->count && status == 0;) {
		const uint32_t *locations = &unnamed->locations[first];
		uint32_t module = profile->locations[locations[0]].module;
		size_t count = 1;
		while (first + count < unnamed->count && profile->locations[locations[count]].module == module)
			count++;
		status = name_module(naming, module, locations, count);
		first += count;
		naming->progress.done = first;
		progress_report(&naming->progress);
	}
	return status;
}

int frames_assign_roles(struct profile *profile)
{
	int status = 0;
	for (size_t i = 0; i < PROVIDER_COUNT && status == 0; i++)
		if (providers[i]->assign_roles)
			status = providers[i]->assign_roles(profile);
	return status;
}

/* Names the locations. Tail calls are found first, because they add locations. */
static int name_all(struct profile *profile, const struct frames_options *options, struct unnamed *unnamed)
{
	struct naming naming;
	struct tail_frames *tails = options->finds_tail_calls ? tail_frames_new(profile, options) : NULL;
	int status = options->finds_tail_calls && !tails ? ERROR_MEMORY : 0;
	if (status == 0 && tails)
		status = tail_frames_find(tails);
	if (status == 0)
		status = unnamed_find(unnamed, profile, options);
	if (status == 0) {
		status = naming_init(&naming, profile, options, unnamed->count);
		if (tails)
			tail_frames_pass_limits(tails, &naming.jail);
		if (status == 0)
			status = name_modules(&naming, unnamed);
		if (status == 0 && tails)
			status = tail_frames_add(tails, &naming.functions);
		naming_release(&naming);
	}
	tail_frames_free(tails);
	return status;
}

int frames_name_profile(struct profile *profile, const struct frames_options *options, struct error *error)
{
	static const struct frames_options no_options;
	if (profile->symbolized)
		return 0;
	struct unnamed unnamed = { 0 };
	if (!options)
		options = &no_options;
	int status = name_all(profile, options, &unnamed);
	if (status == 0)
		status = frames_assign_roles(profile);
	free(unnamed.locations);
	if (status < 0)
		return error_set(error, status, "cannot name the functions: %s", error_text(status));
	profile->symbolized = true;
	if (options->progress)
		options->progress(options->context, unnamed.count, unnamed.count);
	return 0;
}
