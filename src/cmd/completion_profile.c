#include "cmd/completion_profile.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cxx_name.h"
#include "base/strings.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"

bool completion_is_plain(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("_:.@+-/~,=%", text[i]))
			return false;
	return size > 0;
}

/* Offers the names without parameters and template arguments, which lookups accept, each once. Those that need quotes are left out. */
static int offer_functions(const struct profile *profile, completion_offer *offer, void *context)
{
	struct strings names;
	size_t longest = 0;
	if (strings_init(&names) < 0)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->function_count; i++) {
		size_t length = strlen(profile_string(profile, profile->functions[i].name));
		longest = length > longest ? length : longest;
	}
	char *plain = malloc(longest + 1);
	int status = plain ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < profile->function_count && status == 0; i++) {
		const char *text = profile_string(profile, profile->functions[i].name);
		struct cxx_name parts = cxx_name_parse(text, strlen(text));
		size_t size = cxx_name_plain(text + parts.start, parts.end - parts.start, plain);
		size_t before = names.count;
		plain[size] = 0;
		if (!completion_is_plain(plain, size))
			continue;
		if (strings_add(&names, plain, size) < 0)
			status = ERROR_MEMORY;
		else if (names.count > before)
			offer(context, plain, "");
	}
	free(plain);
	strings_release(&names);
	return status;
}

static int offer_resources(const struct profile *profile, completion_offer *offer, void *context)
{
	for (size_t i = 0; i < profile->resource_count; i++) {
		const char *name = profile_string(profile, profile->resources[i].name);
		if (completion_is_plain(name, strlen(name)))
			offer(context, name, "");
	}
	return 0;
}

/* Offers a name once. */
static int offer_name(struct strings *offered, const char *name, completion_offer *offer, void *context)
{
	size_t before = offered->count;
	if (!completion_is_plain(name, strlen(name)))
		return 0;
	if (strings_add(offered, name, strlen(name)) < 0)
		return ERROR_MEMORY;
	if (offered->count > before)
		offer(context, name, "");
	return 0;
}

/* Offers a number, with the name that belongs to it as its help. */
static void offer_number(uint32_t number, const char *name, completion_offer *offer, void *context)
{
	char text[16];
	snprintf(text, sizeof(text), "%" PRIu32, number);
	offer(context, text, name);
}

static int offer_threads(const struct profile *profile, completion_offer *offer, void *context)
{
	struct strings offered;
	int status = strings_init(&offered);
	if (status < 0)
		return status;
	for (size_t i = 0; i < profile->thread_count && status == 0; i++) {
		const char *name = profile_string(profile, profile->threads[i].name);
		status = offer_name(&offered, name, offer, context);
		offer_number(profile->threads[i].tid, name, offer, context);
	}
	strings_release(&offered);
	return status;
}

static int offer_processes(const struct profile *profile, completion_offer *offer, void *context)
{
	struct strings offered;
	int status = strings_init(&offered);
	if (status < 0)
		return status;
	for (size_t i = 0; i < profile->process_count && status == 0; i++) {
		const char *name = profile_string(profile, profile->processes[i].name);
		status = offer_name(&offered, name, offer, context);
		offer_number(profile->processes[i].pid, name, offer, context);
	}
	strings_release(&offered);
	return status;
}

static const struct {
	const char *value; /* of the options, in their help */
	int (*offer)(const struct profile *profile, completion_offer *offer, void *context);
} lists[] = { { "FN", offer_functions },
	      { "RES", offer_resources },
	      { "THREAD", offer_threads },
	      { "PROCESS", offer_processes } };

int completion_profile_each(const struct invocation *invocation, const char *value, const char *path,
			    completion_offer *offer, void *context)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (strcmp(lists[i].value, value) != 0)
			continue;
		struct profile *profile = profile_open(invocation, path);
		if (!profile)
			return EXIT_FAILED;
		int status = lists[i].offer(profile, offer, context);
		profile_free(profile);
		return status < 0 ? failure(invocation, "out of memory") : EXIT_DONE;
	}
	return EXIT_DONE;
}
