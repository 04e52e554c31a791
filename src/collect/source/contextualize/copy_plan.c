#include "collect/source/contextualize/copy_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/source/contextualize/path_names.h"
#include "collect/source/instrument/lexing.h"

const char *copy_plan_callee(const struct copy_plan *plan, const struct plan_clone *clone,
			     const struct program_call *call, CXCursor *declaration)
{
	*declaration = call->callee;
	if (call->parameter == PROGRAM_NONE)
		return call->usr;
	const struct plan_value *value = &clone->values[call->parameter];
	if (clone == plan->clones || value->kind != VALUE_FUNCTION)
		return NULL;
	*declaration = value->function;
	return value->usr;
}

/* --- states --- */

/* Returns k of fk, or PROGRAM_NONE. */
static size_t position(const struct copy_plan *plan, const char *usr)
{
	for (size_t i = 0; i < plan->length; i++)
		if (strcmp(copy_plan_function(plan, &plan->clones[i])->usr, usr) == 0)
			return i;
	return PROGRAM_NONE;
}

/* Returns the definition that a call leads to, or PROGRAM_NONE: a library function's own definition is called, and not the supplied one. */
static size_t definition_of(const struct program *program, const struct program_function *caller, const char *usr)
{
	size_t found = program_find(program, usr);
	bool is_supplied = found != PROGRAM_NONE && program_is_supplied(program, &program->functions[found]);
	return is_supplied && !program_is_supplied(program, caller) ? PROGRAM_NONE : found;
}

/* Returns whether a function may call one of f1 ... f[level] before it calls f0. `seen` [function_count]. */
static bool returns_to_path(const struct copy_plan *plan, size_t function, size_t level, bool *seen)
{
	const struct program *program = plan->program;
	if (seen[function])
		return false;
	seen[function] = true;
	const struct program_function *row = &program->functions[function];
	for (size_t i = 0; i < row->call_count; i++) {
		const char *usr = row->calls[i].usr;
		size_t k = usr ? position(plan, usr) : PROGRAM_NONE;
		if (k != PROGRAM_NONE && k > 0 && k <= level)
			return true;
		size_t next = usr && k != 0 ? definition_of(program, row, usr) : PROGRAM_NONE;
		if (next != PROGRAM_NONE && returns_to_path(plan, next, level, seen))
			return true;
	}
	return false;
}

static bool needs_copy(const struct copy_plan *plan, size_t function, size_t level)
{
	if (program_is_supplied(plan->program, &plan->program->functions[function]))
		return true;
	bool *seen = calloc(plan->program->function_count + 1, sizeof(*seen));
	if (!seen) {
		plan->program->error = ERROR_MEMORY;
		return false;
	}
	bool needs = returns_to_path(plan, function, level, seen);
	free(seen);
	return needs;
}

static size_t off_path_clone(const struct copy_plan *plan, size_t function, size_t level)
{
	for (size_t i = plan->length; i < plan->clone_count; i++)
		if (plan->clones[i].function == function && plan->clones[i].level == level)
			return i;
	return PROGRAM_NONE;
}

/* Returns the state behind a call: k of fk, or PROGRAM_NONE if the called function is not on the path there. */
static size_t next_state(const struct copy_plan *plan, const struct plan_clone *clone, const char *usr)
{
	size_t k = position(plan, usr);
	bool is_next = clone->on_path && k == clone->level + 1;
	return k != PROGRAM_NONE && (k <= clone->level || is_next) ? k : PROGRAM_NONE;
}

size_t copy_plan_target(const struct copy_plan *plan, const struct plan_clone *clone, const struct program_call *call)
{
	CXCursor declaration;
	const char *usr = copy_plan_callee(plan, clone, call, &declaration);
	if (!usr)
		return PROGRAM_NONE;
	size_t k = next_state(plan, clone, usr);
	if (k != PROGRAM_NONE)
		return k == 0 ? PROGRAM_NONE : k;
	size_t function = definition_of(plan->program, copy_plan_function(plan, clone), usr);
	return function == PROGRAM_NONE || clone->level == 0 ? PROGRAM_NONE
							     : off_path_clone(plan, function, clone->level);
}

