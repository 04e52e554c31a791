// Names of C++: namespaces, templates, lambdas, constructors, static functions.
#include "mark.h"

volatile int sink;

namespace geometry
{
namespace
{
NOINLINE int hidden(int x)
{
	MARK(1);
	return x + sink;
}
INLINE int hidden_inline(int x)
{
	MARK(2);
	return x - sink;
}
} // namespace

struct shape {
	explicit shape(int size);
	virtual ~shape();
	template <typename T> NOINLINE T scale(T by)
	{
		MARK(3);
		return static_cast<T>(size * by + sink);
	}
	int size;
};

NOINLINE shape::shape(int wanted) : size(wanted)
{
	MARK(4);
	sink = wanted;
}

NOINLINE shape::~shape()
{
	MARK(5);
	sink = size;
}

int area(int x)
{
	return hidden(x) + hidden_inline(x);
}
} // namespace geometry

template <typename F> NOINLINE int apply(F function)
{
	return function(sink) + 1;
}

extern "C" NOINLINE int plain(int x)
{
	MARK(6);
	return x + sink;
}

int main(int argc, char **)
{
	geometry::shape shape(argc);
	auto square = [argc](int x) {
		MARK(7);
		return x * x + argc;
	};
	return geometry::area(argc) + shape.scale(2.5) + apply(square) + plain(argc);
}
