/* Member functions of all kinds. */
// counts: Abstract::pure 1
// counts: Base::Base 6
// counts: Base::name 1
// counts: Base::~Base 5
// counts: Concrete::pure 1
// counts: Derived::Derived 4
// counts: Derived::name 2
// counts: Derived::~Derived 3
// counts: Inherited::extra 1
// counts: Number::Number 10
// counts: Number::changed 1
// counts: Number::get 3
// counts: Number::made 1
// counts: Number::operator delete 1
// counts: Number::operator new 1
// counts: Number::operator() 2
// counts: Number::operator+ 2
// counts: Number::operator++ 3
// counts: Number::operator- 1
// counts: Number::operator-> 1
// counts: Number::operator= 2
// counts: Number::operator== 1
// counts: Number::operator[] 2
// counts: Optional::operator bool 2
// counts: Optional::operator int 1
// counts: Outer::Inner::deep 1
// counts: hidden 1
// counts: lambda 1
// counts: main 1
// counts: main::Local::run 1
// counts: operator"" _n 1
// counts: operator, 1
// counts: operator<< 1
// counts: quiet 1
// counts: through 2
// prints: base derived derived 11
// prints: 67 0
#include <cstddef>
#include <cstdio>
#include <cstdlib>

class Base
{
      public:
	Base() : Base(1) {}
	explicit Base(int v) : value(v) { value += 0; }
	Base(const Base &) = delete;
	virtual ~Base() { value = 0; }
	virtual const char *name() const { return "base"; }
	int value;
};

class Derived : public Base
{
      public:
	Derived() : Derived(5)
	{
	}
	explicit Derived(int v) noexcept : Base{ v }, second{ v + 1 } {}
	~Derived() override { second = 0; }
	const char *name() const override { return "derived"; }
	int second;
};

struct Inherited : Base {
	using Base::Base;
	int extra() const { return value; }
};

struct Abstract {
	virtual ~Abstract() = default;
	virtual int pure() = 0;
};
int Abstract::pure() { return 1; }
struct Concrete final : Abstract {
	int pure() final { return Abstract::pure() + 1; }
};

class Number
{
	int value;

      public:
	Number(int v = 0) : value(v) { /* may be empty but for a comment */ }
	Number(const Number &other) = default;
	Number &operator=(const Number &other)
	{
		value = other.value;
		return *this;
	}
	Number operator+(const Number &other) const { return Number(value + other.value); }
	friend Number operator-(const Number &, const Number &) = delete;
	Number operator-() const { return { -value }; }
	Number &operator++() { return ++value, *this; }
	Number operator++(int)
	{
		Number before(value);
		++*this;
		return before;
	}
	bool operator==(const Number &other) const { return value == other.value; }
	int &operator[](std::size_t) { return value; }
	template <class T> T operator()(T x) const { return x + static_cast<T>(value); }
	Number *operator->() { return this; }
	void *operator new(std::size_t size) { return std::malloc(size); }
	void operator delete(void *memory) { std::free(memory); }
	int get() const & { return value; }
	int get() && { return value + 1; }
	auto changed(int by) volatile noexcept -> int
	{
		value = value + by;
		return value;
	}
	static Number made();
};
Number Number::made() { return Number(9); }
int operator<<(const Number &number, int by) { return number.get() << by; }
int operator,(const Number &, const Base &) { return 3; }
Number operator"" _n(unsigned long long value) { return Number(static_cast<int>(value)); }

struct Optional {
	int held;
	explicit operator bool() const { return held != 0; }
	operator int() const { return held; }
};

struct Outer {
	struct Inner {
		static int deep() { return 4; }
	};
};

namespace
{
int hidden() { return 6; }
} // namespace

int quiet() noexcept(noexcept(hidden()));
int quiet() noexcept(noexcept(hidden())) { return 1; }

template <class C> int through(C &object, int (C::*member)()) { return (object.*member)(); }

int main()
{
	Base base;
	Derived derived, other(7);
	Base *heap = new Derived(8);
	Inherited inherited(3);
	std::printf("%s %s %s %d\n", base.name(), derived.name(), heap->name(), other.second + inherited.extra());
	delete heap;
	Concrete concrete;
	Number a(2), b(3), c;
	c = a + b + 1_n;
	c = Number::made();
	++c;
	c++;
	int total = (-a).get() + (a == b) + a[0] + b[1] + a(1) + static_cast<int>(a(1.5)) + c->get() + (a << 2) + (b, base);
	total += [](Number *one) { return delete one, 1; }(new Number(4));
	total += c.changed(2) + Outer::Inner::deep() + hidden() + quiet() + through(concrete, &Concrete::pure);
	struct Local {
		int run() { return 5; }
	} local;
	total += through(local, &Local::run);
	Optional some{ 3 }, none{ 0 };
	total += some ? some + 0 : 0;
	std::printf("%d %d\n", total, none ? 1 : 0);
}
