#include "collect/source/contextualize/copy_plan.h"

#include <ctype.h>
#include <string.h>

#include "base/buffer.h"
#include "collect/source/instrument/lexing.h"

/* --- lists of parameters and arguments --- */

struct list_item {
	uint32_t start, end;
	bool is_removed;
};

/* Removes items with the commas between them and the others. */
static void remove_items(struct edits *edits, uint32_t base, const struct list_item *items, size_t count)
{
	bool is_behind_kept = false;
	for (size_t i = 0; i < count; i++) {
		if (!items[i].is_removed) {
			is_behind_kept = true;
			continue;
		}
		uint32_t start = is_behind_kept ? items[i - 1].end : items[i].start;
		uint32_t end = !is_behind_kept && i + 1 < count ? items[i + 1].start : items[i].end;
		edits_replace(edits, start - base, end - start, "");
	}
}

static bool is_constant(const struct plan_clone *clone, size_t parameter)
{
	return clone->values[parameter].kind == VALUE_FUNCTION;
}

/* Default arguments of C++, which are the last ones, are not in the text behind the name. */
static size_t written_arguments(const struct program_call *call)
{
	size_t count = call->argument_count;
	while (count > 0 && call->arguments[count - 1].end <= call->at)
		count--;
	return count;
}

static void remove_arguments(const struct copy_plan *plan, const struct plan_clone *target,
			     const struct program_call *call, struct edits *edits, uint32_t base)
{
	size_t count = written_arguments(call);
	struct list_item *items = instrument_arena_take(plan->program->arena, (count + 1) * sizeof(*items));
	for (size_t i = 0; items && i < count; i++)
		items[i] = (struct list_item){ call->arguments[i].start, call->arguments[i].end,
					       i < copy_plan_function(plan, target)->parameter_count &&
						       is_constant(target, i) };
	if (items)
		remove_items(edits, base, items, count);
}

/* Removes the constant parameters from a declaration. An empty list is `void` in C. */
static void remove_parameters(const struct copy_plan *plan, const struct plan_clone *clone, size_t unit,
			      CXCursor declaration, struct edits *edits, uint32_t base)
{
	const struct program *program = plan->program;
	size_t count = copy_plan_function(plan, clone)->parameter_count, removed = 0, file;
	struct list_item *items = instrument_arena_take(program->arena, (count + 1) * sizeof(*items));
	for (size_t i = 0; items && i < count; i++) {
		program_range(program, unit, program->clang->Cursor_getArgument(declaration, (unsigned)i), &file,
			      &items[i].start, &items[i].end);
		items[i].is_removed = is_constant(clone, i);
		removed += items[i].is_removed;
	}
	if (!items || removed == 0)
		return;
	if (removed < count)
		remove_items(edits, base, items, count);
	else
		edits_replace(edits, items[0].start - base, items[count - 1].end - items[0].start,
			      program->units[unit].is_cxx ? "" : "void");
}

/* --- calls --- */

/* Returns "ns::f_1", for a place where the original was not named. */
static const char *qualified_name(const struct copy_plan *plan, const struct plan_clone *clone)
{
	const struct program_function *function = copy_plan_function(plan, clone);
	return instrument_arena_format(plan->program->arena, "%.*s%s",
				       (int)(strlen(function->qualified) - strlen(function->name)), function->qualified,
				       clone->name);
}

/* Returns the constant function that a call through a parameter calls, if the copy names it there, or NULL. */
static const char *direct_name(const struct copy_plan *plan, const struct plan_clone *clone,
			       const struct program_call *call)
{
	const struct program *program = plan->program;
	CXCursor declaration;
	bool is_cxx = program->units[copy_plan_function(plan, clone)->unit].is_cxx;
	if (call->parameter == PROGRAM_NONE || is_cxx || !copy_plan_callee(plan, clone, call, &declaration))
		return NULL;
	return program_qualified(program, declaration);
}

