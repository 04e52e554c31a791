// Lines of templates, of inlined functions, of lambdas and of exceptions.
#include <vector>
#include <map>
#include <string>
#include <stdexcept>
#include <cstdio>
struct thing {
	int n;
	thing(int v) : n(v) {}
	~thing() { n = 0; }
	int get() const { return n; }
};
template <class T> T largest(const std::vector<T> &v)
{
	T best = v[0];
	for (const T &x : v)
		if (x > best)
			best = x;
	return best;
}
inline __attribute__((always_inline)) int twice(int x)
{
	int y = x;
	for (int i = 0; i < 2; i++)
		y += i;
	return y;
}
static int thrower(int x)
{
	thing t(x);
	if (x > 2)
		throw std::runtime_error("no");
	return t.get();
}
static int catcher(int x)
{
	int r = 0;
	try {
		thing a(1);
		r = thrower(x);
		r += a.get();
	} catch (const std::exception &e) { // differs: between compilers, as the landing pads are
		r = -1;
	}
	return r;
}
static int lambdas(int n)
{
	auto f = [&](int x) {
		return x + n;
	};
	int s = 0;
	for (auto &p : std::map<int, int>{ { 1, 2 }, { 3, 4 } })
		s += f(p.first) + p.second;
	return s;
}
int main()
{
	std::vector<int> v = { 3, 1, 2 };
	std::vector<double> d = { 3, 1, 2, 5 };
	int s = largest(v) + (int)largest(d);
	for (int i = 0; i < 5; i++) {
		s += catcher(i);
		s += twice(i);
	}
	s += twice(s);
	s += lambdas(3);
	printf("%d\n", s);
	return s == 1;
}
