/*
 * Line editing on a terminal: the prompt, history and completion, by libedit.
 * The history is kept in $XDG_STATE_HOME/cpprof/history (~/.local/state if
 * that is not set), readable by its owner only; where it cannot be kept the
 * loop works without.
 */
#ifndef UI_EXPLORE_EDITOR_H
#define UI_EXPLORE_EDITOR_H

#include <stdbool.h>

#include "ui/explore/session.h"

struct editor;

/* NULL: the terminal cannot be edited on. The session serves the completion
 * and must outlive the editor. */
struct editor *editor_new(struct session *session, const char *prompt);
void editor_free(struct editor *editor); /* NULL is fine; saves the history */

/* The next line, without its newline, valid until the next call; NULL: the
 * input ended, or explore_interrupted() became true. */
const char *editor_read(struct editor *editor);

#endif
