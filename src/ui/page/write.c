#include "ui/page/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "profile_file/writer.h"
#include "render/render.h"
#include "render/source_text.h"
#include "ui/page/compact.h"
#include "ui/page/lanes.h"
#include "ui/page/template.h"

/* Larger texts make the page slow to send, and people look at few files. */
enum { SOURCE_BYTES_MOST = 8 * 1024 * 1024, FILE_BYTES_MOST = 2 * 1024 * 1024 };

static int embed_profile(struct sink *sink, const char *id, const struct profile *profile, struct error *error)
{
	struct compact compact;
	struct buffer bytes;
	if (compact_make(&compact, profile, COMPACT_HITS) < 0)
		return error_set(error, ERROR_MEMORY, "cannot order the hits of the page: out of memory");
	buffer_init(&bytes);
	compact_write_table(&compact, &bytes);
	struct writer *writer = writer_to_memory(&bytes, error);
	int status = writer ? writer_finish(writer, &compact.profile, error) : error->code;
	writer_free(writer);
	if (status == 0)
		status = page_embed(sink, id, compact.period_ns, bytes.bytes, bytes.size, error);
	buffer_release(&bytes);
	compact_release(&compact);
	return status;
}

/* Writes all recordings: profile-a, profile-a2, ..., profile-b, ... */
static int embed_profiles(struct sink *sink, const struct page_contents *contents, struct error *error)
{
	int status = 0;
	for (size_t i = 0; i < contents->counts[DIFF_A] + contents->counts[DIFF_B] && status == 0; i++) {
		bool is_b = i >= contents->counts[DIFF_A];
		size_t number = i - (is_b ? contents->counts[DIFF_A] : 0);
		char id[40];
		snprintf(id, sizeof(id), number > 0 ? "profile-%c%zu" : "profile-%c", is_b ? 'b' : 'a', number + 1);
		status = embed_profile(sink, id, contents->profiles[i], error);
	}
	sink_printf(sink, "<div hidden id=\"spread\">%.15g</div>\n", contents->spread);
	return status;
}

/* --- source files --- */

/* Marks the locations on the paths of hits. */
static void mark_locations(const struct profile *profile, bool *nodes, bool *locations)
{
	for (size_t i = 0; i < profile->hit_count; i++)
		nodes[profile->hits[i].node] = true;
	for (size_t i = profile->node_count; i-- > 1;) {
		const struct profile_node *node = &profile->nodes[i];
		if (nodes[i])
			nodes[node->parent] = locations[node->location] = true;
	}
}

/* Marks the files of code that has hits. Returns 0 or ERROR_MEMORY. */
static int mark_files(const struct profile *profile, bool *marks)
{
	bool *nodes = calloc(profile->node_count, sizeof(*nodes));
	bool *locations = calloc(profile->location_count + 1, sizeof(*locations));
	bool has_memory = nodes && locations;
	if (has_memory)
		mark_locations(profile, nodes, locations);
	for (size_t i = 0; has_memory && i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		for (uint32_t k = 0; locations[i] && k < location->frame_count; k++)
			marks[profile->frames[location->first_frame + k].file] = true;
	}
	free(nodes);
	free(locations);
	return has_memory ? 0 : ERROR_MEMORY;
}

/* The texts of files, as a JSON object. */
struct texts {
	FILE *out;
	const struct profile *profile;
	struct page_written *sources;
	struct file_users access;
	bool has_all; /* also the paths of other users' processes */
};