void copy_text_calls(const struct copy_plan *plan, const struct plan_clone *clone, struct edits *edits, uint32_t base)
{
	const struct program_function *function = copy_plan_function(plan, clone);
	for (size_t i = 0; i < function->call_count; i++) {
		const struct program_call *call = &function->calls[i];
		size_t target = copy_plan_target(plan, clone, call);
		const char *name = direct_name(plan, clone, call);
		if (call->in_macro)
			continue;
		if (target != PROGRAM_NONE) {
			edits_replace(edits, call->at - base, call->size,
				      call->parameter == PROGRAM_NONE ? plan->clones[target].name
								      : qualified_name(plan, &plan->clones[target]));
			remove_arguments(plan, &plan->clones[target], call, edits, base);
		} else if (name) {
			edits_replace(edits, call->at - base, call->size, name);
		}
	}
}

/* --- calls that come from macros --- */

/* Returns the name of the function that a macro renames for a call, or NULL. A function has one line for all its calls. */
static const char *renamed(const struct copy_plan *plan, const struct plan_clone *clone, size_t index)
{
	const struct program_function *function = copy_plan_function(plan, clone);
	const struct program_call *call = &function->calls[index];
	if (!call->in_macro || copy_plan_target(plan, clone, call) == PROGRAM_NONE)
		return NULL;
	for (size_t i = 0; i < index; i++)
		if (function->calls[i].in_macro && function->calls[i].usr &&
		    strcmp(function->calls[i].usr, call->usr) == 0)
			return NULL;
	return program_text(plan->program, plan->program->clang->getCursorSpelling(call->callee));
}

void copy_text_defines(const struct copy_plan *plan, const struct plan_clone *clone, struct buffer *lines)
{
	const struct program_function *function = copy_plan_function(plan, clone);
	for (size_t i = 0; i < function->call_count; i++) {
		const char *name = renamed(plan, clone, i);
		if (name)
			buffer_printf(lines, "#define %s %s\n", name,
				      plan->clones[copy_plan_target(plan, clone, &function->calls[i])].name);
	}
}

void copy_text_undefs(const struct copy_plan *plan, const struct plan_clone *clone, struct buffer *lines)
{
	const struct program_function *function = copy_plan_function(plan, clone);
	for (size_t i = 0; i < function->call_count; i++) {
		const char *name = renamed(plan, clone, i);
		if (name)
			buffer_printf(lines, "#undef %s\n", name);
	}
}

/* --- the body --- */

/* Returns whether the copy does not have this use of a parameter: the call has another name there, or no such argument. */
static bool is_replaced(const struct copy_plan *plan, const struct plan_clone *clone, const struct program_use *use)
{
	const struct program_function *function = copy_plan_function(plan, clone);
	for (size_t i = 0; i < function->call_count; i++) {
		const struct program_call *call = &function->calls[i];
		size_t target = copy_plan_target(plan, clone, call);
		if (call->at == use->at && !call->in_macro &&
		    (target != PROGRAM_NONE || direct_name(plan, clone, call)))
			return true;
		for (size_t k = 0; target != PROGRAM_NONE && k < call->argument_count; k++)
			if (k < copy_plan_function(plan, &plan->clones[target])->parameter_count &&
			    is_constant(&plan->clones[target], k) && call->arguments[k].start <= use->at &&
			    use->at < call->arguments[k].end)
				return true;
	}
	return false;
}

/* Returns "\n\t", the text between the `{` and its first statement, or " " if both are in one line. */
static const char *indentation(const struct copy_plan *plan, const struct program_function *function)
{
	const char *text = plan->program->files[function->file].text;
	uint32_t at = function->open + 1, line = at;
	for (; at < function->end && isspace((unsigned char)text[at]); at++)
		if (text[at] == '\n')
			line = at;
	if (text[line] != '\n')
		return " ";
	return instrument_arena_text(plan->program->arena, text + line, at - line);
}

