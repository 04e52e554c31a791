#include <stdlib.h>
#include <string.h>

#include "render/info.h"

static int compare_cgroups(const void *left, const void *right, void *context)
{
	const uint32_t *a = left, *b = right;
	return strcmp(profile_string(context, *a), profile_string(context, *b));
}

/* Collects what the document needs beside the profile, before the first byte is written. Returns 0 or ERROR_MEMORY. */
static int collect(struct info *info)
{
	const struct profile *profile = info->profile;
	info->label_keys = analyze_label_keys(profile, &info->label_key_count);
	info->cgroups = malloc((profile->process_count + 1) * sizeof(*info->cgroups));
	if (!info->label_keys || !info->cgroups || tail_calls_count(profile, &info->tail_calls) < 0)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->process_count; i++)
		if (profile_string(profile, profile->processes[i].cgroup)[0])
			info->cgroups[info->cgroup_count++] = profile->processes[i].cgroup;
	if (info->cgroup_count > 0)
		qsort_r(info->cgroups, info->cgroup_count, sizeof(*info->cgroups), compare_cgroups, (void *)profile);
	return 0;
}

int render_info(FILE *out, const struct profile *profile, const char *file_name, uint64_t file_bytes,
		const struct render_options *options)
{
	struct info info = {
		.profile = profile, .file_name = file_name, .file_bytes = file_bytes, .quality = quality_of(profile)
	};
	int status = collect(&info);
	if (status == 0 && options->format == RENDER_JSON)
		info_json(out, &info);
	else if (status == 0)
		info_text(out, &info, options);
	free(info.label_keys);
	free(info.cgroups);
	return status;
}
