#include "frames/native/lines.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "frames/native/live_code.h"

void line_tables_init(struct line_tables *tables)
{
	*tables = (struct line_tables){ 0 };
	hash_map_init(&tables->by_unit);
}

static void table_release(struct line_table *table)
{
	for (size_t i = 0; i < table->file_count; i++)
		free(table->files[i].path);
	free(table->files);
	free(table->directories);
	*table = (struct line_table){ 0 };
}

void line_tables_release(struct line_tables *tables)
{
	for (size_t i = 0; i < tables->table_count; i++)
		table_release(&tables->tables[i]);
	free(tables->tables);
	free(tables->sections);
	hash_map_release(&tables->by_unit);
	*tables = (struct line_tables){ 0 };
}

/* libdw has decompressed the sections before it returns units. */
static struct cursor section_bytes(Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data = NULL;
	if (gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS && !(header.sh_flags & SHF_COMPRESSED))
		data = elf_rawdata(section, NULL);
	return data ? cursor_over(data->d_buf, data->d_size) : (struct cursor){ 0 };
}

static int64_t find_sections(struct line_tables *tables, Dwarf *dwarf)
{
	for (size_t i = 0; i < tables->section_count; i++)
		if (tables->sections[i].dwarf == dwarf)
			return (int64_t)i;
	if (ARRAY_RESERVE(tables->sections, tables->section_capacity, tables->section_count + 1) < 0)
		return ERROR_MEMORY;
	struct line_sections *sections = &tables->sections[tables->section_count];
	*sections = (struct line_sections){ .dwarf = dwarf, .first_code = live_code_start(dwarf) };
	Elf *elf = dwarf_getelf(dwarf);
	size_t names;
	for (Elf_Scn *section = NULL;
	     elf && elf_getshdrstrndx(elf, &names) == 0 && (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		if (!name || name[0] != '.')
			continue;
		/* ".zdebug_line" was the name of a compressed section before sections had a flag for compression. */
		name += strncmp(name, ".z", 2) == 0 ? 2 : 1;
		if (strcmp(name, "debug_line") == 0)
			sections->lines = section_bytes(section);
		else if (strcmp(name, "debug_line_str") == 0)
			sections->line_strings = section_bytes(section);
		else if (strcmp(name, "debug_str") == 0)
			sections->strings = section_bytes(section);
	}
	return (int64_t)tables->section_count++;
}

int64_t line_tables_open(struct line_tables *tables, Dwarf_Die *unit)
{
	uint64_t key = (uintptr_t)unit->addr;
	uint32_t known = hash_map_get(&tables->by_unit, key);
	if (known != HASH_MAP_NONE)
		return known;
	int64_t sections = find_sections(tables, dwarf_cu_getdwarf(unit->cu));
	if (sections < 0)
		return sections;
	if (ARRAY_RESERVE(tables->tables, tables->table_capacity, tables->table_count + 1) < 0 ||
	    hash_map_put(&tables->by_unit, key, (uint32_t)tables->table_count) < 0)
		return ERROR_MEMORY;
	struct line_table *table = &tables->tables[tables->table_count++];
	*table = (struct line_table){ 0 };
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	if (!dwarf_attr(unit, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &offset) != 0)
		return (int64_t)tables->table_count - 1;
	int status = line_header_read(table, &tables->sections[sections], offset);
	table->first_code = tables->sections[sections].first_code;
	table->unit_directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	if (status < 0)
		table_release(table);
	return status == ERROR_MEMORY ? status : (int64_t)tables->table_count - 1;
}

/* Returns directory/name, below the unit's directory unless that is an absolute path; or NULL if memory is
 * exhausted. */
static char *join(const struct line_table *table, const struct line_file *file)
{
	const char *directory = file->directory < table->directory_count ? table->directories[file->directory] : NULL;
	const char *root = table->unit_directory;
	char *path = NULL;
	if (file->name[0] == '/')
		return strdup(file->name);
	if (!directory || !directory[0]) {
		directory = root;
		root = NULL;
	}
	/* Directory 0 is the unit's directory itself. */
	if (!directory || directory[0] == '/' || file->directory == 0)
		root = NULL;
	int bytes = asprintf(&path, "%s%s%s%s%s", root ? root : "", root ? "/" : "", directory ? directory : "",
			     directory ? "/" : "", file->name);
	return bytes < 0 ? NULL : path;
}

const char *line_tables_file(struct line_tables *tables, size_t table_number, uint64_t file_number)
{
	struct line_table *table = &tables->tables[table_number];
	if (file_number >= table->file_count || !table->files[file_number].name)
		return NULL;
	struct line_file *file = &table->files[file_number];
	if (!file->path)
		file->path = join(table, file);
	return file->path;
}

bool unit_is_split(Dwarf_Die *unit)
{
	uint8_t type;
	return dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) == 0 && type == DW_UT_split_compile;
}

