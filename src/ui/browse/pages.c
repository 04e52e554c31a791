/* The table of pages. */
#include "ui/browse/browser.h"

const struct page_kind *const page_kinds[] = {
	&page_tree,    &page_callers, &page_functions, &page_callees,   &page_source, &page_disassembly,
	&page_changes, &page_threads, &page_processes, &page_resources, &page_info,   &page_help,
	NULL,
};
