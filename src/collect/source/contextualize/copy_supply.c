/*
 * The text of the supplied file, as a part of another file:
 *
 *     #include <stddef.h>                                   stays
 *     static void swap(char *a, char *b) { ... }            static void swap_1(char *a, char *b) { ... }
 *     void qsort(void *base, ..., int (*less)(...))         static void qsort_1(void *base, ...)
 *     void sort_lines(...) { ... }                          left out: the path does not use it
 *     #define STEP 4                                        stays, with an #undef at the end
 *
 * A text with a different meaning there is refused: one that macros of the other file change, or that changes macros, variables or
 * pragmas of the other file. A declaration that is there already is left out: another copy for another path brought it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "collect/source/contextualize/copy_plan.h"
#include "collect/source/contextualize/lines.h"
#include "collect/source/instrument/lexing.h"

struct supply {
	const struct copy_plan *plan;
	struct program *program;
	const struct program_file *file;
	size_t host; /* its clone */
	struct edits edits;
	struct buffer macros; /* the lines with #undef */
	uint32_t last_start;  /* of the declaration before; UINT32_MAX: none */
	uint32_t at;          /* where the text is inserted in the host's file */
	struct error *error;  /* of the first refusal */
};

static void refuse(struct supply *supply, const char *problem, const char *name, const char *more)
{
	if (supply->error->code == 0)
		error_set(supply->error, ERROR_UNSUPPORTED, "cannot contextualize: '%s' cannot be copied: %s '%s'%s",
			  supply->program->supplied_path, problem, name, more);
}

static const char *name_of(const struct supply *supply, CXCursor cursor)
{
	return program_text(supply->program, supply->program->clang->getCursorSpelling(cursor));
}

/* Returns the function of the supplied file that a declaration means, or PROGRAM_NONE. */
static size_t function_of(const struct supply *supply, CXCursor declaration)
{
	const struct program *program = supply->program;
	int kind = program->clang->getCursorKind(declaration);
	size_t found = kind == CXCursor_FunctionDecl
			       ? program_find(program, program_usr(program, program->supplied_unit, declaration))
			       : PROGRAM_NONE;
	return found != PROGRAM_NONE && program_is_supplied(program, &program->functions[found]) ? found : PROGRAM_NONE;
}

/* --- references --- */

/* Returns whether a clone's text has no name at this place: a call of a copy has the copy's name, and constant arguments are left out. */
static bool is_renamed(const struct supply *supply, const struct plan_clone *clone, uint32_t at)
{
	const struct copy_plan *plan = supply->plan;
	const struct program_function *function = copy_plan_function(plan, clone);
	for (size_t i = 0; i < function->call_count; i++) {
		const struct program_call *call = &function->calls[i];
		size_t target = copy_plan_target(plan, clone, call);
		if (target == PROGRAM_NONE)
			continue;
		if (call->at == at)
			return true;
		const struct plan_clone *called = &plan->clones[target];
		for (size_t k = 0; k < call->argument_count && k < copy_plan_function(plan, called)->parameter_count;
		     k++)
			if (called->values[k].kind == VALUE_FUNCTION && call->arguments[k].start <= at &&
			    at < call->arguments[k].end)
				return true;
	}
	return false;
}

/* Returns whether a clone calls a function from a macro, where it has the name of its copy. */
static bool is_called(const struct supply *supply, const struct plan_clone *clone, CXCursor declaration)
{
	const struct program_function *function = copy_plan_function(supply->plan, clone);
	const char *usr = program_usr(supply->program, supply->program->supplied_unit, declaration);
	for (size_t i = 0; i < function->call_count; i++)
		if (function->calls[i].in_macro && function->calls[i].usr && strcmp(function->calls[i].usr, usr) == 0)
			return copy_plan_target(supply->plan, clone, &function->calls[i]) != PROGRAM_NONE;
	return false;
}

struct reference_search {
	struct supply *supply;
	const struct plan_clone *clone; /* NULL: a declaration at file level */
};

