#include <dwarf.h>
#include <string.h>

#include "unwind/cfi.h"

/*
 * The interpreter of call frame instructions. If the upper two bits of an instruction are not 0, they are its
 * operation, and the lower six are an operand.
 */

static void set_rule(struct cfi_machine *machine, uint64_t number, enum cfi_rule_kind kind, int64_t value)
{
	/* Vector and other registers beyond the last one are not needed for unwinding. */
	if (number < ARCH_REGISTERS)
		machine->state.registers[number] = (struct cfi_rule){ .value = value, .kind = (uint8_t)kind };
}

static void restore_rule(struct cfi_machine *machine, uint64_t number)
{
	if (number < ARCH_REGISTERS)
		machine->state.registers[number] = machine->cie->initial.registers[number];
}

/* The multiplication is modulo 2^64, as on the target. */
static int64_t scaled(const struct cfi_machine *machine, uint64_t factor)
{
	return (int64_t)(factor * (uint64_t)machine->cie->data_align);
}

static void set_cfa(struct cfi_machine *machine, uint64_t number, int64_t offset)
{
	machine->state.cfa = (struct cfi_rule){
		.value = offset,
		.size = number < ARCH_REGISTERS ? (uint32_t)number : ARCH_REGISTERS,
		.kind = CFI_REGISTER,
	};
}

static struct cfi_rule read_expression(struct cfi_machine *machine, enum cfi_rule_kind kind)
{
	uint64_t size = cursor_varint(&machine->instructions);
	const uint8_t *bytes = cursor_bytes(&machine->instructions, size);
	if (!bytes)
		return (struct cfi_rule){ .kind = CFI_UNDEFINED };
	return (struct cfi_rule){ .value = bytes - machine->section->bytes,
				  .size = (uint32_t)size,
				  .kind = (uint8_t)kind };
}

static bool push_state(struct cfi_machine *machine)
{
	if (machine->remembered_count == CFI_NESTED_STATES)
		return false;
	machine->remembered[machine->remembered_count++] = machine->state;
	return true;
}

static bool restore(struct cfi_machine *machine)
{
	if (machine->remembered_count == 0)
		return false;
	machine->state = machine->remembered[--machine->remembered_count];
	return true;
}

/* Executes an instruction that changes the rule of the CFA. */
static bool run_cfa(struct cfi_machine *machine, uint8_t operation)
{
	struct cursor *cursor = &machine->instructions;
	struct cfi_rule *cfa = &machine->state.cfa;
	uint64_t number;
	switch (operation) {
	case DW_CFA_def_cfa:
		number = cursor_varint(cursor);
		set_cfa(machine, number, (int64_t)cursor_varint(cursor));
		return true;
	case DW_CFA_def_cfa_sf:
		number = cursor_varint(cursor);
		set_cfa(machine, number, scaled(machine, (uint64_t)cursor_sleb128(cursor)));
		return true;
	case DW_CFA_def_cfa_register:
		number = cursor_varint(cursor);
		if (cfa->kind != CFI_REGISTER)
			return false;
		set_cfa(machine, number, cfa->value);
		return true;
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		if (cfa->kind != CFI_REGISTER)
			return false;
		cfa->value = operation == DW_CFA_def_cfa_offset ? (int64_t)cursor_varint(cursor)
								: scaled(machine, (uint64_t)cursor_sleb128(cursor));
		return true;
	default: /* DW_CFA_def_cfa_expression */
		*cfa = read_expression(machine, CFI_VAL_EXPRESSION);
		return true;
	}
}

