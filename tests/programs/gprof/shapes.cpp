// Namespaces, templates, virtual calls, overloads, operators and a lambda, whose names are mangled.
#include <cstdio>

namespace geometry {

struct shape {
	virtual ~shape() {}
	virtual long area() const = 0;
};

template <class T> struct box : shape {
	T width, height;
	box(T a, T b) : width(a), height(b) {}
	long area() const override { return (long)(width * height); }
	box operator+(const box &other) const { return box(width + other.width, height + other.height); }
};

static long sum(const shape &a, const shape &b)
{
	return a.area() + b.area();
}

static long sum(long a, long b)
{
	return a + b;
}

} // namespace geometry

namespace {

template <class F> long repeat(int times, F function)
{
	long total = 0;
	for (int i = 0; i < times; i++)
		total = geometry::sum(total, function(i));
	return total;
}

} // namespace

int main()
{
	long total = repeat(1000, [](int i) {
		geometry::box<int> small(i, 2);
		geometry::box<double> large(i * 0.5, 3);
		return geometry::sum(small + small, large);
	});
	return total == 0;
}
