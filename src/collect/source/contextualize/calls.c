#include "collect/source/contextualize/program.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"

struct taking {
	struct program *program;
	struct program_function *function;
};

/* --- references --- */

struct reference {
	const struct clang *clang;
	CXCursor cursor; /* the DeclRefExpr */
	bool is_found;
};

/* Goes through casts of the compiler, parentheses, `&` and `*` to the name in an expression. */
static enum CXChildVisitResult find_reference(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct reference *reference = data;
	(void)parent;
	switch ((int)reference->clang->getCursorKind(cursor)) {
	case CXCursor_DeclRefExpr:
		reference->cursor = cursor;
		reference->is_found = true;
		return CXChildVisit_Break;
	case CXCursor_UnexposedExpr:
	case CXCursor_ParenExpr:
	case CXCursor_UnaryOperator:
		return CXChildVisit_Recurse;
	default:
		return CXChildVisit_Break;
	}
}

/* Sets the DeclRefExpr that an expression is, or whose value it is. */
static bool reference_in(const struct clang *clang, CXCursor expression, CXCursor *found)
{
	struct reference reference = { .clang = clang };
	if (find_reference(expression, expression, &reference) == CXChildVisit_Recurse)
		clang->visitChildren(expression, find_reference, &reference);
	*found = reference.cursor;
	return reference.is_found;
}

/* Returns the number of a parameter of the function, or PROGRAM_NONE. */
static size_t parameter_of(const struct taking *taking, CXCursor declaration)
{
	const struct clang *clang = taking->program->clang;
	for (size_t i = 0; i < taking->function->parameter_count; i++)
		if (clang->equalCursors(clang->Cursor_getArgument(taking->function->cursor, (unsigned)i), declaration))
			return i;
	return PROGRAM_NONE;
}

static bool is_function(const struct clang *clang, CXCursor declaration)
{
	int kind = clang->getCursorKind(declaration);
	return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod;
}

/* --- calls --- */

static void take_argument(struct taking *taking, CXCursor expression, struct program_argument *argument)
{
	struct program *program = taking->program;
	const struct clang *clang = program->clang;
	CXCursor name;
	size_t file;
	argument->parameter = PROGRAM_NONE;
	argument->in_macro =
		!program_range(program, taking->function->unit, expression, &file, &argument->start, &argument->end) ||
		clang_is_in_macro(clang->getRangeStart(clang->getCursorExtent(expression)));
	if (!reference_in(clang, expression, &name))
		return;
	CXCursor declaration = clang->getCursorReferenced(name);
	if (is_function(clang, declaration)) {
		argument->function = declaration;
		argument->usr = program_text(program, clang->getCursorUSR(declaration));
		return;
	}
	const char *text = program->files[taking->function->file].text;
	if (!argument->in_macro && text[argument->start] != '*' && text[argument->start] != '&')
		argument->parameter = parameter_of(taking, declaration);
}

static enum CXChildVisitResult take_first(CXCursor cursor, CXCursor parent, CXClientData data)
{
	(void)parent;
	*(CXCursor *)data = cursor;
	return CXChildVisit_Break;
}

