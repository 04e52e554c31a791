/* What C allows, and what of it holds for C++ as well. */
#include "instrument/places.h"

/* Attributes of functions that an object must not stand in. */
static const struct {
	const char *name, *why;
} forbidden[] = {
	{ "naked", "naked: it has no frame for an object" },
	{ "interrupt", "interrupt: it may run anywhere" },
	{ "no_instrument_function", "no_instrument_function: the source says so" },
};

void treat_c(const struct places_function *function)
{
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		if (places_has_attribute(function, forbidden[i].name)) {
			function->item->place.skipped = forbidden[i].why;
			return;
		}
	}
}
