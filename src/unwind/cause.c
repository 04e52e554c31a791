/* The texts of causes. */
#include "unwind/cause.h"

const char *unwind_cause_text(enum unwind_cause cause)
{
	static const char *const texts[] = {
#define X(name, whole, text) text,
		UNWIND_CAUSE_LIST(X)
#undef X
	};
	return (unsigned)cause < UNWIND_CAUSE_COUNT ? texts[cause] : "an unknown cause";
}

bool unwind_cause_whole(enum unwind_cause cause)
{
	static const bool wholes[] = {
#define X(name, whole, text) whole,
		UNWIND_CAUSE_LIST(X)
#undef X
	};
	return (unsigned)cause < UNWIND_CAUSE_COUNT && wholes[cause];
}
