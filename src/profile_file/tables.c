#include "profile_file/tables.h"

#include <string.h>

#define COLUMN(record, field, kind_)                                                        \
	{ .offset = offsetof(struct record, field),                                         \
	  .size = COLUMN_##kind_ == COLUMN_BYTES ? 8 : sizeof(((struct record *)0)->field), \
	  .kind = COLUMN_##kind_ },

#define X(field, kind) COLUMN(profile, field, kind)
static const struct table_column totals[] = { FORMAT_TOTALS(X) };
#undef X
#define X(field, kind) COLUMN(profile_note, field, kind)
static const struct table_column notes[] = { FORMAT_NOTES(X) };
#undef X
#define X(field, kind) COLUMN(profile_resource, field, kind)
static const struct table_column resources[] = { FORMAT_RESOURCES(X) };
#undef X
#define X(field, kind) COLUMN(profile_process, field, kind)
static const struct table_column processes[] = { FORMAT_PROCESSES(X) };
#undef X
#define X(field, kind) COLUMN(profile_thread, field, kind)
static const struct table_column threads[] = { FORMAT_THREADS(X) };
#undef X
#define X(field, kind) COLUMN(profile_module, field, kind)
static const struct table_column modules[] = { FORMAT_MODULES(X) };
#undef X
#define X(field, kind) COLUMN(profile_cause, field, kind)
static const struct table_column causes[] = { FORMAT_CAUSES(X) };
#undef X
#define X(field, kind) COLUMN(profile_location, field, kind)
static const struct table_column locations[] = { FORMAT_LOCATIONS(X) };
static const struct table_column location_frames[] = { FORMAT_LOCATION_FRAMES(X) };
#undef X
#define X(field, kind) COLUMN(profile_node, field, kind)
static const struct table_column nodes[] = { FORMAT_NODES(X) };
#undef X
#define X(field, kind) COLUMN(profile_function, field, kind)
static const struct table_column functions[] = { FORMAT_FUNCTIONS(X) };
#undef X
#define X(field, kind) COLUMN(profile_frame, field, kind)
static const struct table_column frames[] = { FORMAT_FRAMES(X) };
#undef X
#define X(field, kind) COLUMN(profile_hit, field, kind)
static const struct table_column hits[] = { FORMAT_HITS(X) };
#undef X
#define X(field, kind) COLUMN(profile_touch, field, kind)
static const struct table_column touches[] = { FORMAT_TOUCHES(X) };
#undef X
#define X(field, kind) COLUMN(profile_label, field, kind)
static const struct table_column labels[] = { FORMAT_LABELS(X) };
#undef X
#define X(field, kind) COLUMN(profile_label_set, field, kind)
static const struct table_column label_sets[] = { FORMAT_LABEL_SETS(X) };
#undef X
#define X(field, kind) COLUMN(profile_tail_call, field, kind)
static const struct table_column tail_calls[] = { FORMAT_TAIL_CALLS(X) };
#undef X
#define X(field, kind) COLUMN(profile_finding, field, kind)
static const struct table_column findings[] = { FORMAT_FINDINGS(X) };
#undef X
static const struct table_column hit_labels[] = { { .size = sizeof(uint32_t), .kind = COLUMN_VALUE } };

#define COLUMNS(list) .columns = list, .column_count = sizeof(list) / sizeof(*list)
#define MEMBER(items_, count_, capacity_)                                                     \
	.items = offsetof(struct profile, items_), .count = offsetof(struct profile, count_), \
	.capacity = offsetof(struct profile, capacity_), .item_bytes = sizeof(*((struct profile *)0)->items_)
#define TABLE(thing) MEMBER(thing##s, thing##_count, thing##_capacity), .name = #thing "s"

const struct table format_tables[BLOCK_TYPE_COUNT] = {
	[BLOCK_TOTALS] = { .name = "totals",
			   .rule = TABLE_FIELDS,
			   .item_bytes = sizeof(struct profile),
			   COLUMNS(totals) },
	[BLOCK_NOTES] = { TABLE(note), .rule = TABLE_REPLACE, COLUMNS(notes) },
	[BLOCK_RESOURCES] = { TABLE(resource), .rule = TABLE_REPLACE, COLUMNS(resources) },
	[BLOCK_PROCESSES] = { MEMBER(processes, process_count, process_capacity), .name = "processes",
			      .rule = TABLE_REPLACE, COLUMNS(processes), .later = 2 },
	[BLOCK_THREADS] = { TABLE(thread), .rule = TABLE_REPLACE, COLUMNS(threads) },
	[BLOCK_MODULES] = { TABLE(module), .rule = TABLE_REPLACE, COLUMNS(modules) },
	[BLOCK_CAUSES] = { TABLE(cause), .rule = TABLE_REPLACE, COLUMNS(causes), .later = 1 },
	[BLOCK_LOCATIONS] = { TABLE(location), .rule = TABLE_APPEND, COLUMNS(locations), .later = 2 },
	[BLOCK_NODES] = { TABLE(node), .rule = TABLE_APPEND, COLUMNS(nodes), .skipped = 1 },
	[BLOCK_FUNCTIONS] = { TABLE(function), .rule = TABLE_APPEND, COLUMNS(functions), .later = 1 },
	[BLOCK_FRAMES] = { TABLE(frame), .rule = TABLE_APPEND, COLUMNS(frames), .later = 2 },
	[BLOCK_LOCATION_FRAMES] = { MEMBER(locations, location_count, location_capacity), .name = "locations' frames",
				    .rule = TABLE_FIELDS, COLUMNS(location_frames) },
	[BLOCK_HITS] = { TABLE(hit), .rule = TABLE_APPEND, COLUMNS(hits), .later = 1 },
	[BLOCK_TOUCHES] = { MEMBER(touches, touch_count, touch_capacity), .name = "touches", .rule = TABLE_APPEND,
			    COLUMNS(touches) },
	[BLOCK_LABELS] = { TABLE(label), .rule = TABLE_APPEND, COLUMNS(labels) },
	[BLOCK_LABEL_SETS] = { MEMBER(label_sets, label_set_count, label_set_capacity), .name = "label sets",
			       .rule = TABLE_APPEND, COLUMNS(label_sets), .skipped = 1 },
	[BLOCK_HIT_LABELS] = { MEMBER(hit_labels, hit_label_count, hit_label_capacity), .name = "hits' labels",
			       .rule = TABLE_FIELDS, COLUMNS(hit_labels) },
	[BLOCK_TAIL_CALLS] = { MEMBER(tail_calls, tail_call_count, tail_call_capacity), .name = "tail calls",
			       .rule = TABLE_APPEND, COLUMNS(tail_calls) },
	[BLOCK_FINDINGS] = { TABLE(finding), .rule = TABLE_REPLACE, COLUMNS(findings) },
};

char *table_items(const struct table *table, const struct profile *profile)
{
	if (!table->items)
		return (char *)profile;
	char *items;
	memcpy(&items, (const char *)profile + table->items, sizeof(items));
	return items;
}

size_t table_count(const struct table *table, const struct profile *profile)
{
	if (!table->items)
		return 1;
	size_t count;
	memcpy(&count, (const char *)profile + table->count, sizeof(count));
	return count;
}
