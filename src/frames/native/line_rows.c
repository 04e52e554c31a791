/*
 * Method: collects each address at which a row may begin: the rows of line tables, and the starts and ends of the
 * code of functions and inlined copies. scopes_find then finds the line and the function of all these addresses at
 * once. Neighbours that are equal become one row.
 */
#include "frames/native/line_rows.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "frames/native/die_names.h"
#include "frames/native/live_code.h"

/* Compilers do not write deeper trees; only damaged files have them. */
enum { DEPTH_MAX = 400 };

struct starts {
	uint64_t *addresses; /* ELF virtual */
	size_t count, capacity;
	uint64_t low, high;
	uint64_t first_code; /* live_code_start */
	uint64_t bias;       /* DWARF's address + bias = ELF virtual address */
	struct line_tables lines;
};

static int add_start(struct starts *starts, uint64_t address)
{
	address += starts->bias;
	if (address < starts->low || address >= starts->high)
		return 0;
	if (ARRAY_RESERVE(starts->addresses, starts->capacity, starts->count + 1) < 0)
		return ERROR_MEMORY;
	starts->addresses[starts->count++] = address;
	return 0;
}

static int add_row(void *context, uint64_t start, uint64_t end, uint32_t file, uint32_t line)
{
	struct starts *starts = context;
	(void)file;
	(void)line;
	int status = add_start(starts, start);
	return status == 0 ? add_start(starts, end) : status;
}

/* The debug information of the unit is in a separate file, whose table libdw finds. */
static int add_split_rows(struct starts *starts, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t count;
	int status = 0;
	if (dwarf_getsrclines(unit, &lines, &count) != 0)
		return 0;
	for (size_t i = 0; i < count && status == 0; i++) {
		Dwarf_Addr address;
		if (dwarf_lineaddr(dwarf_onesrcline(lines, i), &address) == 0)
			status = add_start(starts, address);
	}
	return status;
}

static int add_lines(struct starts *starts, Dwarf_Die *unit)
{
	if (unit_is_split(unit))
		return add_split_rows(starts, unit);
	int64_t table = line_tables_open(&starts->lines, unit);
	return table < 0 ? (int)table : line_tables_each(&starts->lines, (size_t)table, add_row, starts);
}

static int add_code_of(struct starts *starts, Dwarf_Die *die)
{
	struct live_ranges ranges = { .first_code = starts->first_code };
	int status = 0;
	while (status == 0 && live_range_next(&ranges, die))
		if ((status = add_start(starts, ranges.start)) == 0)
			status = add_start(starts, ranges.end);
	return status;
}

static int add_functions(struct starts *starts, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;
	int status = 0;
	if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	for (;;) {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			status = add_code_of(starts, &die);
		if (status == 0 && dwarf_haschildren(&die))
			status = add_functions(starts, &die, depth + 1);
		Dwarf_Die next;
		/* Damaged references could lead back. */
		if (status < 0 || dwarf_siblingof(&die, &next) != 0 || (uintptr_t)next.addr <= (uintptr_t)die.addr)
			return status;
		die = next;
	}
}

static int add_unit(struct starts *starts, Dwarf_Die *unit)
{
	struct live_ranges ranges = { .first_code = starts->first_code };
	bool is_wanted = false, has_ranges = false;
	for (; live_range_next(&ranges, unit); has_ranges = true)
		is_wanted |= ranges.start + starts->bias < starts->high && ranges.end + starts->bias > starts->low;
	if (has_ranges && !is_wanted)
		return 0;
	int status = add_lines(starts, unit);
	return status == 0 ? add_functions(starts, unit, 0) : status;
}

static int add_units(struct starts *starts, struct module_file *file)
{
	Dwarf_Addr bias = 0;
	Dwarf *dwarf = module_file_dwarf(file, &bias);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, split;
	uint8_t type;
	int status = 0;
	if (!dwarf)
		return file->lacks_memory ? ERROR_MEMORY : 0;
	starts->bias = bias - file->bias;
	starts->first_code = live_code_start(dwarf);
	while (status == 0 && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, &split) == 0)
		status = add_unit(starts, type == DW_UT_skeleton && split.addr ? &split : &unit);
	return status;
}

static int ascending(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return a < b ? -1 : a > b;
}

