/* The static call graph: the functions that the code could call, according to its direct calls. */
#include <string.h>

#include "frames/native/module_file.h"
#include "gprof/graph.h"

enum { CALL_OPCODE = 0xe8, CALL_BYTES = 5 };

static bool is_sampled(const struct gmon *gmon, uint64_t address)
{
	return gmon->histogram_count == 0 ||
	       (address < UINT64_MAX && gmon_find_histogram(gmon, address, address + 1) < gmon->histogram_count);
}

/* Does not decode instructions: any byte e8 followed by a distance to the first byte of a function counts as a call.
 * Four random bytes hardly ever are such a distance. */
static int scan_function(struct graph *graph, const struct gmon *gmon, uint32_t parent, const struct elf_bytes *text)
{
	const struct image_symbol *symbol = &graph->image->symbols[parent];
	uint64_t text_end = text->address + text->size;
	uint64_t at = symbol->start > text->address ? symbol->start : text->address;
	uint64_t end = symbol->end < text_end ? symbol->end : text_end;
	int code = 0;
	while (code == 0 && at + CALL_BYTES <= end) {
		const uint8_t *bytes = text->bytes + (at - text->address);
		int32_t distance;
		memcpy(&distance, bytes + 1, sizeof(distance));
		uint64_t target = at + CALL_BYTES + (uint64_t)(int64_t)distance;
		uint32_t child = bytes[0] == CALL_OPCODE && is_sampled(gmon, target) ? image_find(graph->image, target)
										     : IMAGE_NONE;
		if (child != IMAGE_NONE && graph->image->symbols[child].start == target) {
			code = graph_add_arc(graph, parent, child, 0);
			at += CALL_BYTES;
		} else {
			at++;
		}
	}
	return code;
}

int graph_scan(struct graph *graph, const struct gmon *gmon)
{
	struct elf_file *file = graph->image->bytes;
	struct elf_bytes text = file ? elf_file_section(file, ".text") : (struct elf_bytes){ 0 };
	int code = 0;
	for (uint32_t i = 0; text.bytes && code == 0 && i < graph->function_count; i++)
		code = scan_function(graph, gmon, i, &text);
	return code;
}
