#include "collect/source/contextualize/contextualize.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "collect/source/contextualize/copy_plan.h"
#include "collect/source/contextualize/lines.h"

/* The place of a text in a file: copies of one function are at one offset, in the order of the clones. */
struct place {
	size_t file;
	uint32_t offset;
	size_t order; /* by the index of the clone; a library's function and a supplied one precede their caller */
};

struct writing {
	struct copy_plan *plan;
	struct edits *edits;     /* [file_count] */
	struct buffer *preludes; /* [clone_count]: declarations in front of a copy; of clone 0: of f0 */
	const char *supplied;    /* the text of the supplied file; NULL: none of its functions is on the path */
	int error;
};

/* --- places --- */

/* Returns where a clone is defined; f0 is at its original place. */
static struct place place_of(const struct copy_plan *plan, size_t clone)
{
	const struct program_function *function = copy_plan_function(plan, &plan->clones[copy_plan_host(plan, clone)]);
	bool is_before = clone == 0 || copy_plan_host(plan, clone) == 0;
	size_t order = copy_plan_host(plan, clone) != clone ? 2 * copy_plan_host(plan, clone) : 2 * clone + 1;
	return (struct place){ function->file, is_before ? function->start : function->end, order };
}

static bool is_before(const struct place *a, const struct place *b)
{
	return a->offset != b->offset ? a->offset < b->offset : a->order < b->order;
}

/* Returns the white space at the start of the line of an offset. */
static const char *indentation(const struct writing *writing, const struct program_file *file, uint32_t offset)
{
	uint32_t line = lines_start(file->text, offset);
	return instrument_arena_text(writing->plan->program->arena, file->text + line,
				     strspn(file->text + line, " \t"));
}

static bool has_carriage_returns(const struct program_file *file)
{
	const char *end = memchr(file->text, '\n', file->size);
	return end && end > file->text && end[-1] == '\r';
}

/* Appends a text with the ends of lines that the file has. */
static void append_lines(struct buffer *lines, const struct buffer *text, bool has_returns)
{
	const char *bytes = (const char *)text->bytes;
	for (size_t i = 0; i < text->size; i++) {
		if (has_returns && bytes[i] == '\n' && (i == 0 || bytes[i - 1] != '\r'))
			buffer_append_byte(lines, '\r');
		buffer_append_byte(lines, (uint8_t)bytes[i]);
	}
}

static void insert(struct writing *writing, size_t file, uint32_t offset, const struct buffer *text)
{
	struct instrument_arena *arena = writing->plan->program->arena;
	struct buffer lines;
	buffer_init(&lines);
	append_lines(&lines, text, has_carriage_returns(&writing->plan->program->files[file]));
	bool failed = buffer_error(text) < 0 || buffer_error(&lines) < 0;
	const char *kept = failed ? NULL : instrument_arena_text(arena, (const char *)lines.bytes, lines.size);
	buffer_release(&lines);
	if (kept)
		edits_insert(&writing->edits[file], offset, kept);
	else
		writing->error = ERROR_MEMORY;
}

/* --- declarations --- */

/* Adds a declaration in front of a clone. */
static void declare(struct writing *writing, size_t before, const char *declaration)
{
	struct buffer *prelude = &writing->preludes[before];
	if (!declaration)
		writing->error = ERROR_UNSUPPORTED;
	else if (prelude->size == 0 || !memmem(prelude->bytes, prelude->size, declaration, strlen(declaration)))
		buffer_printf(prelude, "%s;\n", declaration);
}

