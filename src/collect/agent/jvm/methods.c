#include "collect/agent/jvm/parts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"

void methods_release(struct methods *methods)
{
	for (size_t i = 0; i < methods->count; i++) {
		struct method *method = &methods->items[i];
		(*methods->jvmti)->Deallocate(methods->jvmti, (unsigned char *)method->lines);
		free(method->name);
		free(method->file);
	}
	free(methods->items);
	methods->items = NULL;
	methods->count = methods->capacity = 0;
}

/* Appends a type of a signature ("[Ljava/lang/String;") as in a source. Returns what follows it. */
static const char *append_type(struct buffer *text, const char *type)
{
	static const struct {
		char letter;
		const char *name;
	} basic[] = { { 'Z', "boolean" }, { 'B', "byte" },  { 'C', "char" },   { 'S', "short" }, { 'I', "int" },
		      { 'J', "long" },    { 'F', "float" }, { 'D', "double" }, { 'V', "void" } };
	size_t dimensions = strspn(type, "[");
	type += dimensions;
	if (*type == 'L') {
		size_t length = strcspn(++type, ";");
		for (size_t i = 0; i < length; i++)
			buffer_append_byte(text, (uint8_t)(type[i] == '/' ? '.' : type[i]));
		type += length + (type[length] == ';');
	} else {
		for (size_t i = 0; i < sizeof(basic) / sizeof(basic[0]); i++)
			if (*type == basic[i].letter)
				buffer_append_string(text, basic[i].name);
		type += *type != 0;
	}
	for (; dimensions > 0; dimensions--)
		buffer_append_string(text, "[]");
	return type;
}

/* Returns "package.Class.method(int, long)", or NULL if memory ran out. */
static char *make_name(const char *class, const char *name, const char *signature)
{
	struct buffer text;
	buffer_init(&text);
	append_type(&text, class);
	buffer_append_byte(&text, '.');
	buffer_append_string(&text, name);
	buffer_append_byte(&text, '(');
	const char *type = *signature == '(' ? signature + 1 : ")";
	for (bool is_first = true; *type && *type != ')'; is_first = false) {
		if (!is_first)
			buffer_append_string(&text, ", ");
		type = append_type(&text, type);
	}
	buffer_append_byte(&text, ')');
	buffer_append_byte(&text, 0);
	char *made = buffer_error(&text) ? NULL : strdup((const char *)text.bytes);
	buffer_release(&text);
	return made;
}

/* Returns the file with the folder of the class's package, as source trees have it. */
static char *make_file(const char *class, const char *file)
{
	const char *slash = strrchr(class, '/');
	char *made = NULL;
	int folder = slash && *class == 'L' ? (int)(slash - class) : 0; /* without the L, with the slash */
	if (!file)
		return strdup("");
	return asprintf(&made, "%.*s%s", folder, class + 1, file) < 0 ? NULL : made;
}

static bool describe(jvmtiEnv *jvmti, struct method *method)
{
	char *name = NULL, *signature = NULL, *class_signature = NULL, *file = NULL;
	jclass class = NULL;
	(*jvmti)->GetMethodName(jvmti, method->id, &name, &signature, NULL);
	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method->id, &class) == JVMTI_ERROR_NONE) {
		(*jvmti)->GetClassSignature(jvmti, class, &class_signature, NULL);
		(*jvmti)->GetSourceFileName(jvmti, class, &file);
	}
	if ((*jvmti)->GetLineNumberTable(jvmti, method->id, &method->line_count, &method->lines) != JVMTI_ERROR_NONE) {
		method->lines = NULL; /* native, or compiled without lines */
		method->line_count = 0;
	}
	const char *of_class = class_signature ? class_signature : "L?;";
	method->name = make_name(of_class, name ? name : "?", signature ? signature : "");
	method->file = make_file(of_class, file);
	char *texts[] = { name, signature, class_signature, file };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)texts[i]);
	return method->name && method->file;
}

const struct method *methods_get(struct methods *methods, jmethodID id)
{
	for (size_t i = methods->count; i > 0; i--)
		if (methods->items[i - 1].id == id)
			return &methods->items[i - 1];
	if (ARRAY_RESERVE(methods->items, methods->capacity, methods->count + 1) < 0)
		return NULL;
	struct method *method = &methods->items[methods->count++];
	*method = (struct method){ .id = id };
	return describe(methods->jvmti, method) ? method : NULL;
}

int method_line(const struct method *method, jint bytecode)
{
	jlocation best = -1;
	int line = 0;
	for (jint i = 0; i < method->line_count; i++) {
		const jvmtiLineNumberEntry *entry = &method->lines[i];
		if (entry->start_location > (bytecode < 0 ? 0 : bytecode) || entry->start_location < best)
			continue;
		best = entry->start_location;
		line = entry->line_number;
	}
	return line;
}
