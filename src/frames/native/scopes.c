/* Finds the compilation unit of each address, and the source line of the address in it. */
#include "frames/native/scopes.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "frames/native/live_code.h"

/* clang gives the call of an inlined function a discriminator. elfutils' dwarf.h lacks the attribute. */
enum { ATTRIBUTE_CALL_DISCRIMINATOR = 0x2136 }; /* DW_AT_GNU_discriminator */

/* Returns the index of a unit, which is added if it is new. `known` maps the address of its DIE to the index. */
static int64_t add_unit(struct scopes *scopes, struct hash_map *known, const Dwarf_Die *unit)
{
	uint64_t key = (uintptr_t)unit->addr;
	uint32_t index = hash_map_get(known, key);
	if (index != HASH_MAP_NONE)
		return index;
	if (ARRAY_RESERVE(scopes->units, scopes->unit_capacity, scopes->unit_count + 1) < 0 ||
	    hash_map_put(known, key, (uint32_t)scopes->unit_count) < 0)
		return ERROR_MEMORY;
	scopes->units[scopes->unit_count] = *unit;
	return (int64_t)scopes->unit_count++;
}

/* Finds units by .debug_aranges, if the compiler wrote it. Returns the number of addresses that it does not contain,
 * or a negative error. */
static int64_t find_by_aranges(struct scopes *scopes, struct hash_map *known, Dwarf *dwarf)
{
	Dwarf_Aranges *ranges;
	size_t range_count;
	if (dwarf_getaranges(dwarf, &ranges, &range_count) != 0 || range_count == 0)
		return (int64_t)scopes->address_count;
	int64_t missing = 0;
	for (size_t i = 0; i < scopes->address_count; i++) {
		Dwarf_Arange *range = dwarf_getarange_addr(ranges, scopes->addresses[i].address);
		Dwarf_Addr start;
		Dwarf_Off offset;
		Dwarf_Die unit, skeleton, split;
		if (!range || dwarf_getarangeinfo(range, &start, NULL, &offset) != 0 || start < scopes->first_code ||
		    !dwarf_offdie(dwarf, offset, &unit)) {
			missing++;
			continue;
		}
		uint8_t type;
		if (dwarf_cu_info(unit.cu, NULL, &type, &skeleton, &split, NULL, NULL, NULL) == 0 &&
		    type == DW_UT_skeleton && split.addr)
			unit = split;
		int64_t index = add_unit(scopes, known, &unit);
		if (index < 0)
			return index;
		scopes->addresses[i].unit = (uint32_t)index;
	}
	return missing;
}

/* Finds units by their own ranges, because clang writes no .debug_aranges. Only reads the DIEs of units, not the
 * DIEs in them. */
static int find_by_units(struct scopes *scopes, struct hash_map *known, Dwarf *dwarf, struct progress *progress)
{
	const struct slice all = { 0, scopes->address_count };
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, split;
	uint8_t type;
	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, &split) == 0) {
		progress_tick(progress);
		struct live_ranges ranges = { .first_code = scopes->first_code };
		while (live_range_next(&ranges, &unit)) {
			struct slice slice = scopes_slice(scopes, all, ranges.start, ranges.end);
			for (size_t i = slice.first; i < slice.end; i++) {
				if (scopes->addresses[i].unit != SCOPE_NONE)
					continue;
				bool is_split = type == DW_UT_skeleton && split.addr;
				int64_t index = add_unit(scopes, known, is_split ? &split : &unit);
				if (index < 0)
					return (int)index;
				scopes->addresses[i].unit = (uint32_t)index;
			}
		}
	}
	return 0;
}