/* Declares a clone for the first of its callers in a file that the definition does not precede. */
static void declare_clone(struct writing *writing, size_t index, size_t file)
{
	const struct copy_plan *plan = writing->plan;
	struct program *program = plan->program;
	const struct plan_clone *clone = &plan->clones[index];
	const struct program_function *function = copy_plan_function(plan, clone);
	struct place definition = place_of(plan, index);
	size_t first = PROGRAM_NONE;
	for (size_t i = 0; i < plan->clone_count; i++) {
		const struct program_function *caller = copy_plan_function(plan, &plan->clones[i]);
		if (!plan->clones[i].is_used)
			continue;
		struct place place = place_of(plan, i);
		bool calls = false;
		for (size_t k = 0; place.file == file && k < caller->call_count; k++)
			calls |= copy_plan_target(plan, &plan->clones[i], &caller->calls[k]) == index;
		struct place best = first == PROGRAM_NONE ? place : place_of(plan, first);
		if (calls && i != index && (definition.file != file || is_before(&place, &definition)) &&
		    (first == PROGRAM_NONE || is_before(&place, &best)))
			first = i;
	}
	if (first == PROGRAM_NONE)
		return;
	const struct program_function *caller = copy_plan_function(plan, &plan->clones[copy_plan_host(plan, first)]);
	CXCursor found = function->cursor;
	bool is_visible;
	if (definition.file != file && program_defined(program, caller->unit, function->usr))
		return; /* in a header that the caller includes */
	if (definition.file != file &&
	    !program_declared(program, caller->unit, function->usr, file, caller->start, &found, &is_visible))
		writing->error = ERROR_UNSUPPORTED;
	else
		declare(writing, first,
			copy_text_declaration(plan, clone, definition.file == file ? function->unit : caller->unit,
					      found));
}

/* Declares a clone directly behind a declaration of the original: names mean the same there. */
static void declare_behind(struct writing *writing, const struct plan_clone *clone, size_t unit, CXCursor declaration)
{
	const struct copy_plan *plan = writing->plan;
	struct program *program = plan->program;
	CXFile in = NULL;
	uint32_t start, end;
	size_t file;
	program->clang->getFileLocation(program->clang->getCursorLocation(declaration), &in, NULL, NULL, NULL);
	program_file(program, unit, in, true); /* a header may have only declarations */
	bool is_plain = program_range(program, unit, declaration, &file, &start, &end) && file != PROGRAM_NONE;
	const char *text = is_plain ? program->files[file].text : NULL;
	const char *semicolon = text ? memchr(text + end, ';', program->files[file].size - end) : NULL;
	const char *copy = copy_text_declaration(plan, clone, unit, declaration);
	if (!semicolon || !copy) {
		writing->error = ERROR_UNSUPPORTED;
		return;
	}
	struct buffer line;
	buffer_init(&line);
	buffer_printf(&line, "\n%s%s;", indentation(writing, &program->files[file], start), copy);
	insert(writing, file, (uint32_t)(semicolon + 1 - text), &line);
	buffer_release(&line);
}

/* C++: names of namespaces and classes have declarations at their places. Those in other files are declarations of a
 * header, or there is another one for each file. Returns false for C, where they are put in front of callers. */
static bool declare_cxx(struct writing *writing, size_t index)
{
	const struct copy_plan *plan = writing->plan;
	struct program *program = plan->program;
	const struct plan_clone *clone = &plan->clones[index];
	const struct program_function *function = copy_plan_function(plan, clone);
	if (function->file == PROGRAM_NONE || !program->units[function->unit].is_cxx)
		return false;
	CXCursor first = program->clang->getCanonicalCursor(function->cursor);
	if (program->clang->equalCursors(first, function->cursor))
		return function->is_method || clone->is_static;
	declare_behind(writing, clone, function->unit, first);
	CXFile in = NULL;
	program->clang->getFileLocation(program->clang->getCursorLocation(first), &in, NULL, NULL, NULL);
	return clone->is_static || function->is_method ||
	       program_file(program, function->unit, in, false) != function->file;
}

/* Returns whether an earlier clone of the same file has the same constant. */
static bool is_declared_before(const struct copy_plan *plan, size_t index, const char *usr)
{
	struct place own = place_of(plan, index);
	for (size_t i = 1; i < plan->clone_count; i++) {
		const struct plan_clone *clone = &plan->clones[i];
		const struct program_function *function = copy_plan_function(plan, clone);
		if (!clone->is_used)
			continue;
		struct place place = place_of(plan, i);
		for (size_t k = 0; function->file == own.file && k < function->parameter_count; k++)
			if (clone->values[k].kind == VALUE_FUNCTION && strcmp(clone->values[k].usr, usr) == 0 &&
			    is_before(&place, &own))
				return true;
	}
	return false;
}

