/* Names, bodies and braces in unusual forms. */
// counts: a::b::h 1
// counts: alternative 2
// counts: chosen 1
// counts: commented 1
// counts: continued 1
// counts: digraph 1
// counts: far 1
// counts: from_c 1
// counts: generated_one 1
// counts: generated_two 1
// counts: héllo 1
// counts: lined 1
// counts: lines 1
// counts: main 1
// counts: outer::inner::f 1
// counts: outer::v2::g 1
// counts: prefix_name 1
// counts: raw 1
// counts: several 1
// prints: 181 500 98
// prints: names.cc main
// skipped: whole macro
// skipped: begun macro
#include <cstdio>

extern "C" {
int from_c(int x) { return x; }
}
extern "C" int declared_in_c(int);

namespace outer
{
namespace inner
{
int f() { return 1; }
} // namespace inner
inline namespace v2
{
int g() { return 2; }
} // namespace v2
} // namespace outer

namespace a
{
namespace b
{
int h() { return 3; }
} // namespace b
} // namespace a

int digraph(int x)
<%
	int y<:2:> = <% x, x %>;
	return y<:0:> + y<:1:>;
%>

#define NAME(x) generated_##x
#define PREFIX prefix_name
#define WHOLE(name) int name() { return 6; }
#define BEGIN {
#define END }
#define PARAMETERS (int x, int y)
int NAME(one)() { return 4; }
int NAME(two)
	()
{
	return 5;
}
int PREFIX PARAMETERS { return x * y; }
WHOLE(whole)
int begun()
BEGIN
	return 7;
END

const char *raw() { return R"x({ "not a body" } // )x"; }

auto far(int x, int (&)[3]) noexcept(noexcept(x + 1) and not false)
	-> int
	// {
	/* { */
{
	return x;
}

#if defined(NOWHERE)
int chosen() { return 0; }
#else
int chosen()
#endif
#if 1
{ return 8; }
#else
{ return 9; }
#endif

bool alternative(bool x, bool y) { return (x and not y) or (x xor y); }

int conti\
nued(int x) \
{ \
	return x; }

#line 500 "elsewhere.cc"
int lined() { return __LINE__; }
#line 90 "names.cc"

int héllo() { return 2; } int several() { return 3; } struct Empty { };

int /* { */ commented /* ( */ ( /* ) */ int /* { */ ) // {
{ // }
	return '{' == '}' ? 1 : "{}"[0] == '{';
}

int lines() { return __LINE__; }

int main()
{
	int array[3] = { 1, 2, 3 };
	int total = from_c(1) + outer::inner::f() + outer::g() + a::b::h() + digraph(2) + generated_one() + generated_two();
	total += prefix_name(2, 3) + whole() + begun() + raw()[0] + far(1, array) + chosen() + alternative(true, false);
	total += alternative(false, false) + continued(3) + héllo() + several() + commented(1);
	std::printf("%d %d %d\n%s %s\n", total, lined(), lines(), __FILE__, __func__);
}
