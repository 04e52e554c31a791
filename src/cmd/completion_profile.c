#include "cmd/completion_profile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cxx_name.h"
#include "base/strings.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"

/* Whether a shell takes the word as it is. */
static bool needs_no_quotes(const char *text, size_t size)
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
		if (!needs_no_quotes(plain, size))
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
		if (needs_no_quotes(name, strlen(name)))
			offer(context, name, "");
	}
	return 0;
}

static const struct {
	const char *value; /* of the options, in their help */
	int (*offer)(const struct profile *profile, completion_offer *offer, void *context);
} lists[] = { { "FN", offer_functions }, { "RES", offer_resources } };

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