const char *line_tables_unit_file(struct line_tables *tables, Dwarf_Die *unit, uint64_t file)
{
	if (unit_is_split(unit)) {
		Dwarf_Files *files;
		size_t count;
		if (dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
			return NULL;
		return dwarf_filesrc(files, file, NULL, NULL);
	}
	int64_t table = line_tables_open(tables, unit);
	return table < 0 ? NULL : line_tables_file(tables, (size_t)table, file);
}

/* --- the line number program --- */

struct machine {
	struct line_table *table;
	struct line_wanted *wanted;
	size_t count;
	size_t next; /* index of the first wanted address that is not below the last row */
	uint64_t address;
	uint64_t row_address; /* address of the last row of this sequence */
	uint32_t row_file, row_line, row_discriminator;
	uint32_t file, line;
	uint32_t discriminator; /* of the next row only */
	bool in_sequence;       /* the sequence has a last row */
	bool is_dropped;        /* the linker removed the function: live_code.h */
	line_row_fn *row;       /* NULL: only the lines of the wanted addresses are needed */
	void *context;
	int status; /* negative: `row` failed, and the program ends */
};

static void reset(struct machine *machine)
{
	machine->address = 0;
	machine->file = 1;
	machine->line = 1;
	machine->discriminator = 0;
	machine->in_sequence = false;
}

static size_t first_from(const struct machine *machine, uint64_t address)
{
	size_t low = 0, high = machine->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (machine->wanted[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Begins a row, which ends the previous one: the addresses up to here have the line of the previous row. */
static void emit(struct machine *machine)
{
	if (!machine->in_sequence)
		machine->is_dropped = machine->address < machine->table->first_code;
	if (!machine->in_sequence || machine->address < machine->row_address)
		machine->next = first_from(machine, machine->address);
	for (; machine->next < machine->count && machine->wanted[machine->next].address < machine->address;
	     machine->next++) {
		struct line_wanted *wanted = &machine->wanted[machine->next];
		if (wanted->line == 0 && !machine->is_dropped) {
			wanted->file = machine->row_file;
			wanted->line = machine->row_line;
			wanted->discriminator = machine->row_discriminator;
		}
	}
	if (machine->row && machine->status == 0 && machine->in_sequence && !machine->is_dropped &&
	    machine->row_address < machine->address)
		machine->status = machine->row(machine->context, machine->row_address, machine->address,
					       machine->row_file, machine->row_line);
	machine->in_sequence = true;
	machine->row_address = machine->address;
	machine->row_file = machine->file;
	machine->row_line = machine->line;
	machine->row_discriminator = machine->discriminator;
	machine->discriminator = 0;
}

static int run_extended(struct machine *machine, struct cursor *program)
{
	uint64_t length = cursor_varint(program);
	const uint8_t *bytes = cursor_bytes(program, length);
	struct cursor operands = cursor_over(bytes, bytes ? length : 0);
	int status = 0;
	switch (cursor_u8(&operands)) {
	case DW_LNE_end_sequence:
		emit(machine);
		reset(machine);
		break;
	case DW_LNE_set_address:
		machine->address = cursor_left(&operands) == 4 ? cursor_u32(&operands) : cursor_u64(&operands);
		break;
	case DW_LNE_define_file: {
		const char *name = cursor_string(&operands);
		status = line_table_add_file(machine->table, name, cursor_varint(&operands));
		break;
	}
	case DW_LNE_set_discriminator:
		machine->discriminator = (uint32_t)cursor_varint(&operands);
		break;
	default: /* vendor extensions, which do not affect lines */
		break;
	}
	return status;
}

static void run_standard(struct machine *machine, struct cursor *program, uint8_t opcode)
{
	const struct line_table *table = machine->table;
	switch (opcode) {
	case DW_LNS_copy:
		emit(machine);
		break;
	case DW_LNS_advance_pc:
		machine->address += cursor_varint(program) * table->instruction_bytes;
		break;
	case DW_LNS_advance_line:
		machine->line += (uint32_t)cursor_sleb128(program);
		break;
	case DW_LNS_set_file:
		machine->file = (uint32_t)cursor_varint(program);
		break;
	case DW_LNS_const_add_pc:
		machine->address +=
			(uint64_t)((255 - table->opcode_base) / table->line_range) * table->instruction_bytes;
		break;
	case DW_LNS_fixed_advance_pc:
		machine->address += cursor_u16(program);
		break;
	default: /* columns, statements, blocks, and opcodes of later versions */
		for (uint8_t i = 0; i < table->operand_counts[opcode - 1]; i++)
			cursor_varint(program);
	}
}

static int run(struct machine *machine)
{
	struct line_table *table = machine->table;
	struct cursor program = table->program;
	int status = 0;
	reset(machine);
	while (cursor_left(&program) > 0 && !program.failed && status == 0 && machine->status == 0) {
		uint8_t opcode = cursor_u8(&program);
		if (opcode >= table->opcode_base) {
			uint8_t adjusted = (uint8_t)(opcode - table->opcode_base);
			machine->address += (uint64_t)(adjusted / table->line_range) * table->instruction_bytes;
			machine->line += (uint32_t)(table->line_base + adjusted % table->line_range);
			emit(machine);
		} else if (opcode == 0) {
			status = run_extended(machine, &program);
		} else {
			run_standard(machine, &program, opcode);
		}
	}
	return status == 0 ? machine->status : status;
}

int line_tables_find(struct line_tables *tables, size_t table, struct line_wanted *wanted, size_t count)
{
	struct machine machine = { .table = &tables->tables[table], .wanted = wanted, .count = count };
	return run(&machine);
}

int line_tables_each(struct line_tables *tables, size_t table, line_row_fn *row, void *context)
{
	struct machine machine = { .table = &tables->tables[table], .row = row, .context = context };
	return run(&machine);
}
