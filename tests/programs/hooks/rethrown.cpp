// Exceptions that are caught, rethrown and replaced by others; thrown while another is handled; and caught by `...`.
#include <exception>
#include <stdexcept>

#include "hooks.h"

extern "C" {

NOINLINE void throw_number(int n)
{
	if (UNKNOWN(n) >= 0)
		throw n;
}

NOINLINE void note(int *notes)
{
	*notes += UNKNOWN(1);
}

NOINLINE void rethrow(int n, int *notes)
{
	try {
		throw_number(n);
	} catch (int) {
		note(notes);
		throw;
	}
}

NOINLINE void exchange(int n, int *notes)
{
	try {
		rethrow(n, notes);
	} catch (int) {
		note(notes);
		throw std::runtime_error("exchanged");
	}
}

NOINLINE void within_handler(int n, int *notes)
{
	try {
		exchange(n, notes);
	} catch (const std::exception &) {
		try {
			rethrow(n + 1, notes);
		} catch (int) {
			note(notes);
		}
		throw;
	}
}

NOINLINE void keep(int n, int *notes)
{
	std::exception_ptr kept;
	try {
		throw_number(n);
	} catch (...) {
		kept = std::current_exception();
	}
	note(notes);
	std::rethrow_exception(kept);
}
}

int main()
{
	int notes = 0, caught = 0;
	for (int i = 0; i < 25; i++) {
		try {
			within_handler(i, &notes);
		} catch (const std::runtime_error &) {
			caught++;
		}
		try {
			keep(i, &notes);
		} catch (...) {
			caught++;
		}
	}
	CHECK(caught == 50 && notes == 25 * 5);
	return 0;
}
