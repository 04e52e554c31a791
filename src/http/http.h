/*
 * Requests to servers, by libcurl, which is loaded when it is needed: other commands start without it.
 *
 * A server that cannot be reached, is busy (429) or fails (5xx) is asked again, after 250 ms, 500 ms and so on, or after the time that it
 * requests (Retry-After), at most 10 s. An attempt that was connected and had no byte for the whole limit, a stall, is not repeated. Any other answer is final.
 * Redirections are not followed, because the request is for the server that the user named.
 *
 * Life cycle: http_open, any number of http_send, http_close. Connections are kept from one request to the next one.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { HTTP_TEXT_BYTES = 321, HTTP_SLOW_S = 5 };

/* A part of a form; or the whole body, which has no name. */
struct http_part {
	const char *name;
	const char *type; /* "application/json" */
	const void *bytes;
	size_t size;
};

/* A POST. Nothing is owned. */
struct http_request {
	const char *url;               /* http or https */
	const struct http_part *parts; /* one without a name, or several with names: multipart/form-data */
	size_t part_count;
	const char *const *headers; /* "NAME: VALUE" */
	size_t header_count;
	unsigned retries; /* after the first attempt */
	bool is_once;     /* reaches the server at most once; without retries */
	bool has_netrc;   /* ~/.netrc has the password if the URL has none */
	long stall_s;     /* the time without a byte after which the request fails; 0: 60 */
	/* Takes a piece of the body of an answer 2xx. Returns 0, or a negative error, which ends the request. NULL: the body is not needed.
	 * After the first piece, the request is not repeated. */
	int (*take)(void *context, const void *bytes, size_t size);
	void *context;
	/* Returns whether a failure (429, 5xx) is final, by the beginning of its body. NULL: it is not. */
	bool (*is_final)(const char *text);
};

struct http_answer {
	unsigned attempts;
	long status;                /* 0: none */
	char text[HTTP_TEXT_BYTES]; /* the beginning of an answer other than 2xx */
};

struct http;

/* Returns NULL with `error` set if there is no libcurl. */
struct http *http_open(struct error *error);
void http_close(struct http *http); /* NULL is allowed */

/* Returns 0, if the server has accepted the request (2xx), or a negative error with `error` set: ERROR_UNREACHABLE if the last
 * attempt had a temporary failure, the error of `take`, or ERROR_SYSTEM with the server's answer in the message. */
int http_send(struct http *http, const struct http_request *request, struct http_answer *answer, struct error *error);

/* Returns whether the last request ended in a stall. */
bool http_has_stalled(const struct http *http);

/* Sets the function that is called once for each request whose server has sent nothing for HTTP_SLOW_S. `url`: without user, password
 * and parameters. For all requests of the process. */
typedef void http_slow(const char *url);
void http_report_slow(http_slow *report);

/* Writes the URL without user and password, for messages. Returns `text`. */
const char *http_public_url(const char *url, char *text, size_t bytes);

/* Removes user and password from a URL in place. */
void http_hide_user(char *url);

struct buffer;

/* Appends text as the value of a parameter of a query (RFC 3986). */
void http_append_escaped(struct buffer *out, const char *text);

#endif