static int add_clone(struct copy_plan *plan, size_t function, size_t level, bool on_path)
{
	struct program *program = plan->program;
	if (ARRAY_RESERVE(plan->clones, plan->clone_capacity, plan->clone_count + 1) < 0)
		return ERROR_MEMORY;
	struct plan_clone *clone = &plan->clones[plan->clone_count++];
	*clone = (struct plan_clone){ .function = function, .level = level, .on_path = on_path };
	clone->name = program->functions[function].name;
	clone->values = instrument_arena_take(program->arena, (program->functions[function].parameter_count + 1) *
								      sizeof(*clone->values));
	return clone->values ? 0 : ERROR_MEMORY;
}

/* Adds the clone of a function off the path that a call needs, if it does not exist. Returns 1 if it was added. */
static int add_needed(struct copy_plan *plan, size_t index, const struct program_call *call)
{
	const struct plan_clone *clone = &plan->clones[index];
	size_t level = clone->level;
	CXCursor declaration;
	const char *usr = copy_plan_callee(plan, clone, call, &declaration);
	if (!usr || level == 0 || next_state(plan, clone, usr) != PROGRAM_NONE)
		return 0;
	size_t function = definition_of(plan->program, copy_plan_function(plan, clone), usr);
	if (function == PROGRAM_NONE || off_path_clone(plan, function, level) != PROGRAM_NONE ||
	    !needs_copy(plan, function, level))
		return 0;
	int code = add_clone(plan, function, level, false);
	return code < 0 ? code : 1;
}

/* --- values of parameters --- */

static bool is_mentioned(const struct program *program, const struct program_function *function, const char *name)
{
	const char *text = program->files[function->file].text;
	return lexing_find(text + function->start, text + function->end, name);
}

/* Returns whether a function is declared where the copy of a library function, or of a supplied one, is put: in front of its caller. */
static bool is_visible_to_host(const struct copy_plan *plan, const char *usr, CXCursor *found)
{
	const struct program *program = plan->program;
	size_t host = plan->length - 1;
	while (host > 0 && (copy_plan_function(plan, &plan->clones[host])->file == PROGRAM_NONE ||
			    program_is_supplied(program, copy_plan_function(plan, &plan->clones[host]))))
		host--;
	const struct program_function *caller = copy_plan_function(plan, &plan->clones[host]);
	bool is_visible;
	return program_declared(program, caller->unit, usr, caller->file, caller->end, found, &is_visible) &&
	       is_visible;
}

/* Returns whether each use of a parameter is a call, which can have another name. */
static bool is_only_called(const struct program_function *function, size_t parameter)
{
	for (size_t i = 0; i < function->use_count; i++) {
		bool is_called = false;
		for (size_t k = 0; k < function->call_count; k++)
			is_called |= function->calls[k].at == function->uses[i].at && !function->calls[k].in_macro;
		if (function->uses[i].parameter == parameter && !is_called)
			return false;
	}
	return true;
}

/* Returns why a parameter of a function with a source cannot be replaced, whatever the value, or NULL. */
static const char *obstacle_in(const struct program *program, const struct program_function *function,
			       const struct program_parameter *parameter)
{
	return parameter->is_modified ? "it is assigned, or its address or size is used"
	       : parameter->is_needed
		       ? "the list of parameters names it twice (an old definition, or the size of an array)"
	       : parameter->in_macro                                     ? "a macro declares it"
	       : program_symbol_of(program, function).numbers_parameters ? "an attribute has the number of a parameter"
									 : NULL;
}

static const char not_declared[] =
	"the function that is passed is not declared where the copy is (static in another file)";

/* Returns why a parameter cannot be replaced by a function, or NULL: in C, calls through it name the function; in C++, where a
 * name can mean several functions, a variable has it as its value. */