static int by_unit(const void *left, const void *right)
{
	const struct scoped_address *a = left, *b = right;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int by_index(const void *left, const void *right)
{
	const struct scoped_address *a = left, *b = right;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* The line table of a split unit is in the main file, where libdw finds it. */
static void find_split_lines(struct scopes *scopes, uint32_t unit, struct slice slice)
{
	for (size_t i = slice.first; i < slice.end; i++) {
		struct scoped_address *address = &scopes->addresses[i];
		Dwarf_Line *row = dwarf_getsrc_die(&scopes->units[unit], address->address);
		int line;
		unsigned discriminator = 0;
		if (!row || dwarf_lineno(row, &line) != 0 || line <= 0)
			continue;
		address->line = (uint32_t)line;
		dwarf_linediscriminator(row, &discriminator);
		address->discriminator = discriminator;
		address->file = dwarf_linesrc(row, NULL, NULL);
	}
}

/* Finds the lines of a unit's addresses in one run through its table. */
static int find_lines(struct scopes *scopes, uint32_t unit, struct slice slice)
{
	if (unit_is_split(&scopes->units[unit])) {
		find_split_lines(scopes, unit, slice);
		return 0;
	}
	size_t count = slice.end - slice.first;
	int64_t table = line_tables_open(&scopes->lines, &scopes->units[unit]);
	if (table < 0)
		return (int)table;
	struct line_wanted *wanted = calloc(count, sizeof(*wanted));
	if (!wanted)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++)
		wanted[i].address = scopes->addresses[slice.first + i].address;
	int status = line_tables_find(&scopes->lines, (size_t)table, wanted, count);
	for (size_t i = 0; i < count; i++) {
		struct scoped_address *address = &scopes->addresses[slice.first + i];
		address->line = wanted[i].line;
		address->discriminator = wanted[i].discriminator;
		if (wanted[i].line)
			address->file = line_tables_file(&scopes->lines, (size_t)table, wanted[i].file);
	}
	free(wanted);
	return status;
}

static int walk_units(struct scopes *scopes, struct progress *progress)
{
	int status = 0;
	qsort(scopes->addresses, scopes->address_count, sizeof(*scopes->addresses), by_unit);
	for (size_t first = 0; first < scopes->address_count && status == 0;) {
		uint32_t unit = scopes->addresses[first].unit;
		if (unit == SCOPE_NONE)
			break; /* addresses without a unit are last */
		struct slice slice = { first, first };
		while (slice.end < scopes->address_count && scopes->addresses[slice.end].unit == unit)
			slice.end++;
		status = scopes_walk_unit(scopes, unit, slice, progress);
		progress_report(progress);
		if (status == 0)
			status = find_lines(scopes, unit, slice);
		progress_report(progress);
		first = slice.end;
	}
	qsort(scopes->addresses, scopes->address_count, sizeof(*scopes->addresses), by_index);
	return status;
}

/* Returns whether debug information is worth its cost. Debian's debug information of the C library is compressed,
 * and elfutils unpacks all of it at once, which takes 60 ms. The symbols name its functions too, and its lines are
 * useful only if the program spends time in it. */
static bool is_worth_its_time(const struct module_file *file, size_t count)
{
	enum { ADDRESSES_MIN = 64 };
	return count >= ADDRESSES_MIN || !(file->is_c_library || file->is_dynamic_linker);
}

static int find(struct scopes *scopes, struct module_file *file, const uint64_t *addresses, size_t count,
		bool is_worth_it, struct progress *progress)
{
	*scopes = (struct scopes){ .addresses = calloc(count ? count : 1, sizeof(*scopes->addresses)) };
	line_tables_init(&scopes->lines);
	if (!scopes->addresses)
		return ERROR_MEMORY;
	scopes->address_count = count;
	Dwarf_Addr bias = 0;
	Dwarf *dwarf = is_worth_it ? module_file_dwarf(file, &bias) : NULL;
	for (size_t i = 0; i < count; i++)
		scopes->addresses[i] = (struct scoped_address){ .address = addresses[i] + file->bias - bias,
								.index = (uint32_t)i,
								.unit = SCOPE_NONE,
								.scope = SCOPE_NONE };
	progress_report(progress);
	if (!dwarf)
		return is_worth_it && file->lacks_memory ? ERROR_MEMORY : 0;
	struct hash_map known;
	scopes->first_code = live_code_start(dwarf);
	hash_map_init(&known);
	int64_t missing = find_by_aranges(scopes, &known, dwarf);
	int status = missing < 0 ? (int)missing : 0;
	if (missing > 0)
		status = find_by_units(scopes, &known, dwarf, progress);
	hash_map_release(&known);
	return status == 0 ? walk_units(scopes, progress) : status;
}

int scopes_find(struct scopes *scopes, struct module_file *file, const uint64_t *addresses, size_t count,
		struct progress *progress)
{
	return find(scopes, file, addresses, count, is_worth_its_time(file, count), progress);
}

int scopes_find_at_any_cost(struct scopes *scopes, struct module_file *file, const uint64_t *addresses, size_t count,
			    struct progress *progress)
{
	return find(scopes, file, addresses, count, true, progress);
}

void scopes_release(struct scopes *scopes)
{
	free(scopes->addresses);
	free(scopes->units);
	free(scopes->scopes);
	line_tables_release(&scopes->lines);
	*scopes = (struct scopes){ 0 };
}

static bool read_number(Dwarf_Die *die, unsigned attribute_name, Dwarf_Word *value)
{
	Dwarf_Attribute attribute;
	return dwarf_attr(die, attribute_name, &attribute) && dwarf_formudata(&attribute, value) == 0;
}

struct source_place scope_call_place(struct scopes *scopes, struct scope *scope)
{
	struct source_place place = { 0 };
	Dwarf_Word number = 0, file = 0, discriminator = 0;
	if (!read_number(&scope->die, DW_AT_call_line, &number) || number > UINT32_MAX)
		return place;
	place.line = (uint32_t)number;
	if (read_number(&scope->die, ATTRIBUTE_CALL_DISCRIMINATOR, &discriminator) && discriminator <= UINT32_MAX)
		place.discriminator = (uint32_t)discriminator;
	if (read_number(&scope->die, DW_AT_call_file, &file))
		place.file = line_tables_unit_file(&scopes->lines, &scopes->units[scope->unit], file);
	return place;
}
