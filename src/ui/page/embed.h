/*
 * Writes data into the page: deflated, in base64, in elements that the browser does not run.
 *
 *   <div hidden id="ID" data-bytes="SIZE"><script type="text/plain">PART</script>
 *   <script type="text/plain">PART</script>
 *   </div>
 *
 * Each part is the base64 of at most 48 KiB. A browser that reads one long text copies it again and again while it grows:
 * for 6 MB in one element, Chromium touches 28 MB of memory more than for parts.
 */
#ifndef UI_PAGE_EMBED_H
#define UI_PAGE_EMBED_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sink.h"

/* `size` is the number of bytes before they are deflated; `id` needs no escapes. A period_ns above 0
 * (ui/page/compact.h) becomes the attribute data-period. Returns 0 or ERROR_MEMORY. */
int page_embed(struct sink *sink, const char *id, uint64_t period_ns, const void *bytes, size_t size,
	       struct error *error);

#endif