static const char *obstacle_of(const struct copy_plan *plan, const struct plan_clone *clone, size_t index,
			       const char *usr)
{
	const struct program *program = plan->program;
	const struct program_function *function = copy_plan_function(plan, clone);
	const struct program_parameter *parameter = &function->parameters[index];
	CXCursor found;
	bool is_visible;
	bool is_supplied = program_is_supplied(program, function);
	if (function->file == PROGRAM_NONE)
		return is_visible_to_host(plan, usr, &found) ? NULL : not_declared;
	const char *obstacle = obstacle_in(program, function, parameter);
	if (obstacle)
		return obstacle;
	bool is_cxx = program->units[function->unit].is_cxx, is_own = true;
	/* In C, a declaration can be added in front of the copy. */
	bool is_declared =
		program_declared(program, function->unit, usr, function->file, function->start, &found, &is_visible);
	if (!is_declared && is_supplied) {
		is_own = false;
		is_declared = is_visible = is_visible_to_host(plan, usr, &found);
	}
	if (!is_declared || (!is_visible && (is_cxx || is_supplied)))
		return not_declared;
	static const char not_local[] = "it is used otherwise than by calls, and no variable can have its place";
	if (is_cxx)
		return parameter->can_be_local ? NULL : not_local;
	const char *name = program_text(program, program->clang->getCursorSpelling(found));
	if (program_has_directive(program, "define", name))
		return "a macro has the name of the function that is passed"; /* perhaps a call of the macro */
	bool is_own_name = strcmp(name, parameter->name) == 0;
	if (!is_own_name && is_mentioned(program, function, name))
		return "the name of the function that is passed is in the text, too"; /* perhaps a variable */
	/* A copy of a supplied function has another name, which only calls have. */
	bool can_be_local = parameter->can_be_local && !is_own_name && !(is_supplied && is_own);
	return can_be_local || is_only_called(function, index) ? NULL : not_local;
}

static struct plan_value value_of(const struct copy_plan *plan, const struct plan_clone *caller,
				  const struct program_argument *argument)
{
	static const struct plan_value other = { .kind = VALUE_OTHER };
	if (argument->in_macro)
		return other;
	if (argument->usr)
		return (struct plan_value){ VALUE_FUNCTION, argument->usr, argument->function };
	if (argument->parameter == PROGRAM_NONE || caller == plan->clones)
		return other;
	return caller->values[argument->parameter];
}

/* Joins the arguments of a call into the values of the called clone. Returns whether one has changed. */
static bool join(const struct copy_plan *plan, const struct plan_clone *caller, const struct program_call *call,
		 struct plan_clone *target)
{
	const struct program_function *function = copy_plan_function(plan, target);
	bool is_changed = false;
	for (size_t i = 0; i < function->parameter_count; i++) {
		struct plan_value *old = &target->values[i], new = { .kind = VALUE_OTHER };
		/* The arguments of a call that comes from a macro stay. */
		if (function->parameters[i].is_pointer && call->argument_count == function->parameter_count &&
		    !call->in_macro)
			new = value_of(plan, caller, &call->arguments[i]);
		if (old->kind == VALUE_OTHER || new.kind == VALUE_UNSET)
			continue;
		if (new.kind == VALUE_FUNCTION &&
		    (old->kind == VALUE_FUNCTION ? strcmp(old->usr, new.usr) != 0
						 : obstacle_of(plan, target, i, new.usr) != NULL))
			new.kind = VALUE_OTHER;
		if (old->kind == new.kind)
			continue;
		*old = new;
		is_changed = true;
	}
	return is_changed;
}

/* Finds the clones off the path and the values of all parameters. */
static int resolve_values(struct copy_plan *plan)
{
	for (size_t i = 0; i < plan->clone_count; i++)
		memset(plan->clones[i].values, 0,
		       copy_plan_function(plan, &plan->clones[i])->parameter_count * sizeof(*plan->clones[i].values));
	for (bool is_changed = true; is_changed;) {
		is_changed = false;
		for (size_t i = 0; i < plan->clone_count; i++) {
			const struct program_function *function = copy_plan_function(plan, &plan->clones[i]);
			for (size_t k = 0; k < function->call_count; k++) {
				int added = add_needed(plan, i, &function->calls[k]);
				if (added < 0)
					return added;
				size_t target = copy_plan_target(plan, &plan->clones[i], &function->calls[k]);
				if (target != PROGRAM_NONE &&
				    join(plan, &plan->clones[i], &function->calls[k], &plan->clones[target]))
					is_changed = true;
				is_changed |= added > 0;
			}
		}
	}
	return plan->program->error;
}

/* --- the path --- */

static int find_first(const struct copy_plan *plan, const char *name, size_t *found, struct error *error)
{
	struct path_choice choice = { .program = plan->program, .name = name };
	for (size_t i = 0; i < plan->program->function_count; i++)
		if (!program_is_supplied(plan->program, &plan->program->functions[i]))
			path_choice_offer(&choice, i);
	int code = path_choice_take(&choice, found, error);
	return code == ERROR_NOT_FOUND ? error_set(error, code,
						   "cannot contextualize: no source that was read defines '%s' (-p "
						   "compile_commands.json, or its file's name)",
						   name)
				       : code;
}

