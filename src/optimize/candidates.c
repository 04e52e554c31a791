#include "optimize/contextualize.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

int candidates_find(struct candidates *candidates, const struct profile *profile, double threshold, struct error *error)
{
	const struct view_options options = {
		.resource = 0, .by = VIEW_LINE, .kernel = VIEW_KERNEL_HIDE, .thread = VIEW_ANY
	};
	candidates->view = view_new(profile, &options, error);
	if (candidates->view)
		candidates->list = analyze_candidates(candidates->view, threshold, error);
	return candidates->list ? 0 : error->code;
}

void candidates_release(struct candidates *candidates)
{
	candidate_list_free(candidates->list);
	view_free(candidates->view);
	*candidates = (struct candidates){ 0 };
}

char *candidates_path(const struct candidates *candidates, size_t index)
{
	struct buffer text;
	char name[4096];
	buffer_init(&text);
	const struct candidate *candidate = &candidates->list->items[index];
	for (size_t i = 0; i < candidate->length; i++)
		buffer_printf(&text, "%s%s", i > 0 ? ";" : "",
			      candidate_name(candidates->view, candidate->path[i], name, sizeof(name)));
	buffer_append_byte(&text, 0);
	char *path = buffer_error(&text) < 0 ? NULL : strdup((const char *)text.bytes);
	buffer_release(&text);
	return path;
}
