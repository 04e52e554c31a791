/* The slow step: evaluates the CFI state of one pc. */
#include "arch/arch.h"
#include "unwind/cfi.h"

/* One evaluation: the old frame, its CFA, and the section and bias of its expressions. */
struct evaluation {
	const struct cfi_section *section;
	uint64_t bias;
	const struct unwind_source *source;
	struct cfi_frame *frame;
	uint64_t cfa;
};

static enum cfi_status read_memory(const struct evaluation *evaluation, uint64_t address, uint64_t *value)
{
	if (evaluation->source->read(evaluation->source->context, address, value) == 0)
		return CFI_OK;
	evaluation->frame->unreadable = address;
	return CFI_UNREADABLE;
}

static enum cfi_status get_register(const struct evaluation *evaluation, uint64_t number, uint64_t *value)
{
	if (number >= ARCH_REGISTERS)
		return CFI_BAD;
	if (!(evaluation->frame->known >> number & 1))
		return CFI_UNKNOWN;
	*value = evaluation->frame->registers.value[number];
	return CFI_OK;
}

static enum cfi_status run_expression(const struct evaluation *evaluation, const struct cfi_rule *rule,
				      const uint64_t *initial, uint64_t *value)
{
	return cfi_expression(evaluation->section->bytes + rule->value, rule->size, evaluation->bias,
			      evaluation->source, evaluation->frame, initial, value);
}

static enum cfi_status evaluate_cfa(struct evaluation *evaluation, const struct cfi_rule *cfa)
{
	if (cfa->kind == CFI_VAL_EXPRESSION)
		return run_expression(evaluation, cfa, NULL, &evaluation->cfa);
	if (cfa->kind != CFI_REGISTER)
		return CFI_BAD;
	enum cfi_status status = get_register(evaluation, cfa->size, &evaluation->cfa);
	evaluation->cfa += (uint64_t)cfa->value;
	return status;
}

/* Reads a register whose slot is below sp. Either the epilogue has popped it, which the rules do not describe, or
 * the slot is in the red zone. The value is certain only if the register and the slot agree. */
static enum cfi_status read_released(const struct evaluation *evaluation, unsigned number, uint64_t address,
				     uint64_t *value)
{
	uint64_t slot;
	enum cfi_status status = get_register(evaluation, number, value);
	if (status == CFI_OK && read_memory(evaluation, address, &slot) == CFI_OK && slot != *value)
		status = CFI_UNKNOWN;
	return status;
}

static enum cfi_status read_saved(const struct evaluation *evaluation, unsigned number, uint64_t address,
				  uint64_t *value)
{
	uint64_t sp;
	if (number != ARCH_SP_REGISTER && get_register(evaluation, ARCH_SP_REGISTER, &sp) == CFI_OK && address < sp)
		return read_released(evaluation, number, address, value);
	return read_memory(evaluation, address, value);
}

/* Computes the caller's value of register `number`. */
static enum cfi_status evaluate_register(const struct evaluation *evaluation, unsigned number,
					 const struct cfi_rule *rule, uint64_t *value)
{
	enum cfi_status status;
	uint64_t address;
	switch ((enum cfi_rule_kind)rule->kind) {
	case CFI_UNSPECIFIED:
		if (number == ARCH_SP_REGISTER) {
			*value = evaluation->cfa;
			return CFI_OK;
		}
		return arch_callee_saved >> number & 1 ? get_register(evaluation, number, value) : CFI_UNKNOWN;
	case CFI_SAME:
		return get_register(evaluation, number, value);
	case CFI_OFFSET:
		return read_saved(evaluation, number, evaluation->cfa + (uint64_t)rule->value, value);
	case CFI_VAL_OFFSET:
		*value = evaluation->cfa + (uint64_t)rule->value;
		return CFI_OK;
	case CFI_REGISTER:
		return get_register(evaluation, (uint64_t)rule->value, value);
	case CFI_EXPRESSION:
		status = run_expression(evaluation, rule, &evaluation->cfa, &address);
		return status == CFI_OK ? read_memory(evaluation, address, value) : status;
	case CFI_VAL_EXPRESSION:
		return run_expression(evaluation, rule, &evaluation->cfa, value);
	case CFI_UNDEFINED:
	default:
		return CFI_UNKNOWN;
	}
}

