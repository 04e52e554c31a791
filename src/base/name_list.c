#include "base/name_list.h"

enum { NAMES_MAX = 8 };

void name_list_add(struct name_list *list, const char *name)
{
	if (list->count++ < NAMES_MAX)
		buffer_printf(&list->text, "%s%s", list->count > 1 ? ", " : "", name);
}

const char *name_list_text(struct name_list *list)
{
	if (list->count > NAMES_MAX)
		buffer_printf(&list->text, " and %zu more", list->count - NAMES_MAX);
	buffer_append_byte(&list->text, 0);
	return buffer_error(&list->text) ? "..." : (const char *)list->text.bytes;
}

void name_list_release(struct name_list *list)
{
	buffer_release(&list->text);
}
