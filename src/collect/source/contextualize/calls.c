#include "collect/source/contextualize/program.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "collect/source/instrument/lexing.h"

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
		argument->usr = program_usr(program, taking->function->unit, declaration);
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
		call.usr = program_usr(program, function->unit, declaration);
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

/* --- expressions around a name --- */

/* A cursor of the body, with the cursors that contain it. */
struct node {
	struct taking *taking;
	CXCursor cursor;
	const struct node *outer; /* NULL: the body */
	bool in_lambda;
};

static int kind_of(const struct node *node)
{
	return node ? (int)node->taking->program->clang->getCursorKind(node->cursor) : 0;
}

/* Returns whether an expression is a load of a value: all implicit conversions are UnexposedExpr. */
static bool is_loaded(const struct node *node)
{
	const struct clang *clang = node->taking->program->clang;
	CXType type = clang->getCanonicalType(clang->getCursorType(node->cursor));
	bool is_scalar = type.kind != CXType_Record && clang->getArrayElementType(type).kind == CXType_Invalid;
	return is_scalar && kind_of(node->outer) == CXCursor_UnexposedExpr;
}

/* Returns whether only a value of a variable is read: the variable, its element t[i] or its field t.f. */
static bool is_value(const struct node *node)
{
	for (const struct node *at = node; at; at = at->outer) {
		if (is_loaded(at))
			return true;
		int outer = kind_of(at->outer), next = at->outer ? kind_of(at->outer->outer) : 0;
		bool is_element = outer == CXCursor_UnexposedExpr && next == CXCursor_ArraySubscriptExpr;
		if (outer == CXCursor_UnaryExpr)
			return true; /* sizeof */
		if (!is_element && outer != CXCursor_ArraySubscriptExpr && outer != CXCursor_MemberRefExpr &&
		    outer != CXCursor_ParenExpr)
			return false;
	}
	return false;
}

static void refuse(const struct taking *taking, const char *reason)
{
	if (!taking->function->refusal)
		taking->function->refusal = reason;
}

/* --- variables and parameters --- */

/* Returns whether a variable of a function lives longer than a call: copies would have one each. */
static bool is_static(const struct clang *clang, CXCursor variable)
{
	if (clang->getCursorKind(variable) != CXCursor_VarDecl ||
	    (clang->Cursor_getStorageClass(variable) != CX_SC_Static &&
	     clang->getCursorTLSKind(variable) == CXTLS_None))
		return false;
	switch ((int)clang->getCursorKind(clang->getCursorSemanticParent(variable))) {
	case CXCursor_FunctionDecl:
	case CXCursor_CXXMethod:
	case CXCursor_FunctionTemplate:
		return true;
	default:
		return false;
	}
}

static const char *about_variable(const struct taking *taking, const char *problem, CXCursor variable)
{
	return instrument_arena_format(
		taking->program->arena, "%s '%s' (make it a variable of the file)", problem,
		program_text(taking->program, taking->program->clang->getCursorSpelling(variable)));
}

/* A copy may have a constant of its own if its value is known when the program is built, and if no other file sees its symbol or section. */
static void take_variable(const struct node *node)
{
	const struct taking *taking = node->taking;
	const struct clang *clang = taking->program->clang;
	if (!is_static(clang, node->cursor))
		return;
	CXType type = clang->getCanonicalType(clang->getCursorType(node->cursor));
	bool is_constant = clang->isConstQualifiedType(type);
	for (CXType element; (element = clang->getArrayElementType(type)).kind != CXType_Invalid;) {
		type = clang->getCanonicalType(element);
		is_constant |= clang->isConstQualifiedType(type);
	}
	bool is_object = taking->program->units[taking->function->unit].is_cxx && type.kind == CXType_Record;
	const char *text = program_printed(taking->program, node->cursor), *end = text + strlen(text);
	bool is_symbol = lexing_has_attribute(text, end, "section") || lexing_has_attribute(text, end, "used") ||
			 lexing_find(text, end, "asm");
	if (!is_constant || is_object || is_symbol)
		refuse(taking, about_variable(taking, "it has a static variable,", node->cursor));
}