/* The return address. Rules that put it into memory hold up to the return, also below sp. */
static enum cfi_status evaluate_return(const struct evaluation *evaluation, unsigned number,
				       const struct cfi_rule *rule, uint64_t *value)
{
	if (rule->kind == CFI_OFFSET)
		return read_memory(evaluation, evaluation->cfa + (uint64_t)rule->value, value);
	return evaluate_register(evaluation, number, rule, value);
}

/* Keeps the value of a register that no rule mentions. */
static void assume_unchanged(struct cfi_frame *caller, const struct cfi_frame *frame, unsigned number,
			     const struct cfi_rule *rule)
{
	uint64_t bit = UINT64_C(1) << number;
	if (rule->kind != CFI_UNSPECIFIED || !((frame->known | frame->assumed) & bit))
		return;
	caller->assumed |= bit;
	caller->registers.value[number] = frame->registers.value[number];
}

static enum cfi_status evaluate(struct evaluation *evaluation, const struct cfi_cie *cie, const struct cfi_state *state)
{
	const struct cfi_rule *pc = &state->registers[cie->return_register];
	struct cfi_frame *frame = evaluation->frame;
	struct cfi_frame caller = { .is_signal = cie->is_signal };
	if (pc->kind == CFI_UNDEFINED)
		return CFI_ROOT;
	if (pc->kind == CFI_UNSPECIFIED && !(arch_callee_saved >> cie->return_register & 1))
		return CFI_BAD;
	enum cfi_status status = evaluate_cfa(evaluation, &state->cfa);
	if (status != CFI_OK)
		return status;
	for (unsigned i = 0; i < ARCH_PC_REGISTER; i++) {
		status = evaluate_register(evaluation, i, &state->registers[i], &caller.registers.value[i]);
		if (status == CFI_OK)
			caller.known |= UINT64_C(1) << i;
		else if (status != CFI_UNKNOWN)
			return status;
		else
			assume_unchanged(&caller, frame, i, &state->registers[i]);
	}
	status = evaluate_return(evaluation, cie->return_register, pc, &caller.registers.value[ARCH_PC_REGISTER]);
	if (status != CFI_OK)
		return status;
	caller.registers.value[ARCH_PC_REGISTER] = arch_code_address(caller.registers.value[ARCH_PC_REGISTER]);
	caller.known |= UINT64_C(1) << ARCH_PC_REGISTER;
	if (!(caller.known >> ARCH_SP_REGISTER & 1))
		return CFI_UNKNOWN;
	*frame = caller;
	return CFI_OK;
}

enum cfi_status cfi_step(const struct unwind_table *table, uint64_t bias, uint64_t lookup,
			 const struct unwind_source *source, struct cfi_frame *frame)
{
	uint64_t address = lookup - bias;
	int64_t index = unwind_table_function_index(table, address);
	if (index < 0 || !table->cfi)
		return CFI_NO_RULE;
	const struct unwind_function *function = &table->functions[index];
	const struct cfi_position *position = &table->cfi->positions[index];
	const struct cfi_part *part = &table->cfi->parts[position->part];
	const struct cfi_fde fde = {
		.start = table->base + function->start,
		.end = table->base + function->start + function->size,
		.instructions = position->instructions,
		.instructions_size = position->instructions_size,
	};
	struct cfi_machine machine;
	cfi_machine_init(&machine, &part->section, &part->cies[position->cie], &fde);
	int status;
	while ((status = cfi_machine_next(&machine)) == 1 && machine.end <= address)
		;
	if (status != 1)
		return CFI_BAD;
	struct evaluation evaluation = {
		.section = &part->section,
		.bias = bias,
		.source = source,
		.frame = frame,
	};
	return evaluate(&evaluation, machine.cie, &machine.state);
}