/* Declares variables for the constant parameters that the body still names. */
static void add_variables(const struct copy_plan *plan, const struct plan_clone *clone, struct edits *edits)
{
	const struct program *program = plan->program;
	const struct program_function *function = copy_plan_function(plan, clone);
	const char *text = program->files[function->file].text;
	for (size_t i = 0; i < function->parameter_count; i++) {
		bool is_named = false;
		for (size_t k = 0; k < function->use_count; k++)
			is_named |= function->uses[k].parameter == i && !is_replaced(plan, clone, &function->uses[k]);
		if (!is_constant(clone, i) || !is_named)
			continue;
		const struct program_parameter *parameter = &function->parameters[i];
		edits_insert(edits, function->open + 1 - function->start,
			     instrument_arena_format(program->arena, "%s%.*s = %s%s;", indentation(plan, function),
						     (int)(parameter->end - parameter->start), text + parameter->start,
						     program->units[function->unit].is_cxx ? "::" : "",
						     program_qualified(program, clone->values[i].function)));
	}
}

/* --- the texts --- */

static const char *applied(const struct copy_plan *plan, struct edits *edits, const char *text, size_t size)
{
	struct buffer buffer;
	buffer_init(&buffer);
	const char *kept =
		edits_apply(edits, text, size, &buffer) == 0
			? instrument_arena_text(plan->program->arena, (const char *)buffer.bytes, buffer.size)
			: NULL;
	buffer_release(&buffer);
	edits_release(edits);
	return kept;
}

/* Appends a parameter, as "int (*f)(int)": its name is in the middle of some types. */
static void append_parameter(struct buffer *text, const struct program_parameter *parameter, const char *name)
{
	const char *inner = strstr(parameter->type, "(*"), *array = strchr(parameter->type, '[');
	size_t at = inner   ? (size_t)(inner - parameter->type) + 2
		    : array ? (size_t)(array - parameter->type)
			    : strlen(parameter->type);
	bool is_glued = inner || (at > 0 && parameter->type[at - 1] == '*');
	buffer_append(text, parameter->type, at);
	buffer_printf(text, "%s%s%s", is_glued ? "" : " ", name, parameter->type + at);
}

/* Returns the name of a library's parameter, "base" for "__base", or "pN". */
static const char *parameter_name(const struct copy_plan *plan, const struct program_parameter *parameter, size_t index)
{
	const char *name = parameter->name + strspn(parameter->name, "_");
	return *name ? name : instrument_arena_format(plan->program->arena, "p%zu", index);
}

static bool is_void(const struct copy_plan *plan, const struct program_function *function)
{
	const struct clang *clang = plan->program->clang;
	return clang->getCanonicalType(clang->getCursorResultType(function->cursor)).kind == CXType_Void;
}

/* Returns the copy of a function without a source: it calls the original, and can be replaced. */
static const char *library_text(const struct copy_plan *plan, const struct plan_clone *clone)
{
	struct program *program = plan->program;
	const struct program_function *function = copy_plan_function(plan, clone);
	CXType result = program->clang->getCursorResultType(function->cursor);
	const char *type = program_text(program, program->clang->getTypeSpelling(result));
	size_t length = strlen(type), left = 0;
	struct buffer text;
	buffer_init(&text);
	buffer_printf(&text, "static %s%s%s(", type, length > 0 && type[length - 1] == '*' ? "" : " ", clone->name);
	for (size_t i = 0; i < function->parameter_count; i++) {
		if (is_constant(clone, i))
			continue;
		buffer_append_string(&text, left++ > 0 ? ", " : "");
		append_parameter(&text, &function->parameters[i], parameter_name(plan, &function->parameters[i], i));
	}
	buffer_append_string(&text, left == 0 && !program->units[function->unit].is_cxx ? "void" : "");
	buffer_printf(&text, ")\n{\n\t%s%s(", is_void(plan, function) ? "" : "return ", function->name);
	for (size_t i = 0; i < function->parameter_count; i++) {
		const char *constant = is_constant(clone, i) ? program_qualified(program, clone->values[i].function)
							     : parameter_name(plan, &function->parameters[i], i);
		buffer_printf(&text, "%s%s", i > 0 ? ", " : "", constant);
	}
	buffer_append_string(&text, ");\n}");
	const char *kept = buffer_error(&text) < 0
				   ? NULL
				   : instrument_arena_text(program->arena, (const char *)text.bytes, text.size);
	buffer_release(&text);
	return kept;
}

