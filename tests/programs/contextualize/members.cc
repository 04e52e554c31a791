/* Static member functions, defined in their class and outside of it. */
#include <cstdio>
#include <vector>
namespace ns {
struct Sorter {
    static int run(const std::vector<int> &v, int (*less)(int, int));
    static int inside(int n, int (*less)(int, int)) {
        return less(n, n + 1);
    }
};
int less(int a, int b) { return a < b; }
int more(int a, int b) { return a > b; }

int Sorter::run(const std::vector<int> &v, int (*less)(int, int))
{
    int sum = 0;
    for (int x : v)
        sum += less(x, 3) + inside(x, less);
    return sum;
}
int first(const std::vector<int> &v) { return Sorter::run(v, less); }
int second(const std::vector<int> &v) { return Sorter::run(v, more); }
}
int main() {
    std::vector<int> v{1, 2, 5, 7};
    std::printf("%d %d\n", ns::first(v), ns::second(v));
}