/* Returns a function's type without names of types: "void (void *, unsigned long)". */
static const char *type_of(const struct program *program, CXCursor function)
{
	const struct clang *clang = program->clang;
	return program_text(program, clang->getTypeSpelling(clang->getCanonicalType(clang->getCursorType(function))));
}

/* Finds the definition of a library function in the supplied file. */
static int find_supplied(struct program *program, size_t unit, CXCursor declaration, size_t *found, struct error *error)
{
	const char *path = program->supplied_path;
	const char *name = program_text(program, program->clang->getCursorSpelling(declaration));
	int code = program_supply(program, unit, error);
	if (code < 0)
		return code;
	bool is_static = false;
	*found = program_find(program, program_usr(program, unit, declaration));
	for (size_t i = 0; i < program->function_count; i++)
		is_static |= program_is_supplied(program, &program->functions[i]) &&
			     strcmp(program->functions[i].name, name) == 0;
	if (*found == PROGRAM_NONE)
		return error_set(error, ERROR_NOT_FOUND, "cannot contextualize: '%s' %s '%s'%s", path,
				 is_static ? "has a static function" : "does not define", name,
				 is_static ? ", which nothing else can call (leave out static)" : "");
	const char *needed = type_of(program, declaration);
	const char *defined = type_of(program, program->functions[*found].cursor);
	if (strcmp(needed, defined) == 0)
		return 0;
	return error_set(error, ERROR_UNSUPPORTED,
			 "cannot contextualize: '%s' in '%s' is '%s', but its caller calls '%s' (change the "
			 "parameters)",
			 name, path, defined, needed);
}

/* Adds the library function that the last clone calls by this name, or its supplied definition. Returns 0, or an error: ERROR_NOT_FOUND
 * without a text if there is no such call. */
static int find_library(struct copy_plan *plan, const char *name, bool is_last, size_t *found, struct error *error)
{
	struct program *program = plan->program;
	const struct plan_clone *clone = &plan->clones[plan->length - 1];
	const struct program_function *caller = copy_plan_function(plan, clone);
	CXCursor declaration = { 0 };
	bool is_found = false;
	for (size_t i = 0; i < caller->call_count && !is_found; i++) {
		const char *usr = copy_plan_callee(plan, clone, &caller->calls[i], &declaration);
		CXString spelling = program->clang->getCursorSpelling(declaration);
		is_found = usr && definition_of(program, caller, usr) == PROGRAM_NONE &&
			   path_is_library(program->clang->getCString(spelling), name);
		program->clang->disposeString(spelling);
	}
	if (!is_found)
		return ERROR_NOT_FOUND;
	if (program_is_supplied(program, caller))
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot contextualize: '%s' is a library function that '%s' calls (end the path "
				 "before it)",
				 name, program->supplied_path);
	if (program->supplied_path)
		return find_supplied(program, caller->unit, declaration, found, error);
	if (!is_last)
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot contextualize: '%s' has no source here, so its calls cannot be changed (end "
				 "the path with it, or read the project's own definition of it: --source FILE, or "
				 "--with FILE)",
				 name);
	if (path_depends_on_caller(program_text(program, program->clang->getCursorSpelling(declaration))))
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot contextualize: the result of '%s' depends on its caller, so no copy can "
				 "call it (end the path before it)",
				 name);
	*found = program_add_library(program, caller->unit, declaration);
	return *found == PROGRAM_NONE ? error_memory(error) : 0;
}

/* --- the reasons where no call is known --- */

/* Returns why a call of a clone does not give a parameter a function, or NULL. *usr is the function that the calls before passed, or NULL. */
static const char *obstacle_at(const struct copy_plan *plan, const struct plan_clone *caller,
			       const struct program_call *call, const struct plan_clone *clone, size_t index,
			       const char **usr)
{
	if (call->argument_count != copy_plan_function(plan, clone)->parameter_count)
		return "a call has another number of arguments than parameters";
	if (call->in_macro || call->arguments[index].in_macro)
		return "a macro makes the call, or passes the argument";
	struct plan_value value = value_of(plan, caller, &call->arguments[index]);
	if (value.kind != VALUE_FUNCTION)
		return "a call on the path passes something else than the name of a function";
	bool is_other = *usr && strcmp(*usr, value.usr) != 0;
	*usr = value.usr;
	return is_other ? "calls on the path pass different functions" : obstacle_of(plan, clone, index, value.usr);
}

