/* The names of copies: "qsort_1", or the next number that no name of the program has. */
#include <string.h>

#include "collect/source/contextualize/copy_plan.h"
#include "collect/source/instrument/lexing.h"

struct name_search {
	const struct clang *clang;
	const char *name;
	bool is_found;
};

static enum CXChildVisitResult find_name(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct name_search *search = data;
	(void)parent;
	CXString spelling = search->clang->getCursorSpelling(cursor);
	search->is_found = strcmp(search->clang->getCString(spelling), search->name) == 0;
	search->clang->disposeString(spelling);
	if (search->is_found)
		return CXChildVisit_Break;
	switch ((int)search->clang->getCursorKind(cursor)) {
	case CXCursor_Namespace:
	case CXCursor_LinkageSpec:
	case CXCursor_EnumDecl:
		return CXChildVisit_Recurse;
	default:
		return CXChildVisit_Continue;
	}
}

bool copy_names_are_declared(const struct program *program, size_t unit, const char *name)
{
	struct name_search search = { .clang = program->clang, .name = name };
	program->clang->visitChildren(program->clang->getTranslationUnitCursor(program->units[unit].unit), find_name,
				      &search);
	return search.is_found;
}

/* A name may be taken by a header without functions, or by a macro, in the unit of a copy or of its host. */
static bool is_taken(const struct copy_plan *plan, size_t clone, const char *name)
{
	size_t host = plan->clones[clone].is_used ? copy_plan_host(plan, clone) : clone;
	const struct program *program = plan->program;
	for (size_t i = 0; i < program->file_count; i++)
		if (lexing_find(program->files[i].text, program->files[i].text + program->files[i].size, name))
			return true;
	for (size_t i = 1; i < plan->clone_count; i++)
		if (strcmp(plan->clones[i].name, name) == 0)
			return true;
	return copy_names_are_declared(program, copy_plan_function(plan, &plan->clones[clone])->unit, name) ||
	       copy_names_are_declared(program, copy_plan_function(plan, &plan->clones[host])->unit, name);
}

int copy_names_choose(struct copy_plan *plan)
{
	struct program *program = plan->program;
	size_t number = 1;
	for (size_t i = 1; i < plan->length; i++) {
		const char *name = instrument_arena_format(program->arena, "%s_%zu",
							   copy_plan_function(plan, &plan->clones[i])->name, number);
		if (!name)
			return ERROR_MEMORY;
		if (is_taken(plan, i, name)) {
			number++;
			i = 0;
		}
	}
	for (size_t i = 1; i < plan->clone_count; i++) {
		struct plan_clone *clone = &plan->clones[i];
		const char *original = copy_plan_function(plan, clone)->name, *name = NULL;
		for (size_t k = number; !name || is_taken(plan, i, name); k++) {
			name = instrument_arena_format(program->arena, "%s_%zu", original, k);
			if (!name)
				return ERROR_MEMORY;
		}
		clone->name = name;
	}
	return 0;
}
