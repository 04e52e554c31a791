/*
 * Errors of the whole project. A function that can fail returns 0 (or a count) on success and a negative `enum
 * error_code` on failure. If the code alone does not explain the failure to the user, the function also takes a
 * `struct error *`, and fills in one sentence that names the object and, if there is one, the remedy. Libraries
 * never print and never exit (ARCHITECTURE.md names two exceptions).
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

/* One list makes the enum and the texts. */
#define ERROR_LIST(X)                                          \
	X(ERROR_MEMORY, -1, "out of memory")                   \
	X(ERROR_SYSTEM, -2, "a system call failed")            \
	X(ERROR_FORMAT, -3, "the data is not in this format")  \
	X(ERROR_CORRUPT, -4, "the data is damaged")            \
	X(ERROR_TRUNCATED, -5, "the data ends too early")      \
	X(ERROR_VERSION, -6, "the format version is too new")  \
	X(ERROR_NOT_FOUND, -7, "not found")                    \
	X(ERROR_AMBIGUOUS, -8, "the name fits several things") \
	X(ERROR_USAGE, -9, "usage error")                      \
	X(ERROR_PERMISSION, -10, "not permitted")              \
	X(ERROR_UNSUPPORTED, -11, "not supported here")        \
	X(ERROR_LIMIT, -12, "a limit was reached")             \
	X(ERROR_NO_SPACE, -13, "no space left on the device")  \
	X(ERROR_NO_COMMAND, -14, "command not found")          \
	X(ERROR_NOT_EXECUTABLE, -15, "command not executable") \
	X(ERROR_UNREACHABLE, -16, "the server cannot be reached")

enum error_code {
#define X(name, value, text) name = value,
	ERROR_LIST(X)
#undef X
};

struct error {
	int code;          /* 0, or an enum error_code */
	char message[512]; /* one sentence, no newline, no full stop */
};

/* Returns the fixed text of a code, and a text for any other number: never NULL. */
const char *error_text(int code);

/* Fills in `error`, unless it is NULL, and returns `code`, so that a caller can write `return error_set(error,
 * ERROR_FORMAT, "...", ...)`. */
int error_set(struct error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same, with ": " and strerror(errno) appended. The code follows from errno: ERROR_PERMISSION, ERROR_NOT_FOUND,
 * ERROR_NO_SPACE, ERROR_MEMORY or ERROR_SYSTEM. */
int error_set_errno(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fills in "out of memory". Returns ERROR_MEMORY. `error` may be NULL. */
int error_memory(struct error *error);

/* Replaces the code and keeps the message. Returns `code`. `error` may be NULL. */
int error_set_code(struct error *error, int code);

#endif
