/* "a, b, c and 7 more": a list of names for one sentence of a message. */
#ifndef BASE_NAME_LIST_H
#define BASE_NAME_LIST_H

#include <stddef.h>

#include "base/buffer.h"

/* {0} is an empty list; name_list_release frees it. */
struct name_list {
	struct buffer text;
	size_t count;
};

void name_list_add(struct name_list *list, const char *name);

/* Returns the text, which is valid until name_list_release. Call it once, after the last name_list_add. */
const char *name_list_text(struct name_list *list);

void name_list_release(struct name_list *list);

#endif