static enum CXChildVisitResult find_reference(CXCursor cursor, CXCursor parent, CXClientData data)
{
	const struct reference_search *search = data;
	struct supply *supply = search->supply;
	const struct clang *clang = supply->program->clang;
	(void)parent;
	if (clang->getCursorKind(cursor) != CXCursor_DeclRefExpr)
		return CXChildVisit_Recurse;
	CXCursor declaration = clang->getCursorReferenced(cursor);
	if (function_of(supply, declaration) == PROGRAM_NONE)
		return CXChildVisit_Recurse;
	CXSourceLocation location = clang->getCursorLocation(cursor);
	unsigned at = 0;
	clang->getFileLocation(location, NULL, NULL, NULL, &at);
	bool is_macro = clang_is_in_macro(location);
	if (!search->clone ||
	    (is_macro ? !is_called(supply, search->clone, declaration) : !is_renamed(supply, search->clone, at)))
		refuse(supply, "it uses the function", name_of(supply, declaration),
		       " by a macro, or otherwise than by a call");
	return CXChildVisit_Recurse;
}

static void check_references(struct supply *supply, CXCursor cursor, const struct plan_clone *clone)
{
	struct reference_search search = { supply, clone };
	supply->program->clang->visitChildren(cursor, find_reference, &search);
}

/* --- declarations --- */