static void sort_starts(struct starts *starts)
{
	size_t kept = 0;
	if (starts->count)
		qsort(starts->addresses, starts->count, sizeof(*starts->addresses), ascending);
	for (size_t i = 0; i < starts->count; i++)
		if (kept == 0 || starts->addresses[kept - 1] != starts->addresses[i])
			starts->addresses[kept++] = starts->addresses[i];
	starts->count = kept;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Finds the names of the rows' functions. */
struct naming {
	struct line_rows *rows;
	struct die_parents parents;
	const char **names; /* cache by scope, because scopes are few and addresses many; "": no name */
	int status;
};

/* Returns the qualified name of a static function that was only inlined and therefore has no symbol. */
static const char *written_name(struct naming *naming, const struct die_name *name)
{
	struct buffer text;
	buffer_init(&text);
	int status = die_qualified_name(&naming->parents, name, &text);
	int64_t id = status < 0 ? status : strings_add(&naming->rows->names, (const char *)text.bytes, text.size);
	buffer_release(&text);
	if (id < 0)
		naming->status = (int)id;
	return id < 0 ? NULL : strings_get(&naming->rows->names, (uint32_t)id);
}

/* The copies of a constructor have linkage names that their origin does not have. */
static const char *find_name(struct naming *naming, struct scope *scope)
{
	Dwarf_Attribute attribute;
	const char *own = dwarf_formstring(dwarf_attr(&scope->die, DW_AT_linkage_name, &attribute));
	if (own)
		return own;
	struct die_name name;
	die_name_read(&scope->die, &naming->rows->scopes.lines, &name);
	return name.linkage || scope->outer == SCOPE_NONE || !name.name ? name.linkage : written_name(naming, &name);
}

static const char *function_of(struct naming *naming, uint32_t scope)
{
	if (scope == SCOPE_NONE)
		return NULL;
	if (!naming->names[scope]) {
		const char *name = find_name(naming, &naming->rows->scopes.scopes[scope]);
		naming->names[scope] = name ? name : "";
	}
	return naming->names[scope][0] ? naming->names[scope] : NULL;
}

static bool is_same(const struct line_row *a, const struct line_row *b)
{
	return a->line == b->line && same_text(a->file, b->file) && same_text(a->function, b->function);
}

static int make_rows(struct line_rows *rows, const struct starts *starts)
{
	struct scopes *scopes = &rows->scopes;
	struct naming naming = { .rows = rows, .names = calloc(scopes->scope_count + 1, sizeof(*naming.names)) };
	rows->rows = calloc(starts->count, sizeof(*rows->rows));
	die_parents_init(&naming.parents);
	if (!rows->rows || !naming.names)
		naming.status = ERROR_MEMORY;
	for (size_t i = 0; i < starts->count && naming.status == 0; i++) {
		const struct scoped_address *address = &scopes->addresses[i];
		struct line_row row = { .address = starts->addresses[i],
					.file = address->line ? address->file : NULL,
					.line = address->line,
					.function = function_of(&naming, address->scope) };
		if (rows->count == 0 || !is_same(&rows->rows[rows->count - 1], &row))
			rows->rows[rows->count++] = row;
	}
	die_parents_release(&naming.parents);
	free(naming.names);
	return naming.status;
}

int line_rows_read(struct line_rows *rows, struct module_file *file, uint64_t low, uint64_t high)
{
	static const struct frames_options quiet;
	struct progress progress = { .options = &quiet };
	struct starts starts = { .low = low, .high = high };
	*rows = (struct line_rows){ 0 };
	line_tables_init(&starts.lines);
	line_tables_init(&rows->scopes.lines);
	int status = strings_init(&rows->names);
	if (status == 0 && low < high)
		status = add_start(&starts, low);
	if (status == 0)
		status = add_units(&starts, file);
	line_tables_release(&starts.lines);
	sort_starts(&starts);
	if (status == 0 && starts.count > 0)
		status = scopes_find(&rows->scopes, file, starts.addresses, starts.count, &progress);
	if (status == 0 && starts.count > 0)
		status = make_rows(rows, &starts);
	rows->starts = starts.addresses;
	rows->start_count = starts.count;
	return status;
}

void line_rows_release(struct line_rows *rows)
{
	free(rows->rows);
	free(rows->starts);
	scopes_release(&rows->scopes);
	strings_release(&rows->names);
	*rows = (struct line_rows){ 0 };
}

const struct line_row *line_rows_at(const struct line_rows *rows, uint64_t address)
{
	size_t low = 0, high = rows->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (rows->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &rows->rows[low - 1] : NULL;
}

bool line_rows_begin_at(const struct line_rows *rows, uint64_t address)
{
	return rows->start_count && bsearch(&address, rows->starts, rows->start_count, sizeof(address), ascending);
}
