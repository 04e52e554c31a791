/* Decodes an instruction: its length, where it leads, and the memory that it names. */
#include "arch/instruction.h"

#include "arch/x86_64/instruction_form.h"

enum { REGISTER_DI = 7 };

static void lead_to(const struct instruction_form *form, struct instruction *instruction, uint8_t flow, bool is_short)
{
	int64_t distance =
		is_short ? (int8_t)form->code[form->immediate] : instruction_form_word(form, form->immediate);
	instruction->flow = flow;
	instruction->has_target = true;
	instruction->target = form->address + form->at + (uint64_t)distance;
}

static void explain_one_byte(const struct instruction_form *form, struct instruction *instruction)
{
	enum { CALL_REG = 2, FAR_CALL_REG, JUMP_REG, FAR_JUMP_REG };
	switch (form->opcode) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		lead_to(form, instruction, INSTRUCTION_BRANCH, true);
		break;
	case 0xe8:
		lead_to(form, instruction, INSTRUCTION_CALL, false);
		break;
	case 0xe9:
		lead_to(form, instruction, INSTRUCTION_JUMP, false);
		break;
	case 0xeb:
		lead_to(form, instruction, INSTRUCTION_JUMP, true);
		break;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xf4:
		instruction->flow = INSTRUCTION_END;
		break;
	case 0xff:
		if (form->reg == CALL_REG || form->reg == FAR_CALL_REG)
			instruction->flow = INSTRUCTION_CALL;
		else if (form->reg == JUMP_REG || form->reg == FAR_JUMP_REG)
			instruction->flow = INSTRUCTION_INDIRECT;
		break;
	default:
		break;
	}
}

/* Returns whether it is lea, mov or add of an address or a constant to rdi or edi. */
static bool sets_first_argument(const struct instruction_form *form)
{
	enum { REX_HIGH = 7, LEA = 0x8d, MOVE = 0xbf, MOVE_WIDE = 0xc7, ADD_BYTE = 0x83, ADD = 0x81, REGISTER = 3 };
	if (form->map != MAP_ONE_BYTE || form->is_vector || form->rex & REX_HIGH)
		return false;
	switch (form->opcode) {
	case LEA:
		return form->reg == REGISTER_DI && (form->relative || form->absolute);
	case MOVE:
		return true;
	case MOVE_WIDE:
	case ADD_BYTE:
	case ADD:
		return form->mod == REGISTER && form->rm == REGISTER_DI && form->reg == 0;
	default:
		return false;
	}
}

/* Returns whether it is pop, leave, add to rsp, or mov of rbx or r12 to r15 from the frame; or whether it takes the
 * result from rbx, where gcc keeps it during the call of a hook. */
static bool restores(const struct instruction_form *form)
{
	enum {
		POP = 0x58,
		POP_LAST = 0x5f,
		LEAVE = 0xc9,
		ADD_BYTE = 0x83,
		ADD = 0x81,
		LOAD = 0x8b,
		MOVE = 0x89,
		MOVE_VECTOR = 0x6e,
		REGISTER = 3,
		AX = 0,
		BX = 3,
		SP = 4,
		BP = 5,
		REX_B = 1,
		REX_R = 4
	};
	bool of_bx = form->mod == REGISTER && !(form->rex & (REX_B | REX_R));
	if (form->map == MAP_0F && form->opcode == MOVE_VECTOR)
		return of_bx && form->rm == BX;
	if (form->map != MAP_ONE_BYTE || form->is_vector)
		return false;
	switch (form->opcode) {
	case POP ... POP_LAST:
	case LEAVE:
		return true;
	case ADD_BYTE:
	case ADD:
		return form->mod == REGISTER && form->reg == 0 && form->rm == SP && form->is_wide;
	case LOAD:
		return form->is_wide && (form->mod == 1 || form->mod == 2) && form->rm == BP && !(form->rex & REX_B) &&
		       (form->rex & REX_R ? form->reg >= SP : form->reg == BX);
	case MOVE:
		return of_bx && form->reg == BX && form->rm == AX;
	default:
		return false;
	}
}

/* Explains what the code of a switch consists of: add of registers, mov from memory, jmp to a register. */
static void explain_registers(const struct instruction_form *form, struct instruction *instruction)
{
	enum { ADD = 0x01, ADD_TO_REG = 0x03, LOAD = 0x8b, JUMP = 0xff, REGISTER = 3, REX_B = 1, REX_R = 4, HIGH = 8 };
	uint8_t reg = form->reg + 1 + (form->rex & REX_R ? HIGH : 0);
	uint8_t rm = form->rm + 1 + (form->rex & REX_B ? HIGH : 0);
	bool is_register = form->mod == REGISTER;
	if (form->map != MAP_ONE_BYTE || form->is_vector)
		return;
	if (is_register && form->is_wide && (form->opcode == ADD || form->opcode == ADD_TO_REG))
		instruction->gets_sum = form->opcode == ADD ? rm : reg;
	else if (!is_register && form->is_wide && form->opcode == LOAD)
		instruction->gets_memory = reg;
	else if (is_register && form->opcode == JUMP && instruction->flow == INSTRUCTION_INDIRECT)
		instruction->jumps_to = rm;
	instruction->is_of_switch = instruction->flow == INSTRUCTION_INDIRECT && form->is_notrack;
}

/* Returns whether it is nop with any prefixes and operand, or int3. */
static bool is_padding(const struct instruction_form *form)
{
	enum { NOP = 0x90, TRAP = 0xcc, LONG_NOP = 0x1f, REX_B = 1 };
	if (form->is_vector)
		return false;
	if (form->map == MAP_ONE_BYTE)
		return (form->opcode == NOP && !(form->rex & REX_B)) || form->opcode == TRAP;
	return form->map == MAP_0F && form->opcode == LONG_NOP;
}

static void explain(const struct instruction_form *form, struct instruction *instruction)
{
	enum { LEA = 0x8d, TRAP = 0x0b, POINTER = 8 };
	if (form->map == MAP_ONE_BYTE)
		explain_one_byte(form, instruction);
	else if (instruction_form_is_branch(form))
		lead_to(form, instruction, INSTRUCTION_BRANCH, false);
	else if (form->map == MAP_0F && !form->is_vector && form->opcode == TRAP)
		instruction->flow = INSTRUCTION_END;
	instruction->is_padding = is_padding(form);
	instruction->restores = restores(form);
	instruction->sets_first_argument = sets_first_argument(form);
	if (form->relative)
		instruction->memory = form->address + form->at + (uint64_t)(int64_t)form->displacement;
	else if (form->absolute)
		instruction->memory = (uint64_t)(int64_t)form->displacement;
	instruction->takes_address = form->map == MAP_ONE_BYTE && form->opcode == LEA && form->relative;
	instruction->indexes_by_8 = form->absolute && form->scale == POINTER;
	explain_registers(form, instruction);
}

bool instruction_decode(const uint8_t *code, size_t left, uint64_t address, struct instruction *instruction)
{
	struct instruction_form form;
	*instruction = (struct instruction){ .flow = INSTRUCTION_NEXT };
	if (!instruction_form_read(&form, code, left, address))
		return false;
	instruction->bytes = (uint8_t)form.at;
	explain(&form, instruction);
	return true;
}
