#include "frames/native/die_names.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

/* Begins the names of the functions that include/cpprof/ inlines into the program. */
#define PROBE_PREFIX "cpprof_"

/* Limits of chains of references between DIEs, of which two are usual, and of nested scopes. */
enum { REFERENCES_MAX = 16, NESTING_MAX = 64 };

static bool follow(Dwarf_Die *die, unsigned attribute_name)
{
	Dwarf_Attribute attribute;
	Dwarf_Die target;
	if (!dwarf_attr(die, attribute_name, &attribute) || !dwarf_formref_die(&attribute, &target))
		return false;
	*die = target;
	return true;
}

Dwarf_Die die_origin(Dwarf_Die *die)
{
	Dwarf_Die origin = *die;
	for (int i = 0; i < REFERENCES_MAX && follow(&origin, DW_AT_abstract_origin); i++)
		;
	return origin;
}

static bool has_flag(Dwarf_Die *die, unsigned attribute_name)
{
	Dwarf_Attribute attribute;
	bool flag = false;
	return dwarf_attr_integrate(die, attribute_name, &attribute) && dwarf_formflag(&attribute, &flag) == 0 && flag;
}

/* Functions that the compiler makes, as implicit constructors and the initializers of variables, are artificial in DWARF,
 * too; but the DIE that states it, which is the declaration of a member, has no line. */
bool die_is_part_of_caller(Dwarf_Die *inlined)
{
	Dwarf_Die die = die_origin(inlined);
	const char *name = dwarf_diename(&die);
	if (name && strncmp(name, PROBE_PREFIX, sizeof(PROBE_PREFIX) - 1) == 0)
		return strcmp(name, "cpprof_tick") == 0;
	for (int i = 0; i < REFERENCES_MAX && !dwarf_hasattr(&die, DW_AT_artificial); i++)
		if (!follow(&die, DW_AT_specification))
			return false;
	return has_flag(&die, DW_AT_artificial) && dwarf_hasattr(&die, DW_AT_decl_line);
}

static const char *text_of(Dwarf_Die *die, unsigned attribute_name)
{
	Dwarf_Attribute attribute;
	return dwarf_formstring(dwarf_attr_integrate(die, attribute_name, &attribute));
}

static const char *declaring_file(Dwarf_Die *die, struct line_tables *lines)
{
	Dwarf_Attribute attribute;
	Dwarf_Word index;
	Dwarf_Die unit;
	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &index) != 0 ||
	    !dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	return line_tables_unit_file(lines, &unit, index);
}

static bool has_scopes(Dwarf_Die *die)
{
	Dwarf_Die unit;
	switch (dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
	case -1:
		return false;
	default:
		return true;
	}
}

void die_name_read(Dwarf_Die *die, struct line_tables *lines, struct die_name *name)
{
	int line = 0;
	*name = (struct die_name){ .origin = die_origin(die) };
	Dwarf_Die *origin = &name->origin;
	name->name = text_of(origin, DW_AT_name);
	name->linkage = text_of(origin, DW_AT_linkage_name);
	if (!name->linkage)
		name->linkage = text_of(origin, DW_AT_MIPS_linkage_name);
	name->is_external = has_flag(origin, DW_AT_external);
	name->is_scoped = !name->linkage && !name->is_external && has_scopes(origin);
	if (!name->linkage && !name->is_scoped)
		name->linkage = name->name;
	name->file = declaring_file(origin, lines);
	if (dwarf_decl_line(origin, &line) == 0 && line > 0)
		name->line = (uint32_t)line;
}

void die_parents_init(struct die_parents *parents)
{
	*parents = (struct die_parents){ 0 };
	hash_map_init(&parents->first_by_die);
}

void die_parents_release(struct die_parents *parents)
{
	free(parents->children);
	hash_map_release(&parents->first_by_die);
	*parents = (struct die_parents){ 0 };
}

static int add_child(struct die_parents *parents, const struct die_child *child)
{
	if (ARRAY_RESERVE(parents->children, parents->child_capacity, parents->child_count + 1) < 0)
		return ERROR_MEMORY;
	parents->children[parents->child_count++] = *child;
	return 0;
}

/* Lists a DIE's children that have children. Returns the index of the first of them, or a negative error. */
static int64_t list_children(struct die_parents *parents, Dwarf_Die *parent)
{
	uint64_t key = (uintptr_t)parent->addr;
	uint32_t known = hash_map_get(&parents->first_by_die, key);
	if (known != HASH_MAP_NONE)
		return known;
	size_t first = parents->child_count;
	struct die_child child = { 0 };
	Dwarf_Die next;
	if (first >= HASH_MAP_NONE)
		return ERROR_LIMIT;
	for (bool found = dwarf_child(parent, &child.die) == 0; found; child.die = next) {
		found = dwarf_siblingof(&child.die, &next) == 0 && (uintptr_t)next.addr > (uintptr_t)child.die.addr;
		child.offset = dwarf_dieoffset(&child.die);
		child.end = found ? dwarf_dieoffset(&next) : UINT64_MAX;
		if (dwarf_haschildren(&child.die) > 0 && add_child(parents, &child) < 0)
			return ERROR_MEMORY;
	}
	const struct die_child behind = { .offset = UINT64_MAX, .end = UINT64_MAX };
	if (add_child(parents, &behind) < 0 || hash_map_put(&parents->first_by_die, key, (uint32_t)first) < 0)
		return ERROR_MEMORY;
	return (int64_t)first;
}

/* gcc gives the type of a lambda no name. */
static const char *name_of_unnamed(const char *function)
{
	return strncmp(function, "operator()", 10) == 0 ? "{lambda}" : "{unnamed}";
}

static void append_scope(Dwarf_Die *die, const char *function, struct buffer *text)
{
	const char *name = text_of(die, DW_AT_name);
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
		buffer_append_string(text, name ? name : "(anonymous namespace)");
		break;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		buffer_append_string(text, name ? name : name_of_unnamed(function));
		break;
	case DW_TAG_subprogram:
		if (!name)
			return;
		buffer_append_string(text, name);
		break;
	default:
		return; /* blocks have no names */
	}
	buffer_append_string(text, "::");
}

/* A DIE is within the extent of its parent, so that on each level only one child can contain it. */
int die_qualified_name(struct die_parents *parents, const struct die_name *name, struct buffer *text)
{
	Dwarf_Die target = name->origin;
	Dwarf_Die scope;
	for (int i = 0; i < REFERENCES_MAX && follow(&target, DW_AT_specification); i++)
		;
	uint64_t offset = dwarf_dieoffset(&target);
	bool found = dwarf_diecu(&target, &scope, NULL, NULL) != NULL;
	for (int depth = 0; found && depth < NESTING_MAX; depth++) {
		int64_t first = list_children(parents, &scope);
		if (first < 0)
			return (int)first;
		struct die_child *child = &parents->children[first];
		found = false;
		for (; child->offset < offset && !found; child++) {
			scope = child->die;
			found = offset < child->end;
		}
		if (found)
			append_scope(&scope, name->name, text);
	}
	buffer_append_string(text, name->name);
	return buffer_error(text);
}
