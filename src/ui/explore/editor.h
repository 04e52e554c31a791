/*
 * Line editing on a terminal with libedit: the prompt, history and completion. The history is saved in
 * $XDG_STATE_HOME/cpprof/history (~/.local/state if that is not set), readable only by its owner. If it cannot be
 * saved, the loop works without it.
 */
#ifndef UI_EXPLORE_EDITOR_H
#define UI_EXPLORE_EDITOR_H

#include <stdbool.h>

#include "ui/explore/session.h"

struct editor;

/* Returns an editor, or NULL if the terminal does not support editing or memory is exhausted. The completion uses
 * the session, which must outlive the editor. */
struct editor *editor_new(struct session *session, const char *prompt);
void editor_free(struct editor *editor); /* saves the history; accepts NULL */

/* Returns the next line, without its newline, valid until the next call; or NULL if the input ended or
 * explore_interrupted() became true. */
const char *editor_read(struct editor *editor);

#endif
