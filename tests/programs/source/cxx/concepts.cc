/* C++20: concepts, abbreviated templates, defaulted comparisons, template parameters of class type. */
// standards: 20 23
// counts: Box::get 2
// counts: Box::only_int 1
// counts: Explicit::operator int 1
// counts: Version::operator<=> 2
// counts: abbreviated 2
// counts: add 2
// counts: constrained 1
// counts: lambda 1
// counts: main 1
// counts: size_of 2
// counts: text 1
// prints: 40 text
#include <compare>
#include <cstdio>

template <class T> concept Number = requires(T x) {
	{ x + x };
	x * x;
	requires sizeof(T) > 1;
};

template <Number T> T add(T a, T b) { return a + b; }

auto abbreviated(Number auto x, auto... rest) { return x + static_cast<int>(sizeof...(rest)); }

template <class T>
	requires Number<T> && requires(T x) { x - x; }
T constrained(T x)
	requires(sizeof(T) < 16)
{
	return x - 1;
}

template <class T> struct Box {
	T value;
	T get() const
		requires requires(T x) { x; }
	{
		return value;
	}
	int only_int()
		requires(sizeof(T) == 4)
	{
		return 4;
	}
};

struct Version {
	int major_one, minor_one;
	bool operator==(const Version &) const = default;
	std::strong_ordering operator<=>(const Version &other) const
	{
		if (auto order = major_one <=> other.major_one; order != 0)
			return order;
		return minor_one <=> other.minor_one;
	}
};

template <int N> struct Text {
	char characters[N];
	constexpr Text(const char (&from)[N])
	{
		for (int i = 0; i < N; i++)
			characters[i] = from[i];
	}
};
template <Text T> const char *text() { return T.characters; }

template <class T> struct Explicit {
	T value;
	explicit(sizeof(T) > 4) operator int() const { return static_cast<int>(value); }
};

template <class T> int size_of()
{
	if constexpr (sizeof(T) == 1)
		return 1;
	else
		return [] { return static_cast<int>(sizeof(T)); }();
}

int main()
{
	volatile int seed = 2;
	int total = add(int(seed), 1) + static_cast<int>(add(1.5, 2.0)) + abbreviated(seed, 1, 2) + abbreviated(1L);
	Box<int> box{ .value = 3 };
	Box<long> other{ 4 };
	total += constrained(5) + box.get() + static_cast<int>(other.get()) + box.only_int();
	total += Version{ 1, 2 } < Version{ 1, seed + 1 };
	total += Version{ 1, 2 } >= Version{ 2, 0 };
	total += Version{ 1, 2 } == Version{ 1, 2 };
	total += Explicit<int>{ 3 } + size_of<char>() + size_of<long>();
	std::printf("%d %s\n", total, text<"text">());
}
