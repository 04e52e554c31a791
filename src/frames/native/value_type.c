#include "frames/native/value_type.h"

#include <dwarf.h>

#include "frames/native/die_names.h"
#include "frames/native/scopes.h"

enum { REGISTER_BYTES = 8 };

/* The registers for integers in which a value is passed. */
enum registers_taken {
	TAKES_NONE, /* floating point, or a value on the stack */
	TAKES_ONE,
	TAKES_TWO,
	TAKES_UNKNOWN /* a structure: that depends on its members */
};

static enum registers_taken take_base(Dwarf_Die *die, struct value_type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;
	int bytes = dwarf_bytesize(die);
	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_encoding, &attribute), &encoding) != 0 || bytes <= 0)
		return TAKES_UNKNOWN;
	switch (encoding) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		type->is_signed = true;
		break;
	case DW_ATE_address:
	case DW_ATE_boolean:
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		break;
	case DW_ATE_float:
	case DW_ATE_complex_float:
	case DW_ATE_imaginary_float:
		return TAKES_NONE;
	default:
		return TAKES_UNKNOWN;
	}
	if (bytes > REGISTER_BYTES)
		return bytes == 2 * REGISTER_BYTES ? TAKES_TWO : TAKES_UNKNOWN;
	/* The type of a bit-precise integer may have 3 bytes. */
	if ((bytes & (bytes - 1)) == 0)
		type->bytes = (uint8_t)bytes;
	return TAKES_ONE;
}

/* An enumeration has the type that it is implemented by, or at least a size. */
static enum registers_taken take_enumeration(Dwarf_Die *die, struct value_type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die base;
	if (dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &base) &&
	    dwarf_peel_type(&base, &base) == 0 && dwarf_tag(&base) == DW_TAG_base_type)
		return take_base(&base, type);
	int bytes = dwarf_bytesize(die);
	if (bytes > 0 && bytes <= REGISTER_BYTES && (bytes & (bytes - 1)) == 0)
		type->bytes = (uint8_t)bytes;
	return TAKES_ONE;
}

/* Reads the type of a parameter, or of what a function returns. */
static enum registers_taken take(Dwarf_Die *die, struct value_type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die target;
	*type = (struct value_type){ 0 };
	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &target) ||
	    dwarf_peel_type(&target, &target) != 0)
		return TAKES_UNKNOWN;
	switch (dwarf_tag(&target)) {
	case DW_TAG_base_type:
		return take_base(&target, type);
	case DW_TAG_enumeration_type:
		return take_enumeration(&target, type);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		type->bytes = REGISTER_BYTES;
		return TAKES_ONE;
	default:
		return TAKES_UNKNOWN;
	}
}

/* Returns whether there is a next parameter; `die` is the function, or the parameter before it. */
static bool next_parameter(Dwarf_Die *die, Dwarf_Die *parameter)
{
	bool is_function = dwarf_tag(die) == DW_TAG_subprogram;
	bool found = (is_function ? dwarf_child(die, parameter) : dwarf_siblingof(die, parameter)) == 0;
	while (found && dwarf_tag(parameter) != DW_TAG_formal_parameter)
		found = dwarf_siblingof(parameter, parameter) == 0;
	return found;
}

static void find_argument(Dwarf_Die *function, unsigned argument, struct value_type *found)
{
	Dwarf_Die at = *function, parameter;
	for (unsigned taken = 0; taken < argument && next_parameter(&at, &parameter); at = parameter) {
		struct value_type type;
		enum registers_taken registers = take(&parameter, &type);
		if (registers == TAKES_UNKNOWN)
			return;
		if (registers == TAKES_ONE && taken + 1 == argument)
			*found = type;
		taken += registers == TAKES_ONE ? 1 : registers == TAKES_TWO ? 2 : 0;
	}
}

int value_type_find(struct module_file *file, uint64_t address, unsigned argument, struct value_type *type)
{
	static const struct frames_options quiet;
	struct scopes scopes;
	struct progress progress = { .options = &quiet };
	*type = (struct value_type){ 0 };
	int status = scopes_find_at_any_cost(&scopes, file, &address, 1, &progress);
	uint32_t number = status == 0 ? scopes.addresses[0].scope : SCOPE_NONE;
	/* A function may begin with the code of one that was inlined. */
	while (number != SCOPE_NONE && dwarf_tag(&scopes.scopes[number].die) != DW_TAG_subprogram)
		number = scopes.scopes[number].outer;
	if (number != SCOPE_NONE) {
		/* The abstract instance has all parameters in their order, also those that the code does not use. */
		Dwarf_Die function = die_origin(&scopes.scopes[number].die);
		if (argument == 0)
			take(&function, type);
		else
			find_argument(&function, argument, type);
	}
	scopes_release(&scopes);
	return status;
}