static void take_call(struct taking *taking, CXCursor cursor)
{
	struct program *program = taking->program;
	struct program_function *function = taking->function;
	const struct clang *clang = program->clang;
	CXCursor callee = { 0 }, name;
	clang->visitChildren(cursor, take_first, &callee);
	if (!reference_in(clang, callee, &name))
		return;
	CXCursor declaration = clang->getCursorReferenced(name);
	struct program_call call = { .callee = declaration, .parameter = parameter_of(taking, declaration) };
	CXSourceLocation location = clang->getCursorLocation(name);
	unsigned at = 0;
	clang->getFileLocation(location, NULL, NULL, NULL, &at);
	const char *spelling = program_text(program, clang->getCursorSpelling(declaration));
	call.at = at;
	call.size = (uint32_t)strlen(spelling);
	const struct program_file *file = &program->files[function->file];
	call.in_macro = clang_is_in_macro(location) || call.at + call.size > file->size ||
			memcmp(file->text + call.at, spelling, call.size) != 0;
	if (is_function(clang, declaration))
		call.usr = program_text(program, clang->getCursorUSR(declaration));
	else if (call.parameter == PROGRAM_NONE)
		return;
	int count = clang->Cursor_getNumArguments(cursor);
	call.argument_count = count > 0 ? (size_t)count : 0;
	call.arguments = instrument_arena_take(program->arena, (call.argument_count + 1) * sizeof(*call.arguments));
	if (!call.arguments)
		return;
	for (size_t i = 0; i < call.argument_count; i++)
		take_argument(taking, clang->Cursor_getArgument(cursor, (unsigned)i), &call.arguments[i]);
	if (ARRAY_RESERVE(function->calls, function->call_capacity, function->call_count + 1) < 0)
		program->error = ERROR_MEMORY;
	else
		function->calls[function->call_count++] = call;
}

/* --- parameters --- */

/* Returns whether the text around a use may change the parameter: "f = g", "f++", "&f". A comparison may not. */
static bool is_modification(const struct program_file *file, uint32_t at, size_t length)
{
	const char *text = file->text;
	size_t before = at, behind = at + length;
	while (before > 0 && isspace((unsigned char)text[before - 1]))
		before--;
	while (behind < file->size && isspace((unsigned char)text[behind]))
		behind++;
	if (before > 0 && text[before - 1] == '&' && !(before > 1 && text[before - 2] == '&'))
		return true;
	return behind + 1 < file->size && text[behind] == '=' && text[behind + 1] != '=';
}

static void take_use(struct taking *taking, CXCursor cursor)
{
	struct program *program = taking->program;
	struct program_function *function = taking->function;
	size_t parameter = parameter_of(taking, program->clang->getCursorReferenced(cursor));
	if (parameter == PROGRAM_NONE)
		return;
	CXSourceLocation location = program->clang->getCursorLocation(cursor);
	unsigned at = 0;
	program->clang->getFileLocation(location, NULL, NULL, NULL, &at);
	struct program_use use = { parameter, at, clang_is_in_macro(location) };
	struct program_parameter *row = &function->parameters[parameter];
	if (!use.in_macro && is_modification(&program->files[function->file], at, strlen(row->name)))
		row->is_modified = true;
	if (ARRAY_RESERVE(function->uses, function->use_capacity, function->use_count + 1) < 0)
		program->error = ERROR_MEMORY;
	else
		function->uses[function->use_count++] = use;
}

/* A constant may be copied, a variable of all calls may not. */
static void take_variable(struct taking *taking, CXCursor cursor)
{
	const struct clang *clang = taking->program->clang;
	if (clang->Cursor_getStorageClass(cursor) != CX_SC_Static || taking->function->refusal)
		return;
	const char *type = program_text(taking->program, clang->getTypeSpelling(clang->getCursorType(cursor)));
	const char *star = strrchr(type, '*');
	if (star ? !strstr(star, "const") : !strstr(type, "const"))
		taking->function->refusal =
			instrument_arena_format(taking->program->arena, "it has a static variable, '%s'",
						program_text(taking->program, clang->getCursorSpelling(cursor)));
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct taking *taking = data;
	(void)parent;
	switch ((int)taking->program->clang->getCursorKind(cursor)) {
	case CXCursor_LambdaExpr:
		return CXChildVisit_Continue;
	case CXCursor_CallExpr:
		take_call(taking, cursor);
		break;
	case CXCursor_DeclRefExpr:
		take_use(taking, cursor);
		break;
	case CXCursor_VarDecl:
		take_variable(taking, cursor);
		break;
	default:
		break;
	}
	return taking->program->error ? CXChildVisit_Break : CXChildVisit_Recurse;
}

void calls_take(struct program *program, struct program_function *function, CXCursor body)
{
	struct taking taking = { program, function };
	program->clang->visitChildren(body, visit, &taking);
}