/* Returns why the value of a clone's parameter is not known, or NULL. */
static const char *obstacle_on_path(const struct copy_plan *plan, const struct plan_clone *clone, size_t index)
{
	const char *usr = NULL, *obstacle = NULL;
	if (clone == plan->clones)
		return "its function is the first one of the path (begin with a caller)";
	for (size_t i = 0; i < plan->clone_count && !obstacle; i++) {
		const struct program_function *caller = copy_plan_function(plan, &plan->clones[i]);
		for (size_t k = 0; k < caller->call_count && !obstacle; k++)
			if (copy_plan_target(plan, &plan->clones[i], &caller->calls[k]) ==
			    (size_t)(clone - plan->clones))
				obstacle = obstacle_at(plan, &plan->clones[i], &caller->calls[k], clone, index, &usr);
	}
	return obstacle;
}

/* Returns why no call in the last function is known to lead to a function of this name. */
static const char *reason_of(const struct copy_plan *plan, const char *name)
{
	const struct program *program = plan->program;
	const struct plan_clone *clone = &plan->clones[plan->length - 1];
	const struct program_function *caller = copy_plan_function(plan, clone);
	struct path_choice choice = { .program = program, .name = name };
	struct error ignored = { 0 };
	size_t found = PROGRAM_NONE;
	for (size_t i = 0; i < program->function_count; i++)
		path_choice_offer(&choice, i);
	if (path_choice_take(&choice, &found, &ignored) == ERROR_NOT_FOUND)
		return "no source that was read defines it, and no call has this name";
	if (program->functions[found].refusal)
		return program->functions[found].refusal;
	for (size_t i = 0; i < caller->call_count; i++) {
		size_t parameter = caller->calls[i].parameter;
		const char *obstacle = parameter != PROGRAM_NONE && clone->values[parameter].kind != VALUE_FUNCTION
					       ? obstacle_on_path(plan, clone, parameter)
					       : NULL;
		if (obstacle)
			return instrument_arena_format(program->arena,
						       "the value of its parameter '%s' is not known: %s",
						       caller->parameters[parameter].name, obstacle);
	}
	return "calls through pointers are, where the path passes the function as an argument";
}

/* Finds the function that the last clone calls by this name. Adds a library function to the program. */
static int find_next(struct copy_plan *plan, const char *name, bool is_last, size_t *found, struct error *error)
{
	const struct plan_clone *clone = &plan->clones[plan->length - 1];
	const struct program_function *caller = copy_plan_function(plan, clone);
	struct path_choice choice = { .program = plan->program, .name = name };
	for (size_t i = 0; i < caller->call_count; i++) {
		CXCursor declaration;
		const char *usr = copy_plan_callee(plan, clone, &caller->calls[i], &declaration);
		size_t function = usr ? definition_of(plan->program, caller, usr) : PROGRAM_NONE;
		if (function != PROGRAM_NONE)
			path_choice_offer(&choice, function);
	}
	int code = path_choice_take(&choice, found, error);
	if (code == ERROR_NOT_FOUND)
		code = find_library(plan, name, is_last, found, error);
	return code == ERROR_NOT_FOUND && error->code == 0
		       ? error_set(error, code, "cannot contextualize: no call in '%s' is known to lead to '%s': %s",
				   copy_plan_function(plan, clone)->name, name, reason_of(plan, name))
		       : code;
}

static int resolve(struct copy_plan *plan, const char *const *names, size_t length, struct error *error)
{
	if (length < 2 || length > COPY_PATH_MAX)
		return error_set(error, ERROR_USAGE, "a path to contextualize has from 2 to %d functions",
				 COPY_PATH_MAX);
	for (size_t i = 0; i < length; i++) {
		size_t function = PROGRAM_NONE;
		int code = i == 0 ? find_first(plan, names[0], &function, error)
				  : find_next(plan, names[i], i + 1 == length, &function, error);
		if (code < 0)
			return code;
		plan->names[i] = function;
		bool is_repeated = position(plan, plan->program->functions[function].usr) != PROGRAM_NONE;
		if (is_repeated && i + 1 == length && plan->length >= 2)
			return 0; /* a recursive call, which the copies of the path so far contain */
		if (is_repeated)
			return error_set(error, ERROR_USAGE,
					 "cannot contextualize: '%s' is twice in the path (a recursive call returns "
					 "to its first occurrence: leave out the functions in between)",
					 names[i]);
		plan->clone_count = plan->length; /* those off the path are found again */
		code = add_clone(plan, function, i, true);
		plan->length++;
		if (code == 0)
			code = resolve_values(plan);
		if (code < 0)
			return error_set(error, code, "%s", error_text(code));
	}
	return 0;
}

