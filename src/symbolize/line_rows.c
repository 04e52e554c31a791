/*
 * Method: whatever could begin a row (a row of a line table, an end of a
 * function's or an inlined copy's code) is collected; of all these addresses
 * at once scopes_find tells line and function; equal neighbours are one row.
 */
#include "symbolize/line_rows.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbolize/die_names.h"

/* Deeper trees than this are not written by compilers, only by damage. */
enum { DEPTH_MAX = 400 };

struct starts {
	uint64_t *addresses; /* ELF virtual */
	size_t count, capacity;
	uint64_t low, high;
	uint64_t bias; /* DWARF's address + bias = ELF virtual address */
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

/* libdw finds the table of a unit whose debug information is in a file of its own. */
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
	Dwarf_Addr base, start, end;
	int status = 0;
	for (ptrdiff_t at = 0; status == 0 && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;)
		if ((status = add_start(starts, start)) == 0)
			status = add_start(starts, end);
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
	Dwarf_Addr base, start, end;
	bool is_wanted = false, has_ranges = false;
	for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0; has_ranges = true)
		is_wanted |= start + starts->bias < starts->high && end + starts->bias > starts->low;
	if (has_ranges && !is_wanted)
		return 0;
	int status = add_lines(starts, unit);
	return status == 0 ? add_functions(starts, unit, 0) : status;
}

static int add_units(struct starts *starts, struct module_file *file)
{
	Dwarf_Addr bias = 0;
	Dwarf *dwarf = dwfl_module_getdwarf(file->module, &bias);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, split;
	uint8_t type;
	int status = 0;
	if (!dwarf)
		return 0;
	starts->bias = bias - file->bias;
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

/* A constructor's copies have linkage names of their own, which its origin does not have. */
static const char *linkage_name(struct scopes *scopes, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *own = dwarf_formstring(dwarf_attr(die, DW_AT_linkage_name, &attribute));
	if (own)
		return own;
	struct die_name name;
	die_name_read(die, &scopes->lines, &name);
	return name.linkage;
}

/* `names`: of each scope, once it was asked for; scopes are few, and addresses many. */
static const char *function_of(struct scopes *scopes, uint32_t scope, const char **names)
{
	if (scope == SCOPE_NONE)
		return NULL;
	if (names[scope] == NULL) {
		const char *name = linkage_name(scopes, &scopes->scopes[scope].die);
		names[scope] = name ? name : "";
	}
	return names[scope][0] ? names[scope] : NULL;
}

static int make_rows(struct line_rows *rows, const struct starts *starts)
{
	struct scopes *scopes = &rows->scopes;
	rows->rows = calloc(starts->count, sizeof(*rows->rows));
	const char **names = calloc(scopes->scope_count + 1, sizeof(*names));
	for (size_t i = 0; i < starts->count && rows->rows && names; i++) {
		const struct scoped_address *address = &scopes->addresses[i];
		struct line_row row = { .address = starts->addresses[i],
					.file = address->line ? address->file : NULL,
					.line = address->line,
					.function = function_of(scopes, address->scope, names) };
		const struct line_row *last = rows->count ? &rows->rows[rows->count - 1] : NULL;
		if (!last || last->line != row.line || !same_text(last->file, row.file) ||
		    !same_text(last->function, row.function))
			rows->rows[rows->count++] = row;
	}
	free(names);
	return rows->rows && names ? 0 : ERROR_MEMORY;
}

int line_rows_read(struct line_rows *rows, struct module_file *file, uint64_t low, uint64_t high)
{
	static const struct symbolize_options quiet;
	struct progress progress = { .options = &quiet };
	struct starts starts = { .low = low, .high = high };
	*rows = (struct line_rows){ 0 };
	line_tables_init(&starts.lines);
	line_tables_init(&rows->scopes.lines);
	int status = low < high ? add_start(&starts, low) : 0;
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
