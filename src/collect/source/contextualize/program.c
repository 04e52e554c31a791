#include "collect/source/contextualize/program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/source/instrument/lexing.h"
#include "collect/source/instrument/parts.h"

/* --- functions --- */

/* Returns whether each #if in a text ends in it, and nothing else. */
static bool is_balanced(const char *text, const char *end)
{
	int depth = 0;
	for (const char *line = text; line < end; line++) {
		const char *at = line;
		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		if (at < end && *at == '#') {
			at++;
			while (at < end && (*at == ' ' || *at == '\t'))
				at++;
			size_t left = (size_t)(end - at);
			if (left >= 2 && memcmp(at, "if", 2) == 0)
				depth++;
			else if (left >= 2 && memcmp(at, "el", 2) == 0 && depth == 0)
				return false;
			else if (left >= 5 && memcmp(at, "endif", 5) == 0 && --depth < 0)
				return false;
		}
		line = memchr(line, '\n', (size_t)(end - line));
		if (!line)
			break;
	}
	return depth == 0;
}

/* Returns whether a word is in a line that defines or undefines it. */
static bool is_directive(const char *text, const char *word, const char *end)
{
	struct lexing_token before[2] = { { text, 0, false }, { text, 0, false } };
	for (struct lexing_token token = lexing_next(text, end); token.size && token.start < word;
	     token = lexing_next(token.start + token.size, end)) {
		before[0] = before[1];
		before[1] = token;
	}
	return lexing_is(&before[0], "#") && (lexing_is(&before[1], "define") || lexing_is(&before[1], "undef"));
}

/* Returns whether a text defines or undefines a macro that it names earlier: a second text would find another macro there. */
static bool changes_macro(const char *text, const char *end)
{
	static const char *const directives[] = { "define", "undef" };
	for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++)
		for (const char *at = text; (at = lexing_find(at, end, directives[i]));) {
			char name[256];
			at += strlen(directives[i]);
			struct lexing_token word = lexing_next(at, end);
			snprintf(name, sizeof(name), "%.*s", (int)word.size, word.start);
			const char *first = word.is_word ? lexing_find(text, end, name) : NULL;
			if (first && is_directive(text, word.start, end) && !is_directive(text, first, end))
				return true;
		}
	return false;
}

