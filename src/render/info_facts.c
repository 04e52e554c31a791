/* Facts that both forms of `info` print. */
#include <string.h>
#include <time.h>

#include "render/info.h"

struct resource_sum info_resource_sum(const struct profile *profile, uint32_t resource)
{
	struct resource_sum sum = { 0 };
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		if (hit->resource != resource)
			continue;
		sum.hits += hit->count;
		sum.samples += profile_hit_samples(profile, hit);
	}
	return sum;
}

const char *info_build_id(const struct profile_module *module, char text[INFO_BUILD_ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	size_t at = 0;
	for (size_t i = 0; i < module->build_id_bytes && i < PROFILE_BUILD_ID_MAX; i++) {
		text[at++] = digits[module->build_id[i] >> 4];
		text[at++] = digits[module->build_id[i] & 15];
	}
	text[at] = 0;
	return text;
}

const char *info_start(const struct profile *profile, char *text, size_t bytes)
{
	time_t seconds = (time_t)(profile->start_unix_ns / 1000000000);
	struct tm local;
	if (profile->start_unix_ns == 0 || !localtime_r(&seconds, &local) ||
	    strftime(text, bytes, "%Y-%m-%d %H:%M:%S %z", &local) == 0)
		return "";
	return text;
}

size_t info_module_count(const struct profile *profile)
{
	size_t count = 0;
	for (size_t i = 0; i < profile->module_count; i++)
		count += profile->modules[i].kind != MODULE_THREAD;
	return count;
}

bool info_is_headline(const char *key)
{
	static const char *const keys[] = { "command", "host", "taken", "called", "nested", "remedy" };
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}
