/*
 * A table of unusual things that programs do. `PROGRAM NAME` works before, while and after it does the thing called NAME.
 * Each function checks its own results.
 */
#ifndef UNUSUAL_H
#define UNUSUAL_H

#include "moment.h"

struct unusual {
	const char *name;
	void (*act)(void);
};

static inline int unusual_main(const struct unusual *things, int argc, char **argv)
{
	for (const struct unusual *thing = things; thing->name; thing++)
		if (argc == 2 && strcmp(thing->name, argv[1]) == 0) {
			burn(1000);
			thing->act();
			burn(1000);
			return moment_ends("it is done\n");
		}
	fprintf(stderr, "usage: %s NAME, one of:\n", argv[0]);
	for (const struct unusual *thing = things; thing->name; thing++)
		fprintf(stderr, "%s\n", thing->name);
	return 2;
}

#endif
