/*
 * The parts of a demangled C++ or Rust name. Any other text is allowed, too.
 *
 *   void ns::Klass<int>::f<char>(int, char const*) const
 *        ^ start                ^ end
 *
 * The qualified name is between start and end; its components are separated by "::" outside of all brackets. The
 * brackets of operators ("operator<", "operator()") and the '>' of "->" do not count as brackets. A component that
 * consists of brackets, like "(anonymous namespace)", "{lambda(int)#1}" or Rust's "<T as Trait>", does not count as
 * parameters or template arguments.
 */
#ifndef BASE_CXX_NAME_H
#define BASE_CXX_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct cxx_name {
	size_t start; /* start of the qualified name, behind a return type */
	size_t end;   /* its end, before the parameters */
};

/* Returns a name with start <= end <= length, for any text. */
struct cxx_name cxx_name_parse(const char *text, size_t length);

/* Copies the qualified name to `to` (room for `length` bytes), without template arguments, Rust's "::<...>" and ABI
 * tags. Returns the length of the copy. */
size_t cxx_name_plain(const char *name, size_t length, char *to);

/* Returns the next start of a component behind `from`, or `length` if there is none. */
size_t cxx_name_component(const char *name, size_t length, size_t from);

/* Finds the last component of the plain name in `text`: "push_back" in "std::vector<int>::push_back(int const&)".
 * Writes the plain name to `to` (room for `length` bytes), sets *start to the start of its last component in `to`,
 * and returns the length of that component. */
size_t cxx_name_last(const char *text, size_t length, char *to, size_t *start);

/* Returns the position behind the bracket ('<', '(', '[' or '{') at `at` and all that it encloses, or `at` + 1 if it is
 * never closed. */
size_t cxx_name_brackets(const char *text, size_t length, size_t at);

/* Returns the position of the next `end` from `at` on that is not in brackets or an operator, or `length` if there is none. */
size_t cxx_name_until(const char *text, size_t length, size_t at, char end);

/* Returns the length of "operator" and its symbol at `at`, or 0 if there is none. */
size_t cxx_name_operator(const char *text, size_t length, size_t at);

/* Whether a parameter list that ends at `at` belongs to an enclosing function: "f(int) const::{lambda()#1}". */
bool cxx_name_encloses(const char *text, size_t length, size_t at);

/* Whether a qualified name ends with the components `end`: "ns::Klass::f" ends with "Klass::f". */
bool cxx_name_ends_with(const char *name, size_t length, const char *end, size_t end_length);

#endif
