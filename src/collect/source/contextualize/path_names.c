/* The functions that a name in a call path may mean. */
#include "collect/source/contextualize/path_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/path.h"

/* --- matching --- */

static const char *file_in(const char *name)
{
	const char *at = strrchr(name, '@');
	return at && at > name ? at + 1 : NULL;
}

/* Returns whether the last components of a path are these: "lib/a.c" for "/home/lib/a.c". Ignores leading "./" and "../". */
static bool ends_with_path(const char *path, const char *end)
{
	while (strncmp(end, "./", 2) == 0 || strncmp(end, "../", 3) == 0)
		end = strchr(end, '/') + 1;
	size_t size = strlen(path), length = strlen(end);
	return length > 0 && length <= size && strcmp(path + size - length, end) == 0 &&
	       (length == size || end[0] == '/' || path[size - length - 1] == '/');
}

/* Returns the size of a name as "__cxx11::" at the start of a text: compilers leave out such inline namespaces. */
static size_t reserved_size(const char *text, const char *end)
{
	const char *at = text;
	while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
		at++;
	bool is_reserved = at - text > 2 && memcmp(text, "__", 2) == 0 && end - at >= 2 && memcmp(at, "::", 2) == 0;
	return is_reserved ? (size_t)(at + 2 - text) : 0;
}

enum spelling {
	SPELLING_WRITTEN,  /* "const string &" as in the source */
	SPELLING_COMPLETE, /* "const std::basic_string<char> &" */
	SPELLING_PLAIN,    /* the same without template arguments and reserved namespaces */
};

static void count_letters(int letters[256], const char *text, size_t size, int step, enum spelling spelling)
{
	const char *end = text + size;
	bool is_plain = spelling == SPELLING_PLAIN;
	for (int depth = 0; text < end; text++) {
		size_t reserved = is_plain ? reserved_size(text, end) : 0;
		bool is_close = is_plain && *text == '>';
		depth += is_plain && *text == '<';
		if (reserved > 0)
			text += reserved - 1;
		else if (depth == 0 && *text != ' ')
			letters[(unsigned char)*text] += step;
		depth -= is_close && depth > 0;
	}
}

/* Compares the letters of two lists of parameters: clang writes "const T &" where demanglers write "T const&". */
static bool has_parameters(const struct program *program, const struct program_function *function, const char *open,
			   size_t size, enum spelling spelling)
{
	const struct clang *clang = program->clang;
	int letters[256] = { 0 }, count = clang->Cursor_getNumArguments(function->cursor);
	count_letters(letters, open, size, 1, spelling);
	for (int i = 0; i < count; i++) {
		CXType type = clang->getCursorType(clang->Cursor_getArgument(function->cursor, (unsigned)i));
		CXString text =
			clang->getTypeSpelling(spelling == SPELLING_WRITTEN ? type : clang->getCanonicalType(type));
		const char *bytes = clang->getCString(text);
		count_letters(letters, bytes, strlen(bytes), -1, spelling);
		clang->disposeString(text);
		letters[','] -= i > 0;
	}
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i] != 0)
			return false;
	return true;
}

/* Returns how well a name fits, 0 if it does not: bits for its last components, for all of it, and for its parameters. */
static unsigned rank_of(const struct program *program, const struct program_function *function, const char *name)
{
	enum { LAST = 1, WHOLE = 2, PLAIN_PARAMETERS = 4, PARAMETERS = 8 };
	static const char anonymous[] = "(anonymous namespace)::";
	const char *file = file_in(name), *end = file ? file - 1 : name + strlen(name);
	if (function->file == PROGRAM_NONE || (file && !ends_with_path(program->files[function->file].path, file)))
		return 0;
	for (const char *at; (at = memmem(name, (size_t)(end - name), anonymous, sizeof(anonymous) - 1));)
		name = at + sizeof(anonymous) - 1;
	const char *open = memchr(name, '(', (size_t)(end - name)),
		   *close = open ? memrchr(open, ')', (size_t)(end - open)) : NULL;
	size_t length = (size_t)((open ? open : end) - name), full = strlen(function->qualified);
	while (length > 0 && name[length - 1] == ' ')
		length--;
	if (full < length || strncmp(function->qualified + full - length, name, length) != 0 ||
	    (full > length && function->qualified[full - length - 1] != ':'))
		return 0;
	unsigned rank = LAST | (full == length ? WHOLE : 0);
	if (!close)
		return rank;
	size_t size = (size_t)(close - open - 1);
	if (has_parameters(program, function, open + 1, size, SPELLING_WRITTEN) ||
	    has_parameters(program, function, open + 1, size, SPELLING_COMPLETE))
		return rank | PARAMETERS;
	return rank | (has_parameters(program, function, open + 1, size, SPELLING_PLAIN) ? PLAIN_PARAMETERS : 0);
}