/* Returns why the text of a function cannot be copied, or NULL. */
static const char *text_refusal(const char *text, const char *end)
{
	static const char *const words[] = { "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (lexing_find(text, end, words[i]))
			return "it uses its own name (__func__)";
	if (lexing_find(text, end, "__COUNTER__") || lexing_find(text, end, "typeid"))
		return "its value may differ at each occurrence (__COUNTER__, typeid)";
	if (changes_macro(text, end))
		return "it changes a macro behind a place that names the macro";
	return is_balanced(text, end) ? NULL : "it begins or ends within an #if";
}

/* Returns whether a file defines a word as a macro without arguments. */
static bool is_object_macro(const struct program *program, const struct lexing_token *word)
{
	for (size_t i = 0; i < program->file_count; i++) {
		const char *end = program->files[i].text + program->files[i].size;
		for (const char *at = program->files[i].text; (at = lexing_find(at, end, "define"));) {
			at += strlen("define");
			struct lexing_token name = lexing_next(at, end);
			if (name.size == word->size && memcmp(name.start, word->start, word->size) == 0 &&
			    (name.start + name.size == end || name.start[name.size] != '('))
				return true;
		}
	}
	return false;
}

/* Returns whether a function has its name in the text, or another one for which a macro stands: #define update lib_update */
static bool has_name(const struct program *program, const struct program_function *function)
{
	const struct program_file *file = &program->files[function->file];
	struct lexing_token word = lexing_next(file->text + function->name_at, file->text + file->size);
	bool is_macro = clang_is_in_macro(program->clang->getCursorLocation(function->cursor));
	if (!is_macro)
		return strncmp(file->text + function->name_at, function->name, strlen(function->name)) == 0;
	return word.is_word && !program->units[function->unit].is_cxx && is_object_macro(program, &word);
}

static const char *refusal_of(const struct program *program, const struct program_function *function, int kind,
			      bool in_one_file)
{
	const struct clang *clang = program->clang;
	const char *text = program->files[function->file].text;
	if (!in_one_file || function->open <= function->name_at || function->end <= function->open ||
	    text[function->open] != '{' || !has_name(program, function))
		return "its text comes from a macro, or is a try block";
	if (kind == CXCursor_FunctionTemplate)
		return "it is a template";
	if (kind != CXCursor_FunctionDecl && !clang->CXXMethod_isStatic(function->cursor))
		return "it is a member function of objects";
	if (strcmp(function->name, "main") == 0)
		return "a program has one main";
	return text_refusal(text + function->start, text + function->end);
}

static bool is_in_head(const struct program *program, const struct program_function *function,
		       const struct program_parameter *parameter)
{
	const char *text = program->files[function->file].text;
	const char *name = text + function->name_at + strlen(function->name), *body = text + function->open;
	const char *start = text + parameter->start, *end = text + parameter->end;
	return name <= start && end <= body &&
	       (lexing_find(name, start, parameter->name) || lexing_find(end, body, parameter->name));
}

static void take_parameters(struct program *program, struct program_function *function)
{
	const struct clang *clang = program->clang;
	int count = clang->Cursor_getNumArguments(function->cursor);
	if (count <= 0)
		return;
	function->parameters = instrument_arena_take(program->arena, (size_t)count * sizeof(*function->parameters));
	if (!function->parameters)
		return;
	function->parameter_count = (size_t)count;
	for (size_t i = 0; i < function->parameter_count; i++) {
		struct program_parameter *parameter = &function->parameters[i];
		CXCursor cursor = clang->Cursor_getArgument(function->cursor, (unsigned)i);
		CXType type = clang->getCursorType(cursor), real = clang->getCanonicalType(type);
		size_t file;
		parameter->name = program_text(program, clang->getCursorSpelling(cursor));
		parameter->type = program_text(program, clang->getTypeSpelling(type));
		parameter->in_macro =
			!program_range(program, function->unit, cursor, &file, &parameter->start, &parameter->end) ||
			clang_is_in_macro(clang->getRangeStart(clang->getCursorExtent(cursor)));
		const char *text = function->file == PROGRAM_NONE ? NULL : program->files[function->file].text;
		parameter->is_needed = text && is_in_head(program, function, parameter);
		bool is_pointer = real.kind == CXType_Pointer;
		parameter->can_be_local = is_pointer && text && !parameter->in_macro &&
					  !memchr(text + parameter->start, '=', parameter->end - parameter->start);
		if (is_pointer)
			real = clang->getCanonicalType(clang->getPointeeType(real));
		parameter->is_pointer = real.kind == CXType_FunctionProto || real.kind == CXType_FunctionNoProto;
	}
}

struct program_walk {
	struct program *program;
	size_t unit;
};

/* Fills in the places of a definition. Returns false if it is not in one of the user's files, or known already. */
static bool place(struct program *program, struct program_function *function, CXCursor body, bool *in_one_file)
{
	const struct clang *clang = program->clang;
	CXFile file = NULL;
	unsigned at = 0;
	clang->getFileLocation(clang->getCursorLocation(function->cursor), &file, NULL, NULL, &at);
	function->file = program_file(program, function->unit, file, true);
	CXString shown;
	unsigned line = 0;
	clang->getPresumedLocation(clang->getCursorLocation(function->cursor), &shown, &line, NULL);
	function->shown_file = program_text(program, shown);
	function->shown_line = line;
	if (function->file == PROGRAM_NONE)
		return false;
	size_t range_file, body_file;
	uint32_t body_end;
	function->name_at = at;
	*in_one_file = program_range(program, function->unit, function->cursor, &range_file, &function->start,
				     &function->end) &&
		       program_range(program, function->unit, body, &body_file, &function->open, &body_end) &&
		       range_file == function->file && body_file == function->file && body_end == function->end &&
		       function->end <= program->files[function->file].size &&
		       !clang_is_in_macro(clang->getRangeStart(clang->getCursorExtent(body)));
	return program_find(program, function->usr) == PROGRAM_NONE;
}

static void take_function(struct program_walk *walk, CXCursor cursor, int kind)
{
	struct program *program = walk->program;
	const struct clang *clang = program->clang;
	struct program_function function = { .unit = walk->unit, .cursor = cursor };
	CXCursor body;
	bool in_one_file = false;
	if (clang->Location_isInSystemHeader(clang->getCursorLocation(cursor)) || !bodies_find(clang, cursor, &body))
		return;
	function.usr = program_usr(program, walk->unit, cursor);
	function.name = program_text(program, clang->getCursorSpelling(cursor));
	if (!place(program, &function, body, &in_one_file))
		return;
	function.qualified = program_qualified(program, cursor);
	function.is_method = kind == CXCursor_CXXMethod;
	function.has_storage = clang->Cursor_getStorageClass(cursor) != CX_SC_None;
	function.is_inline = clang->Cursor_isFunctionInlined(cursor);
	function.refusal = refusal_of(program, &function, kind, in_one_file);
	take_parameters(program, &function);
	calls_take(program, &function, body);
	if (ARRAY_RESERVE(program->functions, program->function_capacity, program->function_count + 1) < 0) {
		program->error = ERROR_MEMORY;
		return;
	}
	if (hash_map_put(&program->by_usr, hash_bytes(function.usr, strlen(function.usr)),
			 (uint32_t)program->function_count) < 0)
		program->error = ERROR_MEMORY;
	program->functions[program->function_count++] = function;
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct program_walk *walk = data;
	(void)parent;
	int kind = walk->program->clang->getCursorKind(cursor);
	switch (kind) {
	case CXCursor_FunctionDecl:
	case CXCursor_CXXMethod:
	case CXCursor_Constructor:
	case CXCursor_Destructor:
	case CXCursor_ConversionFunction:
	case CXCursor_FunctionTemplate:
		if (walk->program->clang->isCursorDefinition(cursor))
			take_function(walk, cursor, kind);
		return CXChildVisit_Continue;
	case CXCursor_Namespace:
	case CXCursor_LinkageSpec:
	case CXCursor_UnexposedDecl: /* extern "C" in older versions */
	case CXCursor_ClassDecl:
	case CXCursor_StructDecl:
		return CXChildVisit_Recurse;
	default:
		return CXChildVisit_Continue;
	}
}

size_t program_find(const struct program *program, const char *usr)
{
	uint32_t found = hash_map_get(&program->by_usr, hash_bytes(usr, strlen(usr)));
	return found != HASH_MAP_NONE && strcmp(program->functions[found].usr, usr) == 0 ? found : PROGRAM_NONE;
}

/* Returns whether a file of the program declares a function: the compiler declares some itself, and system headers others. The source of a
 * template's instance is the template, which a copy cannot have. */
static bool is_declared_by_program(const struct program *program, CXCursor declaration)
{
	const struct clang *clang = program->clang;
	CXSourceLocation location = clang->getCursorLocation(declaration);
	CXFile file = NULL;
	clang->getFileLocation(location, &file, NULL, NULL, NULL);
	bool is_template = !clang->isInvalid(clang->getCursorKind(clang->getSpecializedCursorTemplate(declaration)));
	return file && !is_template && !clang->Location_isInSystemHeader(location);
}

size_t program_add_library(struct program *program, size_t unit, CXCursor declaration)
{
	const struct clang *clang = program->clang;
	struct program_function function = { .unit = unit, .file = PROGRAM_NONE, .cursor = declaration };
	function.usr = program_usr(program, unit, declaration);
	function.name = program_text(program, clang->getCursorSpelling(declaration));
	function.qualified = program_qualified(program, declaration);
	function.is_unread = is_declared_by_program(program, declaration);
	if (clang->getCursorKind(declaration) != CXCursor_FunctionDecl)
		function.refusal = "it has no source here, and is a member or a template";
	else if (clang->isFunctionTypeVariadic(clang->getCursorType(declaration)))
		function.refusal = "it has no source here, and takes any number of arguments";
	take_parameters(program, &function);
	if (ARRAY_RESERVE(program->functions, program->function_capacity, program->function_count + 1) < 0) {
		program->error = ERROR_MEMORY;
		return PROGRAM_NONE;
	}
	program->functions[program->function_count] = function;
	return program->function_count++;
}

/* --- declarations --- */

static bool has_declarations(int kind)
{
	return kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec || kind == CXCursor_ClassDecl ||
	       kind == CXCursor_StructDecl;
}

static bool is_declaration(const struct program *program, size_t unit, CXCursor cursor, const char *usr)
{
	int kind = program->clang->getCursorKind(cursor);
	if (kind != CXCursor_FunctionDecl && kind != CXCursor_CXXMethod)
		return false;
	CXString found = program->clang->getCursorUSR(cursor);
	const char *text = program->clang->getCString(found);
	bool is_beginning = strncmp(usr, text, strlen(text)) == 0;
	program->clang->disposeString(found);
	return is_beginning && strcmp(program_usr(program, unit, cursor), usr) == 0;
}

struct declaration_search {
	const struct program *program;
	size_t unit, file;
	uint32_t offset;
	const char *usr;
	CXCursor *found;
	bool is_found, is_visible;
	bool needs_definition;
};

static enum CXChildVisitResult find_declaration(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct declaration_search *search = data;
	const struct program *program = search->program;
	(void)parent;
	if (has_declarations(program->clang->getCursorKind(cursor)))
		return CXChildVisit_Recurse;
	if (!is_declaration(program, search->unit, cursor, search->usr) ||
	    (search->needs_definition && !program->clang->isCursorDefinition(cursor)))
		return CXChildVisit_Continue;
	size_t file;
	uint32_t start, end;
	program_range(program, search->unit, cursor, &file, &start, &end);
	search->is_visible = file != search->file || start < search->offset;
	if (!search->is_found || search->is_visible)
		*search->found = cursor;
	search->is_found = true;
	return search->is_visible ? CXChildVisit_Break : CXChildVisit_Continue;
}

bool program_declared(const struct program *program, size_t unit, const char *usr, size_t file, uint32_t offset,
		      CXCursor *found, bool *is_visible)
{
	struct declaration_search search = {
		.program = program, .unit = unit, .file = file, .offset = offset, .usr = usr, .found = found
	};
	program->clang->visitChildren(program->clang->getTranslationUnitCursor(program->units[unit].unit),
				      find_declaration, &search);
	*is_visible = search.is_visible;
	return search.is_found;
}

bool program_defined(const struct program *program, size_t unit, const char *usr)
{
	CXCursor found;
	struct declaration_search search = { .program = program,
					     .unit = unit,
					     .file = PROGRAM_NONE,
					     .usr = usr,
					     .found = &found,
					     .needs_definition = true };
	program->clang->visitChildren(program->clang->getTranslationUnitCursor(program->units[unit].unit),
				      find_declaration, &search);
	return search.is_found;
}

/* --- symbols --- */

struct symbol_check {
	const struct program *program;
	const struct program_function *function;
	struct program_symbol found;
};

static const char starts_program[] = "it runs when the program starts or ends";
static const char can_be_replaced[] = "another definition may replace it when the program is linked (weak)";
static const char has_own_name[] = "its symbol has a name of its own (asm)";

static bool numbers_parameters(const char *text, const char *end)
{
	static const char *const names[] = {
		"access",       "alloc_align", "alloc_size", "callback", "fd_arg",   "fd_arg_read",
		"fd_arg_write", "format",      "format_arg", "nonnull",  "sentinel", "null_terminated_string_arg"
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (lexing_has_attribute(text, end, names[i]))
			return true;
	return false;
}

static enum CXChildVisitResult check_declaration(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct symbol_check *check = data;
	static const struct {
		const char *attribute, *refusal;
	} rows[] = {
		{ "constructor", starts_program },
		{ "destructor", starts_program },
		{ "weak", can_be_replaced },
	};
	(void)parent;
	if (has_declarations(check->program->clang->getCursorKind(cursor)))
		return CXChildVisit_Recurse;
	if (!is_declaration(check->program, check->function->unit, cursor, check->function->usr))
		return CXChildVisit_Continue;
	const char *text = program_printed(check->program, cursor), *end = text + strlen(text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (lexing_has_attribute(text, end, rows[i].attribute))
			check->found.refusal = rows[i].refusal;
	if (lexing_find(text, end, "asm"))
		check->found.refusal = has_own_name;
	check->found.numbers_parameters |= numbers_parameters(text, end);
	return CXChildVisit_Continue;
}

static bool has_directive(const char *text, const char *end, const char *word, const char *name)
{
	for (const char *at = text; (at = lexing_find(at, end, word));) {
		at += strlen(word);
		struct lexing_token next = lexing_next(at, end);
		if (lexing_is(&next, name))
			return true;
	}
	return false;
}

bool program_has_directive(const struct program *program, const char *word, const char *name)
{
	for (size_t i = 0; i < program->file_count; i++)
		if (has_directive(program->files[i].text, program->files[i].text + program->files[i].size, word, name))
			return true;
	return false;
}

struct macro_search {
	const struct program *program;
	const char *name;
	bool is_found;
};

static enum CXChildVisitResult find_macro(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct macro_search *search = data;
	const struct clang *clang = search->program->clang;
	(void)parent;
	if (clang->getCursorKind(cursor) != CXCursor_MacroDefinition)
		return CXChildVisit_Continue;
	CXString name = clang->getCursorSpelling(cursor);
	search->is_found = strcmp(clang->getCString(name), search->name) == 0;
	clang->disposeString(name);
	return search->is_found ? CXChildVisit_Break : CXChildVisit_Continue;
}

bool program_has_macro(const struct program *program, size_t unit, const char *name)
{
	struct macro_search search = { program, name, false };
	program->clang->visitChildren(program->clang->getTranslationUnitCursor(program->units[unit].unit), find_macro,
				      &search);
	return search.is_found;
}

struct program_symbol program_symbol_of(const struct program *program, const struct program_function *function)
{
	struct symbol_check check = { .program = program, .function = function };
	CXTranslationUnit unit = program->units[function->unit].unit;
	const char *text = program->files[function->file].text;
	program->clang->visitChildren(program->clang->getTranslationUnitCursor(unit), check_declaration, &check);
	/* clang does not print the attributes that it does not have. */
	check.found.numbers_parameters |= numbers_parameters(text + function->start, text + function->open);
	/* No declaration shows these pragmas. */
	if (!check.found.refusal && program_has_directive(program, "weak", function->name))
		check.found.refusal = can_be_replaced;
	if (!check.found.refusal && program_has_directive(program, "redefine_extname", function->name))
		check.found.refusal = has_own_name;
	return check.found;
}

/* --- units --- */

static int check_diagnostics(const struct program *program, CXTranslationUnit unit, struct error *error)
{
	const struct clang *clang = program->clang;
	unsigned count = clang->getNumDiagnostics(unit);
	int code = 0;
	for (unsigned i = 0; i < count && code == 0; i++) {
		CXDiagnostic diagnostic = clang->getDiagnostic(unit, i);
		if (clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error)
			code = clang_report(clang, diagnostic, error);
		clang->disposeDiagnostic(diagnostic);
	}
	return code;
}

int program_init(struct program *program, struct error *error)
{
	*program = (struct program){ .clang = clang_load(error),
				     .supplied_unit = PROGRAM_NONE,
				     .supplied_file = PROGRAM_NONE };
	if (!program->clang)
		return error->code;
	hash_map_init(&program->by_usr);
	program->arena = instrument_arena_new();
	program->index = program->arena ? program->clang->createIndex(0, 0) : NULL;
	return program->index ? 0 : error_memory(error);
}

/* Parses the last unit, which is not counted so far, and adds its functions. */
static int parse(struct program *program, struct error *error)
{
	struct program_unit *unit = &program->units[program->unit_count];
	unit->unit = clang_parse(program->clang, program->index, unit->path, unit->words.items, unit->words.count, NULL,
				 0, error);
	if (!unit->unit)
		return ERROR_FORMAT;
	struct program_walk walk = { .program = program, .unit = program->unit_count++ };
	int code = check_diagnostics(program, unit->unit, error);
	if (code < 0)
		return code;
	program->clang->visitChildren(program->clang->getTranslationUnitCursor(unit->unit), visit, &walk);
	code = program->error ? program->error : instrument_arena_error(program->arena);
	return code < 0 ? error_set(error, code, "%s", error_text(code)) : 0;
}

int program_add(struct program *program, const struct instrument_source *source, struct error *error)
{
	if (ARRAY_RESERVE(program->units, program->unit_capacity, program->unit_count + 1) < 0)
		return error_memory(error);
	struct program_unit *unit = &program->units[program->unit_count];
	*unit = (struct program_unit){ .path = source->path, .directory = source->directory };
	int code = words_make(&unit->words, source, program->clang, program->arena, error);
	if (code < 0)
		return code;
	unit->is_cxx = unit->words.is_cxx;
	return parse(program, error);
}

int program_supply(struct program *program, size_t unit, struct error *error)
{
	char real[PATH_MAX];
	const char *given = program->supplied_path;
	if (program->supplied_file != PROGRAM_NONE)
		return 0;
	if (program->units[unit].is_cxx)
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot contextualize: '%s' is C, and its caller is C++ (--source FILE, where the "
				 "program is built with it)",
				 given);
	if (!realpath(given, real))
		return error_set_errno(error, "cannot read '%s'", given);
	for (size_t i = 0; i < program->file_count; i++)
		if (strcmp(program->files[i].path, real) == 0)
			return error_set(error, ERROR_UNSUPPORTED,
					 "cannot contextualize: '%s' is one of the sources, and does not define the "
					 "function (leave out --with)",
					 given);
	if (ARRAY_RESERVE(program->units, program->unit_capacity, program->unit_count + 1) < 0)
		return error_memory(error);
	program->units[program->unit_count] =
		(struct program_unit){ .words = program->units[unit].words,
				       .path = instrument_arena_text(program->arena, real, strlen(real)),
				       .directory = program->units[unit].directory };
	if (!program->units[program->unit_count].path)
		return error_memory(error);
	program->supplied_unit = program->unit_count;
	struct error reason = { 0 };
	CXTranslationUnit parsed;
	int code = parse(program, &reason);
	if (code < 0)
		return error_set(error, code, "cannot read '%s': %s", given, reason.message);
	parsed = program->units[program->supplied_unit].unit;
	program->supplied_file =
		program_file(program, program->supplied_unit, program->clang->getFile(parsed, real), true);
	return program->supplied_file == PROGRAM_NONE ? error_memory(error) : 0;
}

int program_check(struct program *program, size_t unit, struct CXUnsavedFile *texts, size_t count, struct error *error)
{
	const struct program_unit *row = &program->units[unit];
	CXTranslationUnit again = clang_parse(program->clang, program->index, row->path, row->words.items,
					      row->words.count, texts, count, error);
	if (!again)
		return ERROR_FORMAT;
	int code = check_diagnostics(program, again, error);
	program->clang->disposeTranslationUnit(again);
	return code;
}

void program_release(struct program *program)
{
	for (size_t i = 0; i < program->function_count; i++) {
		free(program->functions[i].calls);
		free(program->functions[i].uses);
	}
	for (size_t i = 0; i < program->unit_count; i++)
		program->clang->disposeTranslationUnit(program->units[i].unit);
	if (program->index)
		program->clang->disposeIndex(program->index);
	free(program->units);
	free(program->files);
	free(program->functions);
	hash_map_release(&program->by_usr);
	if (program->arena)
		instrument_arena_free(program->arena);
	*program = (struct program){ 0 };
}
