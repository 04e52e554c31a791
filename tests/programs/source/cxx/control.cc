/* Functions with jumps, loops, switches and other control flow that is not straight. */
// standards: 11 14 17 20 23
// options: -Wno-pedantic -Wno-vla -Wno-gnu-label-as-value -Wno-gnu-statement-expression
// counts: Cleaner::~Cleaner 6
// counts: back 3
// counts: countdown 101
// counts: downward 11
// counts: duff 1
// counts: expression 1
// counts: jumps 2
// counts: machine 3
// counts: main 1
// counts: many 2
// counts: switched 4
// counts: variable 1
// prints: 11 8
// prints: abcdefg 6 1 3 0
// prints: 10 5 5
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstring>

static std::jmp_buf environment;

struct Cleaner {
	int *count;
	~Cleaner() { ++*count; }
};

int jumps(int x)
{
	int count = 0;
again: {
	Cleaner cleaner{ &count };
	if (count < x)
		goto again;
}
	if (count > 1)
		goto end;
	count += 10;
end:
	return count;
}

int machine(const char *code)
{
	static void *targets[] = { &&stop, &&more, &&less };
	int value = 0;
	goto *targets[*code++ - '0'];
more:
	value++;
	goto *targets[*code++ - '0'];
less:
	value--;
	goto *targets[*code++ - '0'];
stop:
	return value;
}

void duff(char *to, const char *from, int count)
{
	int times = (count + 3) / 4;
	switch (count % 4) {
	case 0:
		do {
			*to++ = *from++;
#if __cplusplus >= 201703L
			[[fallthrough]];
#else
			__attribute__((fallthrough));
#endif
		case 3:
			*to++ = *from++;
#if __cplusplus >= 201703L
			[[fallthrough]];
#else
			__attribute__((fallthrough));
#endif
		case 2:
			*to++ = *from++;
#if __cplusplus >= 201703L
			[[fallthrough]];
#else
			__attribute__((fallthrough));
#endif
		case 1:
			*to++ = *from++;
		} while (--times > 0);
	}
}

int expression(int x)
{
	return ({
		int y = x;
		y * 2;
	});
}

int variable(int size)
{
	char bytes[size];
	std::memset(bytes, 1, sizeof bytes);
	return bytes[size - 1];
}

int many(int count, ...)
{
	va_list list;
	va_start(list, count);
	int total = 0;
	for (int i = 0; i < count; i++)
		total += va_arg(list, int);
	va_end(list);
	return total;
}

void back(int level)
{
	if (level > 100)
		return;
	if (level == 0)
		std::longjmp(environment, 1);
	back(level - 1);
}

int downward(int x) { return x == 0 ? 0 : 1 + downward(x - 1); }
int countdown(int x) { return x == 0 ? 5 : countdown(x - 1); }

int switched(int x)
{
	switch (x) {
	case 0:
		return 1;
	case 1: {
		int y = 2;
		return y;
	}
	default:
		break;
	}
	while (true)
		if (x-- < 3)
			return x;
}

int main()
{
	char to[8] = "";
	std::printf("%d %d\n", jumps(0), jumps(4) + machine("110") + machine("1210") + machine("0"));
	duff(to, "abcdefg", 7);
	std::printf("%s %d %d %d %d\n", to, expression(3), variable(100), many(2, 1, 2), many(0));
	if (setjmp(environment) == 0)
		back(2);
	std::printf("%d %d %d\n", downward(10), countdown(100), switched(0) + switched(1) + switched(2) + switched(5));
}
