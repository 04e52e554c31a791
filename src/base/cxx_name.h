/*
 * The parts of a demangled C++ or Rust name, or of any other text taken as one.
 *
 *   void ns::Klass<int>::f<char>(int, char const*) const
 *        ^ start                ^ end
 *
 * Between start and end stands the qualified name; it breaks into components at
 * "::" outside all brackets. Brackets of operators ("operator<", "operator()")
 * and the '>' of "->" are no brackets; a component of its own like
 * "(anonymous namespace)", "{lambda(int)#1}" or Rust's "<T as Trait>" is never
 * taken for parameters or template arguments.
 */
#ifndef BASE_CXX_NAME_H
#define BASE_CXX_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct cxx_name {
	size_t start; /* where the qualified name starts: behind a return type */
	size_t end;   /* where it ends: before the parameters */
};

/* start <= end <= length, whatever the text. */
struct cxx_name cxx_name_parse(const char *text, size_t length);

/* Copies the qualified name without template arguments, "::<...>" of Rust and
 * ABI tags to `to` (room for `length` bytes); returns its length. */
size_t cxx_name_plain(const char *name, size_t length, char *to);

/* The next start of a component behind `from`, or `length`: none. */
size_t cxx_name_component(const char *name, size_t length, size_t from);

/* The last component of the plain name in `text`: "push_back" of
 * "std::vector<int>::push_back(int const&)". Writes the plain name to `to` (room
 * for `length` bytes) and the start of its last component there to *start;
 * returns the component's length. */
size_t cxx_name_last(const char *text, size_t length, char *to, size_t *start);

/* Whether a qualified name is `end` from one of its components on: "Klass::f" of
 * "ns::Klass::f". */
bool cxx_name_ends_with(const char *name, size_t length, const char *end, size_t end_length);

#endif
