#include "frames/native/names.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

size_t name_plain_length(const char *linkage)
{
	const char *at = strchr(linkage, '@');
	return at && at != linkage ? (size_t)(at - linkage) : strlen(linkage);
}

/* Returns whether a word behind a dot is one that gcc or clang append to the name of a clone. */
static bool is_clone_word(const char *word, size_t length)
{
	static const char *const words[] = { "constprop",  "isra",      "part",   "cold",  "lto_priv",
					     "localalias", "llvm",      "hot",    "clone", "warm",
					     "unlikely",   "simdclone", "__uniq", "lto" };
	bool digits = length > 0;
	for (size_t i = 0; i < length; i++)
		digits = digits && isdigit((unsigned char)word[i]);
	if (digits)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
			return true;
	return false;
}

size_t name_base_length(const char *linkage)
{
	size_t plain = name_plain_length(linkage);
	size_t length = plain;
	bool only_numbers = true;
	for (;;) {
		const char *dot = memrchr(linkage, '.', length);
		if (!dot || dot == linkage)
			return length;
		const char *word = dot + 1;
		size_t word_length = (size_t)(linkage + length - word);
		/* A compiler's clones have numbers; Go's runtime has the function runtime.clone. */
		if (length == plain && strcmp(word, "clone") == 0)
			return plain;
		if (!is_clone_word(word, word_length))
			/* Go's main.main.func1.2 is not a clone of main.main.func1. */
			return only_numbers ? plain : length;
		only_numbers = only_numbers && isdigit((unsigned char)*word);
		length = (size_t)(dot - linkage);
	}
}

/* A readable name while libiberty writes it. Each part of a mangled name may repeat earlier parts, so that a name of 100 bytes may stand
 * for one of gigabytes. */
struct readable {
	jmp_buf too_long;
	size_t length;
	char text[NAME_READABLE_MOST + 1];
};

static void append(const char *text, size_t length, void *context)
{
	struct readable *readable = context;
	if (length > NAME_READABLE_MOST - readable->length)
		longjmp(readable->too_long, 1); /* libiberty has only memory of its stack here */
	memcpy(readable->text + readable->length, text, length);
	readable->length += length;
}

char *name_demangle(const char *base)
{
	enum { OPTIONS = DMGL_PARAMS | DMGL_ANSI };
	struct readable readable;
	if (base[0] != '_' || (base[1] != 'Z' && base[1] != 'R' && base[1] != 'G'))
		return NULL;
	readable.length = 0;
	if (setjmp(readable.too_long) != 0)
		return NULL;
	bool is_done = rust_demangle_callback(base, OPTIONS, append, &readable) ||
		       cplus_demangle_v3_callback(base, OPTIONS, append, &readable);
	return is_done ? strndup(readable.text, readable.length) : NULL;
}

/* --- Haskell --- */

enum { HASKELL_PARTS_MOST = 64 };

/* Returns the character that GHC encodes by 'z' or 'Z' and a letter, or 0. */
static char haskell_character(char mark, char letter)
{
	static const char small[] = "a&b|c^d$e=g>h#i.l<m-n!p+q'r\\s/t*u_v%zz", large[] = "L(R)M[N]C:ZZ";
	const char *pairs = mark == 'z' ? small : mark == 'Z' ? large : "";
	for (; *pairs; pairs += 2)
		if (pairs[0] == letter)
			return pairs[1];
	return 0;
}

/* Appends the tuple that "2T" or "2H" (unboxed) encodes behind a 'Z'. Returns the end of the encoding, or NULL if it is none. */
static const char *append_haskell_tuple(struct buffer *name, const char *text)
{
	char *end;
	unsigned long parts = strtoul(text, &end, 10);
	bool is_unboxed = *end == 'H';
	if ((*end != 'T' && !is_unboxed) || parts > HASKELL_PARTS_MOST)
		return NULL;
	buffer_append_string(name, is_unboxed ? "(#" : "(");
	for (unsigned long i = 1; i < parts; i++)
		buffer_append_byte(name, ',');
	buffer_append_string(name, is_unboxed ? "#)" : ")");
	return end + 1;
}

/* Appends the character that "2cU" encodes behind a 'z'. The same result. Characters outside of ASCII stay encoded. */
static const char *append_haskell_code(struct buffer *name, const char *text)
{
	char *end;
	unsigned long code = strtoul(text, &end, 16);
	if (*end != 'U' || code < ' ' || code >= 0x7f)
		return NULL;
	buffer_append_byte(name, (char)code);
	return end + 1;
}

/* Appends what begins at a mark and is encoded. Returns its end, or NULL if nothing is. */
static const char *append_haskell_encoded(struct buffer *name, const char *text)
{
	char character = haskell_character(text[0], text[1]);
	if (character)
		buffer_append_byte(name, character);
	if (character || !isdigit((unsigned char)text[1]))
		return character ? text + 2 : NULL;
	return text[0] == 'Z'   ? append_haskell_tuple(name, text + 1)
	       : text[0] == 'z' ? append_haskell_code(name, text + 1)
				: NULL;
}

/* Appends the decoded text. What is no encoding stays as it is. */
static void append_haskell(struct buffer *name, const char *text, const char *end)
{
	while (text < end) {
		const char *behind = append_haskell_encoded(name, text);
		if (!behind)
			buffer_append_byte(name, *text++);
		else
			text = behind;
	}
}

/* Symbols are PACKAGE_MODULE_NAME_info, or MODULE_NAME_info in the main package. Their parts are encoded, so that they contain no '_'. */
char *name_haskell(const char *symbol)
{
	static const char ending[] = "_info";
	size_t length = strlen(symbol), before = sizeof(ending) - 1;
	const char *end = symbol + (length > before ? length - before : 0);
	const char *first = strchr(symbol, '_');
	/* A package with its version contains a '-', and a module never does. */
	bool is_package =
		first && (!isupper((unsigned char)symbol[0]) || memmem(symbol, (size_t)(first - symbol), "zm", 2));
	const char *module = is_package ? first + 1 : symbol;
	const char *behind = strchr(module, '_');
	if (strcmp(end, ending) != 0 || !isupper((unsigned char)module[0]) || !behind || behind + 1 >= end)
		return NULL;
	struct buffer text;
	buffer_init(&text);
	if (module > symbol) {
		append_haskell(&text, symbol, first);
		buffer_append_byte(&text, ':');
	}
	append_haskell(&text, module, behind);
	buffer_append_byte(&text, '.');
	append_haskell(&text, behind + 1, end);
	buffer_append_byte(&text, '\0');
	if (buffer_error(&text) == 0)
		return (char *)text.bytes;
	buffer_release(&text);
	return NULL;
}

/* --- Rust --- */

/* Legacy mangling: _ZN...17h0123456789abcdefE. Mangling v0: _R... */
bool name_is_rust(const char *base)
{
	static const char hash[] = "17h";
	enum { HASH_BYTES = 3 + 16 + 1 };
	if (base[0] != '_')
		return false;
	if (base[1] == 'R')
		return true;
	size_t length = strlen(base);
	if (base[1] != 'Z' || length < HASH_BYTES + 3 || base[length - 1] != 'E')
		return false;
	const char *end = base + length - HASH_BYTES;
	if (memcmp(end, hash, 3) != 0)
		return false;
	for (int i = 3; i < HASH_BYTES - 1; i++)
		if (!isxdigit((unsigned char)end[i]))
			return false;
	return true;
}
