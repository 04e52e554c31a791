#ifndef EXCEPTIONS_LIBRARY_H
#define EXCEPTIONS_LIBRARY_H

struct library_error {
	int value;
};

extern "C" int library_throws(int n);
extern "C" int library_calls(int (*callback)(int), int n);

#endif