void path_choice_offer(struct path_choice *choice, size_t function)
{
	unsigned rank = rank_of(choice->program, &choice->program->functions[function], choice->name);
	for (size_t i = 0; i < choice->count && i < PATH_CHOICES_SHOWN; i++)
		if (choice->found[i] == function)
			return;
	if (rank == 0 || rank < choice->rank)
		return;
	if (rank > choice->rank)
		choice->count = 0;
	choice->rank = rank;
	if (choice->count < PATH_CHOICES_SHOWN)
		choice->found[choice->count] = function;
	choice->count++;
}

/* --- the result --- */

static const struct program_function *choice_function(const struct path_choice *choice, size_t index)
{
	return &choice->program->functions[choice->found[index]];
}

/* Returns the shortest last components of a function's file that no other choice has, or NULL. */
static const char *own_file(const struct path_choice *choice, size_t index, size_t shown)
{
	const char *path = choice->program->files[choice_function(choice, index)->file].path;
	for (const char *at = path_basename(path);;) {
		bool is_own = true;
		for (size_t i = 0; i < shown; i++)
			is_own &= i == index ||
				  !ends_with_path(choice->program->files[choice_function(choice, i)->file].path, at);
		if (is_own)
			return at;
		if (at < path + 2)
			return NULL;
		for (at -= 2; at > path && *at != '/'; at--)
			;
		at += *at == '/';
	}
}

static void append_choice(struct buffer *text, const struct path_choice *choice, size_t index, size_t shown)
{
	const struct program *program = choice->program;
	const struct program_function *function = choice_function(choice, index);
	const char *file = own_file(choice, index, shown);
	size_t outer = strlen(function->qualified) - strlen(function->name);
	if (file)
		buffer_printf(text, "%s@%s", function->qualified, file);
	else
		buffer_printf(text, "%.*s%s", (int)outer, function->qualified,
			      program_text(program, program->clang->getCursorDisplayName(function->cursor)));
}

int path_choice_take(const struct path_choice *choice, size_t *found, struct error *error)
{
	size_t shown = choice->count < PATH_CHOICES_SHOWN ? choice->count : PATH_CHOICES_SHOWN;
	struct buffer text;
	if (choice->count == 0)
		return ERROR_NOT_FOUND;
	*found = choice->found[0];
	if (choice->count == 1)
		return 0;
	buffer_init(&text);
	for (size_t i = 0; i < shown; i++) {
		buffer_append_string(&text, i > 0 ? ", " : "");
		append_choice(&text, choice, i, shown);
	}
	buffer_append_string(&text, choice->count > shown ? ", ..." : "");
	buffer_append_byte(&text, 0);
	error_set(error, ERROR_AMBIGUOUS, "cannot contextualize: %zu functions are called '%s': %s (name one of them)",
		  choice->count, choice->name, buffer_error(&text) ? "..." : (const char *)text.bytes);
	buffer_release(&text);
	return ERROR_AMBIGUOUS;
}

/* --- libraries --- */

bool path_is_library(const char *function, const char *name)
{
	size_t length = strlen(function);
	return strncmp(name, function, length) == 0 && (name[length] == 0 || strchr("_@", name[length]));
}

bool path_depends_on_caller(const char *name)
{
	static const char builtin[] = "__builtin_";
	static const char *const names[] = { "vfork",  "setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "getcontext",
					     "alloca", "dlopen", "dlsym",   "dlvsym",    "backtrace" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return strncmp(name, builtin, sizeof(builtin) - 1) == 0;
}