/* --- checks and names --- */

/* Marks the clones that f0 reaches, and sets the first caller of each. */
static void mark_used(struct copy_plan *plan, size_t index)
{
	plan->clones[index].is_used = true;
	const struct program_function *function = copy_plan_function(plan, &plan->clones[index]);
	for (size_t i = 0; i < function->call_count; i++) {
		size_t target = copy_plan_target(plan, &plan->clones[index], &function->calls[i]);
		if (target == PROGRAM_NONE || plan->clones[target].is_used)
			continue;
		plan->clones[target].first_caller = index;
		mark_used(plan, target);
	}
}

static const char *refusal_of(const struct program *program, const struct program_function *function)
{
	if (function->refusal || function->file == PROGRAM_NONE)
		return function->refusal;
	return program_symbol_of(program, function).refusal;
}

/* A copy in front of one of its callers is static: callers in other files cannot call it. */
static int check_hosts(const struct copy_plan *plan, struct error *error)
{
	for (size_t i = 0; i < plan->clone_count; i++) {
		const struct program_function *function = copy_plan_function(plan, &plan->clones[i]);
		for (size_t k = 0; plan->clones[i].is_used && k < function->call_count; k++) {
			size_t target = copy_plan_target(plan, &plan->clones[i], &function->calls[k]);
			size_t host = target == PROGRAM_NONE ? i : copy_plan_host(plan, target);
			if (host != i && host != target &&
			    copy_plan_function(plan, &plan->clones[host])->file !=
				    copy_plan_function(plan, &plan->clones[copy_plan_host(plan, i)])->file)
				return error_set(error, ERROR_UNSUPPORTED,
						 "cannot contextualize: functions of two files call '%s' on the path, "
						 "which has no source in the program",
						 copy_plan_function(plan, &plan->clones[target])->name);
		}
	}
	return 0;
}

struct reference_count {
	const struct program *program;
	size_t unit, count;
	const char *usr, *name;
	bool is_text; /* a macro makes a text of the name: the text would have the name of the copy */
};

static enum CXChildVisitResult count_reference(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct reference_count *search = data;
	const struct program *program = search->program;
	const struct clang *clang = program->clang;
	int kind = clang->getCursorKind(cursor);
	(void)parent;
	const char *text = kind == CXCursor_StringLiteral || kind == CXCursor_CallExpr
				   ? program_text(program, clang->getCursorSpelling(cursor))
				   : "";
	if (kind == CXCursor_CallExpr && strcmp(text, "__assert_fail") == 0)
		return CXChildVisit_Continue; /* where an assertion fails, the name of the copy is correct */
	if (kind == CXCursor_StringLiteral && clang_is_in_macro(clang->getCursorLocation(cursor)))
		search->is_text |= lexing_find(text + (*text == '"'), text + strlen(text), search->name) != NULL;
	if (kind != CXCursor_DeclRefExpr)
		return CXChildVisit_Recurse;
	CXCursor declaration = clang->getCursorReferenced(cursor);
	search->count += clang->getCursorKind(declaration) == CXCursor_FunctionDecl &&
			 strcmp(program_usr(program, search->unit, declaration), search->usr) == 0;
	return CXChildVisit_Recurse;
}

/* Returns whether a macro can rename the called function for the whole text of the caller (copy_text.c): in C, where nothing else has this
 * name, and where the text only calls it. */
static bool can_rename(const struct copy_plan *plan, const struct plan_clone *clone, const struct program_call *call)
{
	const struct program *program = plan->program;
	const struct program_function *function = copy_plan_function(plan, clone);
	size_t calls = 0;
	if (program->units[function->unit].is_cxx || !call->usr)
		return false;
	struct reference_count search = { .program = program, .unit = function->unit, .usr = call->usr };
	search.name = program_text(program, program->clang->getCursorSpelling(call->callee));
	program->clang->visitChildren(function->cursor, count_reference, &search);
	for (size_t i = 0; i < function->call_count; i++)
		calls += function->calls[i].usr && strcmp(function->calls[i].usr, call->usr) == 0;
	return search.count == calls && !search.is_text && !program_has_macro(program, function->unit, search.name);
}

