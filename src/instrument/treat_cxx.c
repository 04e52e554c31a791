/* What C++ allows. */
#include "instrument/places.h"

void treat_cxx(const struct places_function *function)
{
	struct instrument_place *place = &function->item->place;
	if (places_has_word(function->file, function->start, function->open, "consteval"))
		place->skipped = "consteval: it never runs";
	else if (places_has_word(function->file, function->start, function->open, "constexpr"))
		place->skipped = "constexpr";
	else if (places_has_word(function->file, function->open, place->end, "co_await") ||
		 places_has_word(function->file, function->open, place->end, "co_yield") ||
		 places_has_word(function->file, function->open, place->end, "co_return"))
		place->skipped = "a coroutine: an object would live while it is suspended";
}
