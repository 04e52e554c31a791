/*
 * The rule by which names of functions become short enough to read (docs/languages.md): C++, Rust, Go
 * and C. Pure text, without regard to what else has the same name; analyze/short_names.h keeps the
 * names of one report distinct.
 *
 * The stages, each shorter than the stage before, for
 * "void ns::sort<__gnu_cxx::__normal_iterator<Rec*, std::vector<Rec, std::allocator<Rec> > > >(int) [clone .part.0]":
 *
 *   FULL      as recorded
 *   USUAL     void ns::sort<std::vector<Rec>::iterator>(int) [part]
 *   BARE      ns::sort<std::vector<Rec>::iterator> [part]
 *   INNER     ns::sort<iterator> [part]
 *   OUTER     ns::sort<…> [part]
 *   LAST_TWO  ns::sort<…> [part]
 *   LAST      sort<…> [part]
 *
 * A shorter stage of a stage's text is that stage of the name itself.
 */
#ifndef BASE_SHORT_NAME_H
#define BASE_SHORT_NAME_H

#include <stddef.h>

#include "base/buffer.h"

enum short_name_stage {
	SHORT_NAME_FULL,
	SHORT_NAME_USUAL,
	SHORT_NAME_BARE,
	SHORT_NAME_INNER,
	SHORT_NAME_OUTER,
	SHORT_NAME_LAST_TWO,
	SHORT_NAME_LAST,
	SHORT_NAME_STAGES,
};

#define SHORT_NAME_MARK "…"

/* Appends a name of `length` bytes, any bytes, as it is at that stage. The result takes at most
 * as many columns as the name. Names above 64 KiB are appended as they are. An error of memory
 * is kept in the buffer. */
void short_name_append(struct buffer *to, const char *name, size_t length, enum short_name_stage stage);

/* Appends the name at the first stage from BARE on that fits into `columns`, or cut. For a name
 * without others beside it. */
void short_name_fit(struct buffer *to, const char *name, size_t length, size_t columns);

/* Cuts the text that begins at byte `from` of the buffer to `columns`: its middle becomes "…". */
void short_name_cut(struct buffer *text, size_t from, size_t columns);

#endif
