/*
 * The options by which commands read a store instead of a file. A selection of a store is one text, a URL:
 *
 *   sqlite:///var/lib/cpprof.db?service=shop&host=a7&label=tenant=acme&from=-2h&to=-1h
 *   http://host:8123/cpprof?service=shop
 *
 * The options make such a URL, and commands accept one in place of a file's name. In the values, %XX is a byte.
 */
#ifndef CMD_STORE_OPTIONS_H
#define CMD_STORE_OPTIONS_H

#include "base/buffer.h"
#include "cmd/command.h"
#include "store/store.h"

#define STORE_DEFAULT "cpprof.db"

enum {
	STORE_URL = 910,
	STORE_SERVICE,
	STORE_HOST,
	STORE_LABEL,
	STORE_FROM,
	STORE_TO,
};

/* clang-format off */
/* For commands with ROWS_SELECTION, whose --label, --from and --to then select from the store. */
#define ROWS_STORE \
	{ STORE_URL, 0, "store", "URL", \
	  "Read the recordings of this store: sqlite:///PATH, a path, or http://HOST:8123/DATABASE. --from and --to are then times: now, -1h, @SECONDS or a date", NULL }, \
	{ STORE_SERVICE, 0, "service", "NAME", "With --store: those of this service", NULL }, \
	{ STORE_HOST, 0, "host", "NAME", "With --store: those of this machine", NULL }
/* For other commands. */
#define ROWS_STORE_SELECTION \
	ROWS_STORE, \
	{ STORE_LABEL, 0, "label", "KEY=VALUE", "With --store: count only hits with this label; may be given several times", NULL }, \
	{ STORE_FROM, 0, "from", "TIME", "With --store: from this time on", NULL }, \
	{ STORE_TO, 0, "to", "TIME", "With --store: up to this time", NULL }
/* clang-format on */

/* Returns the store that --store names, or the default one. */
const char *store_options_named(const struct invocation *invocation);

/* The same without user and password, for messages: valid until the next call. */
const char *store_options_shown(const struct invocation *invocation);

/* Refuses options that need --store, without it. Returns EXIT_DONE, or prints a message and returns another status. */
int store_options_check(const struct invocation *invocation);

/* Returns the URL that the options and the further query `more` ("", "from=-1h&to=now") make, which the caller frees; or NULL after a
 * message. */
char *store_options_url(const struct invocation *invocation, const char *more);

/* Appends the value of a query to a URL, with its special characters as %XX. */
void store_options_append(struct buffer *url, const char *text);

/* The same for a store that the options need not name. */
char *store_options_url_of(const struct invocation *invocation, const char *store, const char *more);

/* Reads a store's selection, of the URL without user and password in messages. Returns NULL and sets `error` if it cannot, with ERROR_NOT_FOUND
 * also if nothing matches. The caller frees the profile. */
struct profile *store_options_select(const struct invocation *invocation, const char *url, struct error *error);

/* Reads a store's selection, and removes user and password from the URL. On failure, prints a message and returns NULL. The caller frees
 * the profile. */
struct profile *store_options_open(const struct invocation *invocation, char *url);

/* Reads "KEY=VALUE" in place: the text is cut behind the key. Returns 0 or ERROR_USAGE. */
int store_label_read(char *text, struct store_label *label, struct error *error);

#endif
