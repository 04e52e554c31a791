/* The keys that work on every screen. Those that open a screen are in the table of screens. */
#ifndef UI_BROWSE_KEYS_H
#define UI_BROWSE_KEYS_H

#include <stdio.h>

#include "ui/browse/browser.h"

struct browse_key {
	int32_t keys[3];  /* ended by 0 */
	const char *name; /* "PgDn, space" */
	const char *help; /* one line without a full stop */
	/* Returns 0 or a negative error. */
	int (*press)(struct browser *browser, struct error *error);
};

/* Ended by a row without a name. */
extern const struct browse_key browse_keys[];

/* Prints all keys, one per line. */
void keys_print(FILE *out);

#endif