/* Replaces a part of the file by the copies' texts, or their declarations. Without a text, it is left out with its comment and its line. */
static void replace(struct supply *supply, uint32_t start, uint32_t end, const struct buffer *copies)
{
	const char *text = supply->file->text;
	uint32_t size = (uint32_t)supply->file->size;
	const char *kept = instrument_arena_text(supply->program->arena,
						 copies->size ? (const char *)copies->bytes : "", copies->size);
	if (copies->size == 0) {
		start = lines_first(text, start);
		while (end < size && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r'))
			end++;
		/* The empty line behind it goes with it. */
		for (int i = 0; i < 2 && end < size && text[end] == '\n'; i++)
			end++;
	}
	edits_replace(&supply->edits, start, end - start, kept);
}

/* Returns whether a declaration begins its line: libclang's range begins behind attributes, which would stay. */
static bool begins_line(const struct supply *supply, uint32_t start)
{
	const char *text = supply->file->text;
	uint32_t line = lines_start(text, start), first = lines_first(text, start);
	while (first > 0 && strchr(" \t\r\n", text[first - 1]))
		first--;
	uint32_t before = lines_start(text, first);
	bool is_behind_directive = text[before + strspn(text + before, " \t")] == '#';
	return strspn(text + line, " \t") >= start - line &&
	       (first == 0 || is_behind_directive || strchr(";}/", text[first - 1]));
}

static void take_definition(struct supply *supply, CXCursor cursor, size_t function, uint32_t start, uint32_t end)
{
	const struct copy_plan *plan = supply->plan;
	struct buffer copies;
	bool has_directives = false;
	buffer_init(&copies);
	for (size_t i = 1; i < plan->clone_count; i++) {
		if (!plan->clones[i].is_used || plan->clones[i].function != function)
			continue;
		const char *text = copy_text(plan, &plan->clones[i]);
		check_references(supply, cursor, &plan->clones[i]);
		buffer_printf(&copies, "%s%s", copies.size > 0 ? "\n\n" : "", text ? text : "");
		has_directives |= text && *text == '#';
	}
	if (has_directives && copies.bytes[copies.size - 1] == '\n' && supply->file->text[end] == '\n')
		copies.size--;
	if ((copies.size == 0 || has_directives) && !begins_line(supply, start))
		refuse(supply, "the function", name_of(supply, cursor), " does not begin at the start of a line");
	replace(supply, start, end, &copies);
	if (buffer_error(&copies) < 0)
		supply->edits.error = ERROR_MEMORY;
	buffer_release(&copies);
}

static void take_declaration(struct supply *supply, CXCursor cursor, size_t function, uint32_t start, uint32_t end)
{
	const struct copy_plan *plan = supply->plan;
	const char *text = supply->file->text, *stop = text + supply->file->size;
	struct lexing_token next = lexing_next(text + end, stop);
	struct buffer copies;
	if (!lexing_is(&next, ";") || start == supply->last_start || !begins_line(supply, start)) {
		refuse(supply, "a declaration of", name_of(supply, cursor), " is not one alone in its line");
		return;
	}
	supply->last_start = start;
	buffer_init(&copies);
	for (size_t i = 1; i < plan->clone_count; i++) {
		if (!plan->clones[i].is_used || plan->clones[i].function != function)
			continue;
		const char *copy =
			copy_text_declaration(plan, &plan->clones[i], supply->program->supplied_unit, cursor);
		buffer_printf(&copies, "%s%s;", copies.size > 0 ? "\n" : "", copy ? copy : "");
	}
	replace(supply, start, (uint32_t)(next.start + 1 - text), &copies);
	if (buffer_error(&copies) < 0)
		supply->edits.error = ERROR_MEMORY;
	buffer_release(&copies);
}

static void take_function(struct supply *supply, CXCursor cursor, uint32_t start, uint32_t end, bool is_plain)
{
	const struct program *program = supply->program;
	size_t function = function_of(supply, cursor);
	bool is_definition = program->clang->isCursorDefinition(cursor);
	if (function == PROGRAM_NONE && is_definition)
		refuse(supply, "the sources define the function, too:", name_of(supply, cursor), "");
	if (function == PROGRAM_NONE)
		return;
	if (!is_plain || clang_is_in_macro(program->clang->getCursorLocation(cursor)))
		refuse(supply, "a macro makes the function", name_of(supply, cursor), "");
	else if (is_definition)
		take_definition(supply, cursor, function, start, end);
	else
		take_declaration(supply, cursor, function, start, end);
}

/* Leaves out a declaration that the host's file has in front of the text already. Returns whether it did. */
static bool leave_out(struct supply *supply, uint32_t start, uint32_t end)
{
	const struct copy_plan *plan = supply->plan;
	const struct program_function *host = copy_plan_function(plan, &plan->clones[supply->host]);
	const char *text = supply->file->text, *there = supply->program->files[host->file].text;
	struct lexing_token next = lexing_next(text + end, text + supply->file->size);
	const struct buffer none = { 0 };
	if (!lexing_is(&next, ";") || !begins_line(supply, start))
		return false;
	end = (uint32_t)(next.start + 1 - text);
	if (!memmem(there, supply->at, text + start, end - start))
		return false;
	replace(supply, start, end, &none);
	return true;
}

static void take_variable(struct supply *supply, CXCursor cursor, uint32_t start, uint32_t end, bool is_plain)
{
	const struct program *program = supply->program;
	const struct clang *clang = program->clang;
	enum CX_StorageClass storage = clang->Cursor_getStorageClass(cursor);
	const char *name = name_of(supply, cursor);
	check_references(supply, cursor, NULL);
	/* Two constants of one text are one constant. Another variable would be shared with code that does not know of it. */
	bool is_constant = is_plain && storage == CX_SC_Static &&
			   clang->isConstQualifiedType(clang->getCanonicalType(clang->getCursorType(cursor)));
	if (storage == CX_SC_Extern || (is_constant && leave_out(supply, start, end)))
		return;
	if (storage != CX_SC_Static)
		refuse(supply, "it defines the variable", name, ", which is not static");
	else if (copy_names_are_declared(
			 program, copy_plan_function(supply->plan, &supply->plan->clones[supply->host])->unit, name))
		refuse(supply, "its caller's file has a name of its static variable:", name, "");
}

static enum CXChildVisitResult take(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct supply *supply = data;
	const struct program *program = supply->program;
	size_t file;
	uint32_t start, end;
	(void)parent;
	bool is_plain = program_range(program, program->supplied_unit, cursor, &file, &start, &end);
	if (file != program->supplied_file)
		return CXChildVisit_Continue;
	switch ((int)program->clang->getCursorKind(cursor)) {
	case CXCursor_FunctionDecl:
		take_function(supply, cursor, start, end, is_plain);
		break;
	case CXCursor_VarDecl:
		take_variable(supply, cursor, start, end, is_plain);
		break;
	case CXCursor_StructDecl:
	case CXCursor_UnionDecl:
	case CXCursor_EnumDecl:
	case CXCursor_TypedefDecl:
		if (is_plain)
			leave_out(supply, start, end);
		break;
	case CXCursor_UnexposedDecl:
		if (lexing_find(supply->file->text + start, supply->file->text + end, "asm") ||
		    lexing_find(supply->file->text + start, supply->file->text + end, "__asm__"))
			refuse(supply, "it has inline assembly outside of functions, as", "asm", "");
		break;
	default:
		break;
	}
	return CXChildVisit_Continue;
}

/* --- macros and other directives --- */

/* Returns whether a macro that the host's unit defines is defined where the text is inserted, as far as directives of the host's file
 * change it: `path` is the file that defines it. */
static bool is_active(const struct supply *supply, const char *name, const char *path)
{
	const struct copy_plan *plan = supply->plan;
	const struct program_file *file =
		&supply->program->files[copy_plan_function(plan, &plan->clones[supply->host])->file];
	const char *end = file->text + supply->at;
	bool is_defined = !path || strcmp(path_basename(path), path_basename(file->path)) != 0;
	for (const char *at = file->text; (at = lexing_find(at, end, name)); at += strlen(name)) {
		const char *line = file->text + lines_start(file->text, (uint32_t)(at - file->text));
		struct lexing_token first = lexing_next(line, end), second = lexing_next(first.start + first.size, end);
		bool is_directive = lexing_is(&first, "#") && lexing_next(second.start + second.size, end).start == at;
		if (is_directive && lexing_is(&second, "define"))
			is_defined = true;
		else if (is_directive && lexing_is(&second, "undef"))
			is_defined = false;
	}
	return is_defined;
}

struct macro_search {
	struct supply *supply;
	const char *name; /* in the supplied file's unit; NULL: all of the host's unit */
	const char *path; /* of the file that defines the macro */
	unsigned at;
	bool is_found;
};

/* Returns the name of a macro's file, or NULL if it has none: a macro of the compiler, or of the command line. */
static const char *macro_place(const struct supply *supply, CXCursor cursor, unsigned *at)
{
	const struct clang *clang = supply->program->clang;
	CXFile file = NULL;
	clang->getFileLocation(clang->getCursorLocation(cursor), &file, NULL, NULL, at);
	return file ? program_text(supply->program, clang->getFileName(file)) : NULL;
}

static enum CXChildVisitResult find_same_macro(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct macro_search *search = data;
	unsigned at = 0;
	(void)parent;
	if (search->supply->program->clang->getCursorKind(cursor) != CXCursor_MacroDefinition ||
	    strcmp(name_of(search->supply, cursor), search->name) != 0)
		return CXChildVisit_Continue;
	const char *path = macro_place(search->supply, cursor, &at);
	search->is_found |= path && strcmp(path, search->path) == 0 && at == search->at;
	return CXChildVisit_Continue;
}

/* Refuses a macro of the host's file that the supplied text names, and does not have from the same header. */
static enum CXChildVisitResult check_macro(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct supply *supply = data;
	const struct program *program = supply->program;
	const struct clang *clang = program->clang;
	struct macro_search same = { .supply = supply };
	(void)parent;
	if (clang->getCursorKind(cursor) != CXCursor_MacroDefinition ||
	    clang->Location_isInSystemHeader(clang->getCursorLocation(cursor)))
		return CXChildVisit_Continue;
	same.name = name_of(supply, cursor);
	same.path = macro_place(supply, cursor, &same.at);
	if (!same.path || !lexing_find(supply->file->text, supply->file->text + supply->file->size, same.name) ||
	    !is_active(supply, same.name, same.path))
		return CXChildVisit_Continue;
	clang->visitChildren(clang->getTranslationUnitCursor(program->units[program->supplied_unit].unit),
			     find_same_macro, &same);
	if (!same.is_found)
		refuse(supply, "its caller's file has a macro with a name of it:", same.name, "");
	return CXChildVisit_Continue;
}

static enum CXChildVisitResult find_macro(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct macro_search *search = data;
	unsigned at;
	(void)parent;
	search->is_found |= search->supply->program->clang->getCursorKind(cursor) == CXCursor_MacroDefinition &&
			    strcmp(name_of(search->supply, cursor), search->name) == 0 &&
			    is_active(search->supply, search->name, macro_place(search->supply, cursor, &at));
	return search->is_found ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* Ends a macro of the text at its end. Names that begin with an underscore select parts of system headers, which are included already. */
static void end_macro(struct supply *supply, const char *name)
{
	const struct program *program = supply->program;
	const struct copy_plan *plan = supply->plan;
	struct macro_search search = { .supply = supply, .name = name };
	size_t unit = copy_plan_function(plan, &plan->clones[supply->host])->unit;
	char *line;
	if (name[0] == '_' || asprintf(&line, "#undef %s\n", name) < 0)
		return;
	program->clang->visitChildren(program->clang->getTranslationUnitCursor(program->units[unit].unit), find_macro,
				      &search);
	if (search.is_found)
		refuse(supply, "its caller's file has the macro, too:", name, "");
	if (supply->macros.size == 0 || !memmem(supply->macros.bytes, supply->macros.size, line, strlen(line)))
		buffer_append_string(&supply->macros, line);
	free(line);
}

static bool has_macro(const struct supply *supply, const char *name)
{
	char line[288];
	snprintf(line, sizeof(line), "#undef %s\n", name);
	return supply->macros.size > 0 && memmem(supply->macros.bytes, supply->macros.size, line, strlen(line));
}

/* Refuses #include "x.h" where the host's file would include another file. */
static void check_include(struct supply *supply, const char *at)
{
	const struct copy_plan *plan = supply->plan;
	const struct program_function *host = copy_plan_function(plan, &plan->clones[supply->host]);
	const char *other = supply->program->files[host->file].path;
	const char *close = *at == '"' ? strchr(at + 1, '"') : NULL;
	char here[PATH_MAX], there[PATH_MAX], own[PATH_MAX], hosts[PATH_MAX];
	if (!close)
		return;
	int size = (int)(close - at - 1);
	const char *path = supply->file->path;
	snprintf(here, sizeof(here), "%.*s%.*s", (int)(path_basename(path) - path), path, size, at + 1);
	snprintf(there, sizeof(there), "%.*s%.*s", (int)(path_basename(other) - other), other, size, at + 1);
	const char *own_real = realpath(here, own), *other_real = realpath(there, hosts);
	if ((own_real || other_real) && (!own_real || !other_real || strcmp(own_real, other_real) != 0))
		refuse(supply, "its caller's file would include another file as",
		       instrument_arena_text(supply->program->arena, at + 1, (size_t)size), "");
}

static void take_directive(struct supply *supply, const struct lexing_token *directive, const char *end)
{
	struct lexing_token next = lexing_next(directive->start + directive->size, end);
	char name[256];
	snprintf(name, sizeof(name), "%.*s", (int)next.size, next.start);
	const char *argument = directive->start + directive->size;
	argument += strspn(argument, " \t");
	if (lexing_is(directive, "define"))
		end_macro(supply, name);
	else if (lexing_is(directive, "include"))
		check_include(supply, argument);
	else if (lexing_is(directive, "undef") && !has_macro(supply, name))
		refuse(supply, "it undefines a macro of another file:", name, "");
	else if (lexing_is(directive, "pragma") || lexing_is(directive, "line"))
		refuse(supply, "it has a directive for all that follows:", "#pragma", " or #line");
}

static void take_directives(struct supply *supply)
{
	const char *text = supply->file->text, *end = text + supply->file->size;
	for (struct lexing_token token = lexing_next(text, end); token.size;
	     token = lexing_next(token.start + token.size, end)) {
		uint32_t at = (uint32_t)(token.start - text), line = lines_start(text, at);
		if (lexing_is(&token, "_Pragma"))
			refuse(supply, "it has a directive for all that follows:", "_Pragma", "");
		if (!lexing_is(&token, "#") || strspn(text + line, " \t") < at - line)
			continue;
		struct lexing_token directive = lexing_next(token.start + 1, end);
		take_directive(supply, &directive, end);
	}
}

/* --- the text --- */

static const char *applied(struct supply *supply)
{
	const struct program_file *file = supply->file;
	struct buffer text;
	buffer_init(&text);
	int code = edits_apply(&supply->edits, file->text, file->size, &text);
	size_t size = text.size;
	while (size > 0 && strchr(" \t\r\n", ((const char *)text.bytes)[size - 1]))
		size--;
	text.size = size;
	if (supply->macros.size > 0) {
		buffer_append_string(&text, "\n\n");
		buffer_append(&text, supply->macros.bytes, supply->macros.size - 1);
	}
	bool failed = code < 0 || buffer_error(&text) < 0 || buffer_error(&supply->macros) < 0;
	const char *kept =
		failed ? NULL : instrument_arena_text(supply->program->arena, (const char *)text.bytes, text.size);
	buffer_release(&text);
	return kept;
}

const char *copy_supply_text(const struct copy_plan *plan, size_t host, struct error *error)
{
	struct program *program = plan->program;
	const struct clang *clang = program->clang;
	struct supply supply = { .plan = plan,
				 .program = program,
				 .file = &program->files[program->supplied_file],
				 .host = host,
				 .last_start = UINT32_MAX,
				 .error = error };
	const struct program_function *caller = copy_plan_function(plan, &plan->clones[host]);
	size_t unit = caller->unit;
	supply.at = host == 0 ? caller->start : caller->end;
	edits_init(&supply.edits);
	buffer_init(&supply.macros);
	clang->visitChildren(clang->getTranslationUnitCursor(program->units[program->supplied_unit].unit), take,
			     &supply);
	take_directives(&supply);
	clang->visitChildren(clang->getTranslationUnitCursor(program->units[unit].unit), check_macro, &supply);
	const char *text = error->code == 0 ? applied(&supply) : NULL;
	if (!text && error->code == 0)
		error_memory(error);
	edits_release(&supply.edits);
	buffer_release(&supply.macros);
	return text;
}
