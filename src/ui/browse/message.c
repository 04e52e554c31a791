/* The message in the last row of the terminal, until the next key. */
#include <stdarg.h>
#include <stdio.h>

#include "ui/browse/browser.h"

void browser_set_message(struct browser *browser, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(browser->message, sizeof(browser->message), format, arguments);
	va_end(arguments);
}