/* Refuses a copy if the initializer of a static constant of C++ runs, or if the constant's address is used. */
static void check_constant(const struct node *node, CXCursor variable)
{
	if (!is_static(node->taking->program->clang, variable))
		return;
	if (!is_value(node))
		refuse(node->taking,
		       about_variable(node->taking, "its copy would have another address of the static variable",
				      variable));
}

static void check_initializer(const struct node *node)
{
	const struct taking *taking = node->taking;
	bool is_cxx = taking->program->units[taking->function->unit].is_cxx;
	for (const struct node *at = node->outer; is_cxx && at; at = at->outer)
		if (is_static(taking->program->clang, at->cursor))
			refuse(taking, about_variable(taking, "it has a static variable,", at->cursor));
}

/* A parameter that is not read may be modified: "f = g", "f++", "&f", a reference to it. */
static void take_use(const struct node *node, CXCursor declaration)
{
	struct taking *taking = node->taking;
	struct program *program = taking->program;
	struct program_function *function = taking->function;
	size_t parameter = parameter_of(taking, declaration);
	if (parameter == PROGRAM_NONE)
		return;
	CXSourceLocation location = program->clang->getCursorLocation(node->cursor);
	unsigned at = 0;
	program->clang->getFileLocation(location, NULL, NULL, NULL, &at);
	struct program_use use = { parameter, at, clang_is_in_macro(location) };
	if (node->in_lambda || kind_of(node->outer) != CXCursor_UnexposedExpr)
		function->parameters[parameter].is_modified = true;
	if (ARRAY_RESERVE(function->uses, function->use_capacity, function->use_count + 1) < 0)
		program->error = ERROR_MEMORY;
	else
		function->uses[function->use_count++] = use;
}

static void take_name(const struct node *node)
{
	const struct clang *clang = node->taking->program->clang;
	CXCursor declaration = clang->getCursorReferenced(node->cursor);
	take_use(node, declaration);
	check_constant(node, declaration);
	int kind = clang->getCursorKind(declaration);
	if (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl)
		check_initializer(node);
}

/* The value of __func__, which a macro has named, is a literal. Where an assertion fails, the name of the copy is correct. */
static void take_literal(const struct node *node)
{
	const struct taking *taking = node->taking;
	const struct clang *clang = taking->program->clang;
	if (!clang_is_in_macro(clang->getCursorLocation(node->cursor)))
		return;
	const char *text = program_text(taking->program, clang->getCursorSpelling(node->cursor));
	if (lexing_find(text + (*text == '"'), text + strlen(text), taking->function->name))
		refuse(taking, "a macro in it uses its name (__func__)");
}

static bool is_assertion(const struct node *node)
{
	const struct taking *taking = node->taking;
	const char *name = program_text(taking->program, taking->program->clang->getCursorSpelling(node->cursor));
	return strcmp(name, "__assert_fail") == 0;
}

/* --- inline assembly --- */

/* Returns the first byte behind spaces and comments, which the assembler ignores in front of a statement. */
static const char *statement_start(const char *at, const char *end)
{
	while (at < end) {
		const char *behind = at + 1;
		if (end - at >= 2 && memcmp(at, "/*", 2) == 0) {
			const char *close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
			behind = close ? close + 2 : end;
		} else if (!isspace((unsigned char)*at) && *at != ';') {
			break;
		}
		at = behind;
	}
	return at;
}

/* Returns the first byte behind a symbol, "f" or "\"f\"", in which operands of the template stand for texts. */
static const char *symbol_end(const char *at, const char *end)
{
	if (at < end && *at == '"') {
		const char *close = memchr(at + 1, '"', (size_t)(end - at - 1));
		return close ? close + 1 : end;
	}
	while (at < end && (isalnum((unsigned char)*at) || strchr("_.$%[]", *at)))
		at += end - at >= 2 && memcmp(at, "%=", 2) == 0 ? 2 : 1;
	return at;
}

