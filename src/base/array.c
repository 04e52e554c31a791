#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { FIRST_CAPACITY = 16 };

int array_reserve(void *items, size_t *capacity, size_t need, size_t item_bytes)
{
	if (need <= *capacity)
		return 0;
	size_t wanted = *capacity < FIRST_CAPACITY / 2 ? FIRST_CAPACITY : *capacity * 2;
	if (wanted < need)
		wanted = need;
	if (wanted > PTRDIFF_MAX / item_bytes)
		return ERROR_MEMORY;
	/* `items` is the address of a typed pointer: to access it as a void ** would break the aliasing rules, so it
	 * is copied. */
	void *old;
	memcpy(&old, items, sizeof(old));
	void *grown = realloc(old, wanted * item_bytes);
	if (!grown)
		return ERROR_MEMORY;
	memcpy(items, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}