/* Declares functions that are constant arguments, where they are defined later. */
static void declare_constants(struct writing *writing, size_t index)
{
	const struct copy_plan *plan = writing->plan;
	struct program *program = plan->program;
	const struct program_function *function = copy_plan_function(plan, &plan->clones[index]);
	for (size_t i = 0; copy_plan_host(plan, index) == index && i < function->parameter_count; i++) {
		const struct plan_value *value = &plan->clones[index].values[i];
		CXCursor found;
		bool is_visible = true;
		if (value->kind != VALUE_FUNCTION ||
		    !program_declared(program, function->unit, value->usr, function->file, function->end, &found,
				      &is_visible) ||
		    is_visible || is_declared_before(plan, index, value->usr))
			continue;
		size_t other = program_find(program, value->usr);
		if (other == PROGRAM_NONE) {
			writing->error = ERROR_UNSUPPORTED;
			continue;
		}
		const struct program_function *constant = &program->functions[other];
		const char *text = program->files[constant->file].text;
		size_t size = constant->open - constant->start;
		while (size > 0 &&
		       (text[constant->start + size - 1] == ' ' || text[constant->start + size - 1] == '\n' ||
			text[constant->start + size - 1] == '\t'))
			size--;
		declare(writing, index, instrument_arena_text(program->arena, text + constant->start, size));
	}
}

static void make_declarations(struct writing *writing)
{
	const struct copy_plan *plan = writing->plan;
	for (size_t i = 1; i < plan->clone_count; i++) {
		if (!plan->clones[i].is_used)
			continue;
		declare_constants(writing, i);
		if (declare_cxx(writing, i))
			continue;
		for (size_t file = 0; file < plan->program->file_count; file++)
			declare_clone(writing, i, file);
	}
}

/* --- copies --- */

/* Appends the declarations in front of a clone to a block, and an empty line. */
static void append_prelude(const struct writing *writing, size_t index, const char *margin, struct buffer *block)
{
	const struct buffer *prelude = &writing->preludes[index];
	if (prelude->size > 0)
		buffer_printf(block, "%.*s\n%s", (int)prelude->size, (const char *)prelude->bytes, margin);
}

/* Removes the end of a last line that the file has behind the place, or that is added there. */
static void end_directives(const struct program_file *file, uint32_t offset, bool is_in_front, struct buffer *block)
{
	bool ends_line =
		is_in_front || offset >= file->size || file->text[offset] == '\n' || file->text[offset] == '\r';
	if (block->size > 0 && block->bytes[block->size - 1] == '\n' && ends_line)
		block->size--;
}

/* Returns whether a clone is the first function of the supplied file that is used, with which the whole file is inserted. */
static bool is_first_supplied(const struct copy_plan *plan, size_t index)
{
	for (size_t i = 1; i <= index; i++)
		if (plan->clones[i].is_used &&
		    program_is_supplied(plan->program, copy_plan_function(plan, &plan->clones[i])))
			return i == index;
	return false;
}

static void insert_copy(struct writing *writing, size_t index)
{
	const struct copy_plan *plan = writing->plan;
	const struct program_function *host = copy_plan_function(plan, &plan->clones[copy_plan_host(plan, index)]);
	const struct program_file *file = &plan->program->files[host->file];
	struct place place = place_of(plan, index);
	bool is_supplied = is_first_supplied(plan, index);
	const char *text = is_supplied ? writing->supplied : copy_text(plan, &plan->clones[index]);
	bool is_in_front = place.offset == host->start;
	const char *margin = indentation(writing, file, host->start);
	struct buffer block;
	if (!text || !margin) {
		writing->error = ERROR_MEMORY;
		return;
	}
	buffer_init(&block);
	if (!is_in_front)
		buffer_printf(&block, "\n\n%s", margin);
	append_prelude(writing, index, margin, &block);
	for (size_t i = index + 1; is_supplied && i < plan->clone_count; i++)
		if (plan->clones[i].is_used &&
		    program_is_supplied(plan->program, copy_plan_function(plan, &plan->clones[i])))
			append_prelude(writing, i, margin, &block);
	buffer_append_string(&block, text);
	end_directives(file, place.offset, is_in_front, &block);
	if (is_in_front)
		buffer_append_string(&block, "\n\n");
	insert(writing, host->file, is_in_front ? lines_first(file->text, place.offset) : place.offset, &block);
	buffer_release(&block);
}

