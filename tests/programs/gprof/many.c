/* Some hundred functions of different sizes. They need not run: gmon.out files about them are made up. */
static volatile long sink;

#define ONE(n)                  \
	int f##n(int x)         \
	{                       \
		sink += x;      \
		if (x > n)      \
			sink--; \
		return x + n;   \
	}
#define STATIC(n)                                     \
	static __attribute__((used)) int _s##n(int x) \
	{                                             \
		for (int i = 0; i < x; i++)           \
			sink += i * n;                \
		return x;                             \
	}
#define TEN(n)    \
	ONE(n##0) \
	ONE(n##1) ONE(n##2) STATIC(n##3) ONE(n##4) ONE(n##5) STATIC(n##6) ONE(n##7) ONE(n##8) ONE(n##9) struct many

TEN(10);
TEN(11);
TEN(12);
TEN(13);
TEN(14);
TEN(15);
TEN(16);
TEN(17);
TEN(20);
TEN(21);
TEN(22);
TEN(23);
TEN(24);
TEN(25);
TEN(26);
TEN(27);
TEN(30);
TEN(31);
TEN(32);
TEN(33);
TEN(34);
TEN(35);
TEN(36);
TEN(37);

int main(void)
{
	return f100(1) == 0;
}