static void add_file(struct texts *texts, const char *path)
{
	struct source_text source;
	struct page_written *sources = texts->sources;
	if (source_text_open(&source, &texts->access, texts->profile, path) < 0) {
		sources->absent++;
		return;
	}
	if (!texts->has_all && !page_is_own(&texts->access, texts->profile, path)) {
		source_text_release(&source);
		sources->foreign++;
		return;
	}
	size_t bytes = 0;
	for (size_t i = 0; i < source.count; i++)
		bytes += strlen(source.lines[i]) + 1;
	if (bytes > FILE_BYTES_MOST || sources->bytes + bytes > SOURCE_BYTES_MOST) {
		sources->left_out++;
	} else {
		fputs(sources->count > 0 ? "," : "", texts->out);
		json_string_write(texts->out, path);
		fputs(":[", texts->out);
		for (size_t i = 0; i < source.count; i++) {
			fputs(i > 0 ? "," : "", texts->out);
			json_string_write(texts->out, source.lines[i]);
		}
		fputs("]", texts->out);
		sources->count++;
		sources->bytes += bytes;
	}
	source_text_release(&source);
}

static int add_files(struct texts *texts)
{
	const struct profile *profile = texts->profile;
	bool *marks = calloc(profile->strings.count + 1, sizeof(*marks));
	if (!marks)
		return ERROR_MEMORY;
	int status = mark_files(profile, marks);
	for (uint32_t i = 1; i < profile->strings.count && status == 0; i++)
		if (marks[i])
			add_file(texts, profile_string(profile, i));
	file_users_release(&texts->access);
	free(marks);
	return status;
}

static int embed_sources(struct sink *sink, const struct page_contents *contents, struct page_written *sources,
			 struct error *error)
{
	char *text = NULL;
	size_t size = 0;
	struct texts texts = { .out = open_memstream(&text, &size),
			       .profile = contents->profiles[0],
			       .sources = sources,
			       .has_all = contents->all_sources };
	int status = texts.out ? 0 : ERROR_MEMORY;
	if (status == 0) {
		fputs("{", texts.out);
		if (!contents->no_source)
			status = add_files(&texts);
		fputs("}", texts.out);
		if (ferror(texts.out) | fclose(texts.out))
			status = ERROR_MEMORY;
	}
	status = status == 0 ? page_embed(sink, "sources", 0, text, size, error)
			     : error_set(error, status, "cannot read the source files: out of memory");
	free(text);
	return status;
}

/* --- machine code --- */

static int embed_code(struct sink *sink, const char *id, const struct profile *profile,
		      const struct page_contents *contents, struct stored_code_written *written, struct error *error)
{
	struct stored_code_written own;
	struct buffer bytes;
	if (!contents->code)
		return 0;
	buffer_init(&bytes);
	int status = stored_code_write(profile, contents->code, contents->all_sources, &bytes, &own, error);
	if (status == 0)
		status = page_embed(sink, id, 0, bytes.bytes, bytes.size, error);
	written->functions += own.functions;
	written->left_out += own.left_out;
	buffer_release(&bytes);
	return status;
}

/* --- events --- */

static int embed_events(struct sink *sink, const struct page_contents *contents, struct lanes_written *written,
			struct error *error)
{
	struct buffer bytes;
	if (!contents->events)
		return 0;
	buffer_init(&bytes);
	int status = lanes_write(contents->events, LANES_EVENTS_MOST, &bytes, written, error);
	if (status == 0)
		status = page_embed(sink, "events", 0, bytes.bytes, bytes.size, error);
	buffer_release(&bytes);
	return status;
}

int page_write(struct sink *sink, const struct page_contents *contents, struct page_written *written,
	       struct error *error)
{
	*written = (struct page_written){ 0 };
	sink_write(sink, page_before, page_before_bytes);
	int status = embed_profiles(sink, contents, error);
	if (status == 0)
		status = embed_sources(sink, contents, written, error);
	if (status == 0)
		status = embed_code(sink, "code-a", contents->profiles[0], contents, &written->code, error);
	if (status == 0 && contents->counts[DIFF_B] > 0)
		status = embed_code(sink, "code-b", contents->profiles[contents->counts[DIFF_A]], contents,
				    &written->code, error);
	if (status == 0)
		status = embed_events(sink, contents, &written->events, error);
	sink_write(sink, page_after, page_after_bytes);
	return status;
}