/* Inserts the declarations in front of f0, and edits its calls. */
static void edit_first(struct writing *writing)
{
	const struct copy_plan *plan = writing->plan;
	const struct program_function *first = copy_plan_function(plan, &plan->clones[0]);
	const struct program_file *file = &plan->program->files[first->file];
	struct buffer *prelude = &writing->preludes[0], undefs;
	buffer_init(&undefs);
	buffer_append_byte(&undefs, '\n');
	copy_text_undefs(plan, &plan->clones[0], &undefs);
	if (undefs.size > 1) {
		end_directives(file, first->end, false, &undefs);
		insert(writing, first->file, first->end, &undefs);
	}
	buffer_release(&undefs);
	copy_text_defines(plan, &plan->clones[0], prelude);
	if (prelude->size > 0) {
		buffer_append_byte(prelude, '\n');
		insert(writing, first->file, lines_first(file->text, first->start), prelude);
	}
	copy_text_calls(plan, &plan->clones[0], &writing->edits[first->file], 0);
}

/* A library's function, or the supplied file, is in front of its caller: its text must come first at that place, and also in front of the
 * caller's macros, which would rename what it calls. */
static void insert_foreign(struct writing *writing)
{
	const struct copy_plan *plan = writing->plan;
	for (size_t i = 1; i < plan->clone_count; i++) {
		bool is_library = copy_plan_function(plan, &plan->clones[i])->file == PROGRAM_NONE;
		if (plan->clones[i].is_used && (is_library || is_first_supplied(plan, i)))
			insert_copy(writing, i);
	}
}

static void insert_copies(struct writing *writing)
{
	const struct copy_plan *plan = writing->plan;
	for (size_t i = 1; i < plan->clone_count; i++)
		if (plan->clones[i].is_used && copy_plan_host(plan, i) == i)
			insert_copy(writing, i);
}

/* --- the result --- */

static int apply(struct writing *writing, struct contextualize_result *result)
{
	struct program *program = writing->plan->program;
	result->changes = instrument_arena_take(program->arena, (program->file_count + 1) * sizeof(*result->changes));
	if (!result->changes)
		return ERROR_MEMORY;
	for (size_t i = 0; i < program->file_count; i++) {
		const struct program_file *file = &program->files[i];
		struct buffer text;
		if (writing->edits[i].count == 0 && !writing->edits[i].error)
			continue;
		buffer_init(&text);
		int code = edits_apply(&writing->edits[i], file->text, file->size, &text);
		const char *after =
			code < 0 ? NULL : instrument_arena_text(program->arena, (const char *)text.bytes, text.size);
		result->changes[result->change_count++] = (struct contextualize_change){ .path = file->path,
											 .before = file->text,
											 .before_size = file->size,
											 .after = after,
											 .after_size = text.size };
		buffer_release(&text);
		if (!after)
			return code < 0 ? code : ERROR_MEMORY;
	}
	return 0;
}

static int describe(struct writing *writing, size_t length, struct contextualize_result *result)
{
	const struct copy_plan *plan = writing->plan;
	struct program *program = plan->program;
	size_t *path = instrument_arena_take(program->arena, length * sizeof(*path));
	result->path = path ? memcpy(path, plan->names, length * sizeof(*path)) : NULL;
	result->copies = instrument_arena_take(program->arena, plan->clone_count * sizeof(*result->copies));
	for (size_t i = 1; result->copies && i < plan->clone_count; i++) {
		const struct plan_clone *clone = &plan->clones[i];
		const struct program_function *function = copy_plan_function(plan, clone);
		const char *constants = "";
		for (size_t k = 0; k < function->parameter_count && constants; k++)
			if (clone->values[k].kind == VALUE_FUNCTION)
				constants = instrument_arena_format(
					program->arena, "%s%s%s = %s", constants, *constants ? ", " : "",
					function->parameters[k].name,
					program_text(program,
						     program->clang->getCursorSpelling(clone->values[k].function)));
		if (clone->is_used && constants)
			result->copies[result->copy_count++] = (struct contextualize_copy){
				function->qualified,
				clone->name,
				constants,
				clone->on_path,
				program_is_supplied(program, function) ? program->supplied_path : NULL,
				function->is_unread
			};
	}
	return path && result->copies ? instrument_arena_error(program->arena) : ERROR_MEMORY;
}