/* Executes an instruction that changes the rule of one register. */
static bool run_register(struct cfi_machine *machine, uint8_t operation)
{
	struct cursor *cursor = &machine->instructions;
	uint64_t number = cursor_varint(cursor);
	switch (operation) {
	case DW_CFA_offset_extended:
		set_rule(machine, number, CFI_OFFSET, scaled(machine, cursor_varint(cursor)));
		return true;
	case DW_CFA_offset_extended_sf:
		set_rule(machine, number, CFI_OFFSET, scaled(machine, (uint64_t)cursor_sleb128(cursor)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set_rule(machine, number, CFI_OFFSET, scaled(machine, -cursor_varint(cursor)));
		return true;
	case DW_CFA_val_offset:
		set_rule(machine, number, CFI_VAL_OFFSET, scaled(machine, cursor_varint(cursor)));
		return true;
	case DW_CFA_val_offset_sf:
		set_rule(machine, number, CFI_VAL_OFFSET, scaled(machine, (uint64_t)cursor_sleb128(cursor)));
		return true;
	case DW_CFA_restore_extended:
		restore_rule(machine, number);
		return true;
	case DW_CFA_undefined:
		set_rule(machine, number, CFI_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set_rule(machine, number, CFI_SAME, 0);
		return true;
	case DW_CFA_register: {
		uint64_t other = cursor_varint(cursor);
		set_rule(machine, number, other < ARCH_REGISTERS ? CFI_REGISTER : CFI_UNDEFINED, (int64_t)other);
		return true;
	}
	case DW_CFA_expression:
	case DW_CFA_val_expression: {
		enum cfi_rule_kind kind = operation == DW_CFA_expression ? CFI_EXPRESSION : CFI_VAL_EXPRESSION;
		struct cfi_rule rule = read_expression(machine, kind);
		if (number < ARCH_REGISTERS)
			machine->state.registers[number] = rule;
		return true;
	}
	default:
		return false;
	}
}

/* Executes an instruction whose upper two bits are 0. One that advances the location sets *delta or *location. */
static bool run_extended(struct cfi_machine *machine, uint8_t operation, uint64_t *delta, uint64_t *location)
{
	struct cursor *cursor = &machine->instructions;
	switch (operation) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_advance_loc1:
		*delta = cursor_u8(cursor);
		return true;
	case DW_CFA_advance_loc2:
		*delta = cursor_u16(cursor);
		return true;
	case DW_CFA_advance_loc4:
		*delta = cursor_u32(cursor);
		return true;
	case DW_CFA_MIPS_advance_loc8:
		*delta = cursor_u64(cursor);
		return true;
	case DW_CFA_set_loc:
		return cfi_pointer(cursor, machine->section, machine->cie->pointer_encoding, location);
	case DW_CFA_remember_state:
		return push_state(machine);
	case DW_CFA_restore_state:
		return restore(machine);
	case DW_CFA_GNU_args_size: /* pushed arguments: only landing pads need it */
		cursor_varint(cursor);
		return true;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		return run_cfa(machine, operation);
	default:
		return arch_cfi_operation(operation) || run_register(machine, operation);
	}
}

static bool run_one(struct cfi_machine *machine, uint64_t *delta, uint64_t *location)
{
	uint8_t operation = cursor_u8(&machine->instructions);
	uint8_t operand = operation & 0x3f;
	switch (operation & 0xc0) {
	case DW_CFA_advance_loc:
		*delta = operand;
		return true;
	case DW_CFA_offset:
		set_rule(machine, operand, CFI_OFFSET, scaled(machine, cursor_varint(&machine->instructions)));
		return true;
	case DW_CFA_restore:
		restore_rule(machine, operand);
		return true;
	default:
		return run_extended(machine, operation, delta, location);
	}
}

void cfi_machine_init(struct cfi_machine *machine, const struct cfi_section *section, const struct cfi_cie *cie,
		      const struct cfi_fde *fde)
{
	machine->section = section;
	machine->cie = cie;
	machine->instructions = cursor_over(section->bytes + fde->instructions, fde->instructions_size);
	machine->start = fde->start;
	machine->end = fde->start;
	machine->limit = fde->end;
	machine->state = cie->initial;
	machine->remembered_count = 0;
}

int cfi_machine_next(struct cfi_machine *machine)
{
	machine->start = machine->end;
	if (machine->start >= machine->limit)
		return 0;
	while (machine->instructions.next < machine->instructions.end) {
		uint64_t delta = 0;
		uint64_t location = machine->start;
		if (!run_one(machine, &delta, &location) || machine->instructions.failed)
			return ERROR_CORRUPT;
		location += delta * machine->cie->code_align;
		if (location < machine->start)
			return ERROR_CORRUPT;
		if (location == machine->start)
			continue;
		machine->end = location < machine->limit ? location : machine->limit;
		return 1;
	}
	machine->end = machine->limit;
	return 1;
}

bool cfi_cie_run(const struct cfi_section *section, struct cfi_cie *cie)
{
	struct cfi_machine machine;
	struct cfi_fde whole = {
		.end = 1,
		.instructions = cie->instructions,
		.instructions_size = cie->instructions_size,
	};
	memset(&cie->initial, 0, sizeof(cie->initial));
	cfi_machine_init(&machine, section, cie, &whole);
	if (cfi_machine_next(&machine) != 1 || machine.instructions.next != machine.instructions.end)
		return false;
	cie->initial = machine.state;
	return true;
}