static int check(const struct copy_plan *plan, struct error *error)
{
	for (size_t i = 0; i < plan->clone_count; i++) {
		const struct plan_clone *clone = &plan->clones[i];
		const struct program_function *function = copy_plan_function(plan, clone);
		if (!clone->is_used)
			continue;
		const char *refusal = i > 0 ? refusal_of(plan->program, function) : NULL;
		if (refusal)
			return error_set(error, ERROR_UNSUPPORTED,
					 "cannot contextualize: no copy of '%s' is possible: %s", function->name,
					 refusal);
		for (size_t k = 0; k < function->call_count; k++) {
			const struct program_call *call = &function->calls[k];
			size_t target = call->in_macro ? copy_plan_target(plan, clone, call) : PROGRAM_NONE;
			if (target == PROGRAM_NONE || can_rename(plan, clone, call))
				continue;
			return error_set(error, ERROR_UNSUPPORTED,
					 "cannot contextualize: the call of '%s' in '%s' comes from a macro",
					 copy_plan_function(plan, &plan->clones[target])->name, function->name);
		}
	}
	return 0;
}

/* Returns whether a copy can be static although another file calls it: an inline function of C, which that file includes. No object would
 * have the copy of such a function as it is. */
static bool is_included(const struct copy_plan *plan, const struct program_function *caller,
			const struct program_function *callee)
{
	const struct program *program = plan->program;
	return callee->is_inline && !program->units[callee->unit].is_cxx &&
	       program_defined(program, caller->unit, callee->usr);
}

/* A copy that only its own file calls is static: the compiler may then inline it as if it were written there. */
static void find_static(struct copy_plan *plan)
{
	for (size_t i = 1; i < plan->clone_count; i++)
		plan->clones[i].is_static = true;
	for (size_t i = 0; i < plan->clone_count; i++) {
		const struct program_function *function = copy_plan_function(plan, &plan->clones[i]);
		for (size_t k = 0; plan->clones[i].is_used && k < function->call_count; k++) {
			size_t target = copy_plan_target(plan, &plan->clones[i], &function->calls[k]);
			if (target == PROGRAM_NONE)
				continue;
			const struct program_function *callee = copy_plan_function(plan, &plan->clones[target]);
			const struct program_function *host =
				copy_plan_function(plan, &plan->clones[copy_plan_host(plan, i)]);
			if (copy_plan_host(plan, target) == target && callee->file != host->file &&
			    !is_included(plan, host, callee))
				plan->clones[target].is_static = false;
		}
	}
}

/* Refuses inline functions of C whose copy no object would have: another file calls it, and does not include it. */
static int check_inline(const struct copy_plan *plan, struct error *error)
{
	for (size_t i = 1; i < plan->clone_count; i++) {
		const struct plan_clone *clone = &plan->clones[i];
		const struct program_function *function = copy_plan_function(plan, clone);
		if (clone->is_used && !clone->is_static && function->is_inline && !function->has_storage &&
		    !plan->program->units[function->unit].is_cxx)
			return error_set(error, ERROR_UNSUPPORTED,
					 "cannot contextualize: no copy of '%s' is possible: it is inline, and a "
					 "caller in another file does not include it",
					 function->name);
	}
	return 0;
}

int copy_plan_make(struct copy_plan *plan, struct program *program, const char *const *names, size_t length,
		   struct error *error)
{
	*plan = (struct copy_plan){ .program = program };
	int code = resolve(plan, names, length, error);
	if (code < 0)
		return code;
	mark_used(plan, 0);
	code = check(plan, error);
	if (code == 0)
		code = check_hosts(plan, error);
	if (code < 0)
		return code;
	code = copy_names_choose(plan);
	if (code < 0)
		return error_set(error, code, "%s", error_text(code));
	find_static(plan);
	return check_inline(plan, error);
}

void copy_plan_release(struct copy_plan *plan)
{
	free(plan->clones);
	*plan = (struct copy_plan){ 0 };
}
