#include "render/info.h"

void render_info(FILE *out, const struct profile *profile, const char *file_name, uint64_t file_bytes,
		 const struct render_options *options)
{
	struct info info = {
		.profile = profile, .file_name = file_name, .file_bytes = file_bytes, .quality = quality_of(profile)
	};
	if (options->format == RENDER_JSON)
		info_json(out, &info);
	else
		info_text(out, &info, options);
}
