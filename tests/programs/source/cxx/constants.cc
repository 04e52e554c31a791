/* Functions that the compiler may evaluate. */
// counts: main 1
// counts: plain 1
// counts if 14: Point::Point 2
// counts if 14: Point::area 2
// counts if 14: absolute 2
// counts if 14: checked 2
// counts if 14: square 2
// counts if 14: sum_to 2
// counts if 20: Buffer::Buffer 1
// counts if 20: Buffer::~Buffer 1
// counts if 20: Shape::sides 1
// counts if 20: Square::sides 1
// counts if 20: Square::~Square 1
// counts if 20: guarded 1
// counts if 20: use_buffer 1
// counts if 20: where 1
// prints: 53
// prints if 14: 484
// prints if 20: 547
// skipped if 20: doubled consteval
#include <cstdio>

constexpr int square(int x)
{
	return x * x;
}

template <class T> constexpr T absolute(T x) { return x < 0 ? -x : x; }

struct Point {
	int x, y;
	constexpr Point(int a, int b) : x(a), y(b) {}
	constexpr int area() const { return x * y; }
};

static_assert(square(3) == 9, "");
static_assert(absolute(-2) == 2, "");
static_assert(Point(2, 3).area() == 6, "");
static int table[square(4)];
template <int N> struct Number {
	enum { value = N };
};

#if __cplusplus >= 201402L
constexpr int sum_to(int limit)
{
	int total = 0;
	for (int i = 0; i < limit; i++) {
		if (i == 7)
			continue;
		total += i;
	}
	return total;
}
constexpr int checked(int x)
{
	if (x < 0)
		throw x;
	switch (x) {
	case 0:
		return 10;
	default:
		return x;
	}
}
static_assert(sum_to(5) == 10, "");
static_assert(checked(0) == 10, "");
#endif

#if __cplusplus >= 202002L
struct Shape {
	constexpr virtual ~Shape() = default;
	constexpr virtual int sides() const { return 0; }
};
struct Square : Shape {
	constexpr ~Square() override {}
	constexpr int sides() const override { return 4; }
};
static_assert(Square().sides() == 4);

struct Buffer {
	int *data;
	constexpr explicit Buffer(int size) : data(new int[size]{}) {}
	constexpr ~Buffer() { delete[] data; }
};
constexpr int use_buffer(int size)
{
	Buffer buffer(size);
	buffer.data[0] = size;
	return buffer.data[0];
}
static_assert(use_buffer(5) == 5);

constexpr int guarded(int x) try {
	return x + 1;
} catch (...) {
	return 0;
}
static_assert(guarded(1) == 2);

consteval int doubled(int x)
{
	return 2 * x;
}
constexpr int where()
{
	return __builtin_is_constant_evaluated() ? 1 : 2;
}
static_assert(where() == 1);
constinit int begun = doubled(21);
#endif

int plain(int x) { return x + 1; }

int main()
{
	volatile int seed = 3;
	int total = square(seed) + square(seed + 1) + absolute(-seed) + int(absolute(-1.5 * seed)) + table[0];
	Point point(seed, 2), other = Point(seed, seed);
	total += point.area() + other.area() + Number<square(2)>::value + plain(1);
#if __cplusplus >= 201402L
	total += sum_to(seed) + sum_to(10 * seed) + checked(seed);
	try {
		total += checked(-seed);
	} catch (int x) {
		total += x;
	}
#endif
#if __cplusplus >= 202002L
	Square square_shape;
	Shape plain_shape;
	total += const_cast<Shape &>(static_cast<const Shape &>(square_shape)).sides() + plain_shape.sides();
	total += use_buffer(seed) + guarded(seed) + doubled(4) + begun + where();
#endif
	std::printf("%d\n", total);
}