/* Parses the units of changed files again. */
static int check(struct program *program, const struct contextualize_result *result, bool can_be_shorter,
		 struct error *error)
{
	struct CXUnsavedFile *texts =
		instrument_arena_take(program->arena, (2 * result->change_count + 1) * sizeof(*texts));
	bool *is_changed = instrument_arena_take(program->arena, program->unit_count + 1);
	size_t count = 0;
	int code = 0;
	if (!texts || !is_changed)
		return error_memory(error);
	for (size_t i = 0; i < result->change_count; i++) {
		const struct contextualize_change *change = &result->changes[i];
		for (size_t k = 0; k < program->file_count; k++) {
			if (strcmp(program->files[k].path, change->path) != 0)
				continue;
			is_changed[program->files[k].unit] = true;
			texts[count++] = (struct CXUnsavedFile){
				program_text(program, program->clang->getFileName(program->files[k].handle)),
				change->after, change->after_size
			};
		}
		texts[count++] = (struct CXUnsavedFile){ change->path, change->after, change->after_size };
	}
	for (size_t i = 0; i < program->unit_count && code == 0; i++)
		if (is_changed[i])
			code = program_check(program, i, texts, count, error);
	if (code < 0) {
		struct error reason = *error;
		error_set(error, ERROR_UNSUPPORTED, "cannot contextualize: the changed source would not compile: %s%s",
			  reason.message, can_be_shorter ? " (take a shorter path)" : "");
	}
	return code;
}

/* Makes the text of the supplied file, if the path has one of its functions. */
static int supply(struct writing *writing, struct error *error)
{
	const struct copy_plan *plan = writing->plan;
	const struct program *program = plan->program;
	if (!program->supplied_path)
		return 0;
	for (size_t i = 1; i < plan->length && !writing->supplied; i++) {
		if (!program_is_supplied(program, copy_plan_function(plan, &plan->clones[i])))
			continue;
		writing->supplied = copy_supply_text(plan, copy_plan_host(plan, i), error);
		if (!writing->supplied)
			return error->code;
	}
	return writing->supplied ? 0
				 : error_set(error, ERROR_UNSUPPORTED,
					     "cannot contextualize: '%s' is not needed: the sources define all "
					     "functions of the path (leave out --with)",
					     program->supplied_path);
}

static void write_texts(struct writing *writing)
{
	make_declarations(writing);
	insert_foreign(writing);
	edit_first(writing);
	insert_copies(writing);
}

int contextualize(struct program *program, const char *const *names, size_t length, struct contextualize_result *result,
		  struct error *error)
{
	struct copy_plan plan;
	*result = (struct contextualize_result){ 0 };
	int code = copy_plan_make(&plan, program, names, length, error);
	struct writing writing = { .plan = &plan };
	/* The declaration of a clone may add a file. */
	writing.edits = calloc(program->file_count + plan.clone_count + 1, sizeof(*writing.edits));
	writing.preludes = calloc(plan.clone_count + 1, sizeof(*writing.preludes));
	if (code == 0 && (!writing.edits || !writing.preludes))
		code = error_memory(error);
	if (code == 0)
		code = supply(&writing, error);
	if (code == 0) {
		write_texts(&writing);
		code = writing.error ? writing.error : apply(&writing, result);
		if (code == 0)
			code = describe(&writing, length, result);
		if (code < 0)
			error_set(error, code, "cannot contextualize: %s",
				  code == ERROR_UNSUPPORTED
					  ? "a declaration of a function on the path is not plain text"
					  : error_text(code));
	}
	if (code == 0)
		code = check(program, result, length > 2, error);
	for (size_t i = 0; writing.edits && i < program->file_count; i++)
		edits_release(&writing.edits[i]);
	for (size_t i = 0; writing.preludes && i < plan.clone_count; i++)
		buffer_release(&writing.preludes[i]);
	free(writing.edits);
	free(writing.preludes);
	copy_plan_release(&plan);
	return code;
}