/* Returns the size of a function's name in the text, where a macro may stand for it. */
static uint32_t name_size(const char *text, const char *end, const char *name)
{
	struct lexing_token word = lexing_next(text, end);
	return (uint32_t)(strncmp(text, name, strlen(name)) == 0 ? strlen(name) : word.size);
}

/* Edits the head of a declaration, whose text [size] begins at `base`. */
static void edit_head(const struct copy_plan *plan, const struct plan_clone *clone, size_t unit, CXCursor declaration,
		      struct edits *edits, uint32_t base, const char *text, size_t size)
{
	const struct program *program = plan->program;
	const struct program_function *function = copy_plan_function(plan, clone);
	unsigned at = 0;
	program->clang->getFileLocation(program->clang->getCursorLocation(declaration), NULL, NULL, NULL, &at);
	if (clone->is_static && !function->has_storage && !function->is_method)
		edits_insert(edits, 0, "static ");
	edits_replace(edits, at - base, name_size(text + (at - base), text + size, function->name), clone->name);
	remove_parameters(plan, clone, unit, declaration, edits, base);
}

/* Returns how many bytes of a function's line precede it, if they are words: macros that are empty here. Where another file includes the header,
 * they may be `static inline`, without which each of the files would define the copy. */
static uint32_t words_before(const char *text, uint32_t start)
{
	uint32_t first = start;
	while (first > 0 && (isalnum((unsigned char)text[first - 1]) || strchr("_ \t", text[first - 1])))
		first--;
	bool is_line = first == 0 || text[first - 1] == '\n';
	while (first < start && isblank((unsigned char)text[first]))
		first++;
	return is_line ? start - first : 0;
}

const char *copy_text(const struct copy_plan *plan, const struct plan_clone *clone)
{
	const struct program_function *function = copy_plan_function(plan, clone);
	struct edits edits;
	if (function->file == PROGRAM_NONE)
		return library_text(plan, clone);
	edits_init(&edits);
	const char *text = plan->program->files[function->file].text + function->start;
	size_t size = function->end - function->start;
	edit_head(plan, clone, function->unit, function->cursor, &edits, function->start, text, size);
	add_variables(plan, clone, &edits);
	copy_text_calls(plan, clone, &edits, function->start);
	text = applied(plan, &edits, text, size);
	const char *whole = plan->program->files[function->file].text + function->start;
	uint32_t words =
		clone->is_static ? 0 : words_before(plan->program->files[function->file].text, function->start);
	if (text && words > 0)
		text = instrument_arena_format(plan->program->arena, "%.*s%s", (int)words, whole - words, text);
	struct buffer lines;
	buffer_init(&lines);
	copy_text_defines(plan, clone, &lines);
	if (!text || lines.size == 0)
		return text;
	buffer_printf(&lines, "%s\n", text);
	copy_text_undefs(plan, clone, &lines);
	text = buffer_error(&lines) < 0
		       ? NULL
		       : instrument_arena_text(plan->program->arena, (const char *)lines.bytes, lines.size);
	buffer_release(&lines);
	return text;
}

const char *copy_text_declaration(const struct copy_plan *plan, const struct plan_clone *clone, size_t unit,
				  CXCursor declaration)
{
	const struct program *program = plan->program;
	CXSourceRange range = program->clang->getCursorExtent(declaration);
	CXFile file = NULL, last = NULL;
	unsigned start = 0, end = 0;
	size_t size = 0;
	struct edits edits;
	program->clang->getFileLocation(program->clang->getRangeStart(range), &file, NULL, NULL, &start);
	program->clang->getFileLocation(program->clang->getRangeEnd(range), &last, NULL, NULL, &end);
	const char *text = file ? program->clang->getFileContents(program->units[unit].unit, file, &size) : NULL;
	const struct program_function *function = copy_plan_function(plan, clone);
	if (program->clang->isCursorDefinition(declaration) && function->file != PROGRAM_NONE)
		end = function->open;
	while (text && end > start && isspace((unsigned char)text[end - 1]))
		end--;
	if (!text || file != last || end > size || start >= end)
		return NULL;
	edits_init(&edits);
	edit_head(plan, clone, unit, declaration, &edits, start, text + start, end - start);
	return applied(plan, &edits, text + start, end - start);
}
