/* Templates of all kinds: the tool edits each once, and each instance is counted as a function. */
// counts: Counted::count 3
// counts: Derived::one 3
// counts: Pair::second 1
// counts: Power::power 11
// counts: Stack::Node::Node 12
// counts: Stack::as 1
// counts: Stack::pop 2
// counts: Stack::push 12
// counts: apply 2
// counts: fill 1
// counts: friendly 2
// counts: increment 2
// counts: main 1
// counts: spaces::outside 1
// counts: sum 5
// counts: twice 6
// prints: 149 4.0 ello 81 32
#include <cstdio>

template <class T> T twice(T value)
{
	return value + value;
}

template <> const char *twice<const char *>(const char *value) { return value + 1; }

template <class T, int N = 4> class Stack
{
	struct Node {
		T value;
		explicit Node(T v = T()) : value(v) { used = 1; }
		int used;
	};
	Node nodes[N];
	int top = 0;

      public:
	void push(T value) { nodes[top++ % N].value = value; }
	T pop();
	template <class U> U as(int at) const { return static_cast<U>(nodes[at].value); }
	friend int friendly(const Stack &stack) { return stack.top; }
};

template <class T, int N> T Stack<T, N>::pop()
{
	return nodes[--top].value;
}

/* A partial specialization. */
template <class A, class B> struct Pair {
	static int second() { return 2; }
};
template <class A> struct Pair<A, int> {
	static int second()
	{
		return 7;
	}
};

inline int sum()
{
	return 0;
}
template <class First, class... Rest> int sum(First first, Rest... rest) { return first + sum(rest...); }

template <int N> struct Power {
	static long power(long base) { return base * Power<N - 1>::power(base); }
};
template <> struct Power<0> {
	static long power(long)
	{
		return 1;
	}
};

template <class Self> struct Counted {
	int count() { return static_cast<Self *>(this)->one() + 1; }
};
struct Derived : Counted<Derived> {
	int one() { return 1; }
};

template <template <class, int> class Container> void fill(Container<int, 4> &container)
{
	for (int i = 0; i < 4; i++)
		container.push(i);
}

template <class F, class T> auto apply(F function, T value) -> decltype(function(value))
{
	return function(value);
}
int increment(int value) { return value + 1; }

namespace spaces
{
template <class T> typename T::kind outside(typename T::kind value)
{
	return value;
}
struct Kind {
	using kind = int;
};
} // namespace spaces

template class Stack<long, 4>;
extern template class Stack<short, 2>;
template class Stack<short, 2>;

int main()
{
	volatile int seed = 1;
	int total = twice<int>(seed) + twice(int(seed)) + twice(2);
	double real = twice(0.5) + twice(1.5 * seed);
	Stack<int> stack;
	Stack<long> longs;
	Stack<short, 4> shorts;
	for (int i = 0; i < 4; i++)
		longs.push(i), shorts.push(static_cast<short>(i));
	fill(stack);
	total += stack.pop() + stack.as<int>(1) + static_cast<int>(longs.pop()) + friendly(stack) + friendly(longs);
	total += sum(1, 2L > 1 ? 2 : 3, 'a', short(4)) + Pair<int, int>::second();
	Derived derived;
	total += derived.count() + derived.count() + derived.count();
	total += apply(increment, seed) + apply(&increment, 3) + spaces::outside<spaces::Kind>(5);
	std::printf("%d %.1f %s %ld %ld\n", total, real, twice("hello"), Power<4>::power(3), Power<5>::power(2 * seed));
}
