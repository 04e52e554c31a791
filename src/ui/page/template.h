/* The page without a profile, which tools/page_template makes of app/ and the engine. */
#ifndef UI_PAGE_TEMPLATE_H
#define UI_PAGE_TEMPLATE_H

#include <stddef.h>

/* The bytes before and behind the profiles. */
extern const char page_before[], page_after[];
extern const size_t page_before_bytes, page_after_bytes;

#endif
