#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *error_text(int code)
{
	switch (code) {
#define X(name, value, text) \
	case name:           \
		return text;
		ERROR_LIST(X)
#undef X
	default:
		return code >= 0 ? "no error" : "an unknown error";
	}
}

int error_set(struct error *error, int code, const char *format, ...)
{
	if (!error)
		return code;
	va_list args;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	error->code = code;
	return code;
}

static int code_of_errno(int number)
{
	switch (number) {
	case ENOMEM:
		return ERROR_MEMORY;
	case EACCES:
	case EPERM:
	case EROFS:
		return ERROR_PERMISSION;
	case ENOENT:
	case ESRCH:
		return ERROR_NOT_FOUND;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return ERROR_NO_SPACE;
	default:
		return ERROR_SYSTEM;
	}
}

int error_set_errno(struct error *error, const char *format, ...)
{
	int number = errno;
	int code = code_of_errno(number);
	if (!error)
		return code;
	va_list args;
	va_start(args, format);
	int length = vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	if (length >= 0 && (size_t)length < sizeof(error->message))
		snprintf(error->message + length, sizeof(error->message) - (size_t)length, ": %s", strerror(number));
	error->code = code;
	return code;
}

int error_memory(struct error *error)
{
	return error_set(error, ERROR_MEMORY, "out of memory");
}

int error_set_code(struct error *error, int code)
{
	if (error)
		error->code = code;
	return code;
}
