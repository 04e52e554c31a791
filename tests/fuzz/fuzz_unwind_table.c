/*
 * Arbitrary bytes as an ELF file: its unwind table must be in order, and every kind of walk with it must end.
 * Built for libFuzzer, or with replay.c as a program that runs the stored corpus.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMES = 16, MOST_LOOKS = 64 };
#define STACK UINT64_C(0x7ffe0000)

struct world {
	const struct unwind_table *table;
	const uint8_t *bytes; /* the content of the stack, repeated */
	size_t size;
};

static int module_at(void *context, uint64_t pc, struct unwind_module *module)
{
	const struct world *world = context;
	if (pc - world->table->base >= world->table->text_size)
		return -1;
	*module = (struct unwind_module){ .table = world->table };
	return 0;
}

/* Every second word is an address in the text, so that walks continue. */
static int read_word(void *context, uint64_t address, uint64_t *value)
{
	const struct world *world = context;
	size_t at = (size_t)(address % world->size);
	*value = 0;
	memcpy(value, world->bytes + at, world->size - at < sizeof(*value) ? world->size - at : sizeof(*value));
	if (address % 16 == 0 && world->table->text_size)
		*value = world->table->base + *value % world->table->text_size;
	return address % 4096 == 8 ? -1 : 0;
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_order(const struct unwind_table *table)
{
	for (uint32_t i = 0; i < table->row_count; i++) {
		require(i == 0 || table->rows[i - 1].pc < table->rows[i].pc);
		require(table->rows[i].kind < UNWIND_KINDS && table->rows[i].pc <= table->text_size);
	}
	for (uint32_t i = 0; i < table->function_count; i++) {
		const struct unwind_function *function = &table->functions[i];
		require(function->size > 0 && (uint64_t)function->start + function->size <= table->text_size);
		require(i == 0 || table->functions[i - 1].start + table->functions[i - 1].size <= function->start);
	}
	require(table->row_count == 0 || table->rows[table->row_count - 1].kind == UNWIND_NO_RULE);
	/* Code without unwind information has rows, but no functions. */
	require(table->row_count > 0 || table->function_count == 0);
}

static void walk_from(struct world *world, uint64_t pc)
{
	const struct unwind_source source = { .module_at = module_at, .read = read_word, .context = world };
	struct arch_registers registers;
	struct unwind_frame frames[FRAMES];
	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		registers.value[i] = STACK + 64 * i;
	registers.value[ARCH_PC_REGISTER] = pc;
	struct unwind_result result = unwind_walk(&source, &registers, frames, FRAMES);
	require(result.count >= 1 && result.count <= FRAMES && result.cause < UNWIND_CAUSE_COUNT);
	/* The slow step is also tried for rules that have a fast row. */
	struct cfi_frame frame = { .registers = registers, .known = CFI_ALL_REGISTERS };
	(void)cfi_step(world->table, 0, pc, &source, &frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *id;
	struct elf_file *file = elf_file_from_memory(data, size, "input", NULL);
	if (!file)
		return 0;
	size_t id_size = elf_file_build_id(file, &id);
	require(id_size == 0 || (id >= data && id + id_size <= data + size) ||
		elf_file_section(file, ".note.gnu.build-id").bytes);
	struct unwind_table *table = unwind_table_new(file, NULL);
	elf_file_free(file);
	if (!table)
		return 0;
	check_order(table);
	struct world world = { .table = table, .bytes = data, .size = size };
	uint32_t stride = table->row_count / MOST_LOOKS + 1;
	for (uint32_t i = 0; i < table->row_count; i += stride)
		walk_from(&world, table->base + table->rows[i].pc);
	unwind_table_free(table);
	return 0;
}
