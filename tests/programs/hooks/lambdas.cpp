// Lambdas of one function that are called in the same way, and the functions of a template for each: gcc gives the
// three functions of one lambda the same names as the functions of the other.
#include <cstdio>

namespace
{
template <class F> struct kept {
	F f;
	int twice(int x)
	{
		return f(x) + f(x);
	}
};

template <class F> int call(F f)
{
	return kept<F>{ f }.twice(1);
}

int both()
{
	int sum = 0;
	for (int i = 0; i < 5; i++)
		sum += call([](const int &x) { return x + 1; });
	for (int i = 0; i < 7; i++)
		sum += call([](const int &x) { return x + 2; });
	return sum;
}
} // namespace

int main()
{
	printf("%d\n", both());
}