/* Returns whether a template defines a symbol or has a directive, as "loop: jmp loop", "f = 1" or ".globl f". Labels that are numbers,
 * or contain %=, may occur several times. */
static bool has_symbol(const char *text, const char *end)
{
	for (const char *at = text; (at = statement_start(at, end)) < end;) {
		const char *behind = symbol_end(at, end), *next = behind;
		size_t size = (size_t)(behind - at);
		while (next < end && (*next == ' ' || *next == '\t'))
			next++;
		bool is_label = size > 0 && next < end && *next == ':';
		bool is_number = strspn(at, "0123456789") >= size;
		if (is_label ? !is_number && !memmem(at, size, "%=", 2)
			     : (size > 0 && *at == '.') || (next < end && *next == '='))
			return true;
		if (is_label) {
			at = next + 1;
			continue;
		}
		while (at < end && *at != '\n' && *at != ';')
			at++;
	}
	return false;
}

/* Writes the bytes that a literal in clang's spelling stands for, from behind its first quote on. Returns the end of them; *close is the last
 * quote, or NULL. `to` has room for the spelling. */
static char *decode_literal(const char *at, char *to, const char **close)
{
	static const char letters[] = "ntvfra", values[] = "\n\t\v\f\r\a";
	while (*at && *at != '"') {
		const char *letter = *at == '\\' && at[1] ? strchr(letters, at[1]) : NULL;
		at += *at == '\\' && at[1];
		*to++ = letter ? values[letter - letters] : *at;
		at++;
	}
	*close = *at ? at : NULL;
	*to = 0;
	return to;
}

/* A macro's assembly is only in the text that clang prints of the function: asm volatile ("nop" : : : "memory"). */
static bool defines_symbol(const struct taking *taking)
{
	const struct clang *clang = taking->program->clang;
	CXPrintingPolicy policy = clang->getCursorPrintingPolicy(taking->function->cursor);
	const char *text =
		program_text(taking->program, clang->getCursorPrettyPrinted(taking->function->cursor, policy));
	const char *end = text + strlen(text);
	clang->PrintingPolicy_dispose(policy);
	size_t found = 0;
	char *decoded = instrument_arena_take(taking->program->arena, strlen(text) + 1);
	for (const char *at = text; decoded && (at = lexing_find(at, end, "asm")); at += 3) {
		const char *open = strchr(at, '"'), *close = NULL;
		if (!open || has_symbol(decoded, decode_literal(open + 1, decoded, &close)) || !close)
			return true;
		found++;
	}
	return found == 0;
}

/* --- the body --- */

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
	const struct node *outer = data;
	struct taking *taking = outer->taking;
	struct node node = { taking, cursor, outer, outer->in_lambda };
	(void)parent;
	switch (kind_of(&node)) {
	case CXCursor_LambdaExpr:
		node.in_lambda = true;
		break;
	case CXCursor_CallExpr:
		if (is_assertion(&node))
			return CXChildVisit_Continue;
		if (!node.in_lambda)
			take_call(taking, cursor);
		check_initializer(&node);
		break;
	case CXCursor_DeclRefExpr:
		take_name(&node);
		break;
	case CXCursor_VarDecl:
		take_variable(&node);
		break;
	case CXCursor_StringLiteral:
		take_literal(&node);
		break;
	case CXCursor_GCCAsmStmt:
	case CXCursor_MSAsmStmt:
		if (!taking->function->refusal && defines_symbol(taking))
			refuse(taking,
			       "it has inline assembly with a label or a directive, which a program can have once");
		break;
	case CXCursor_AddrLabelExpr:
		refuse(taking, "it takes the address of a label (computed goto)");
		break;
	default:
		break;
	}
	taking->program->clang->visitChildren(cursor, visit, &node);
	return taking->program->error ? CXChildVisit_Break : CXChildVisit_Continue;
}

void calls_take(struct program *program, struct program_function *function, CXCursor body)
{
	struct taking taking = { program, function };
	struct node node = { .taking = &taking, .cursor = body };
	program->clang->visitChildren(body, visit, &node);
}
