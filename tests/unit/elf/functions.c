/* A program with enough functions that compressed call frame information is smaller. */
#define FUNCTION(name, next)                     \
	int name(int value);                     \
	int name(int value)                      \
	{                                        \
		volatile int kept = next(value); \
		return kept + 1;                 \
	}

static int last(int value)
{
	return value;
}

FUNCTION(h, last)
FUNCTION(g, h)
FUNCTION(f, g)
FUNCTION(e, f)
FUNCTION(d, e)
FUNCTION(c, d)
FUNCTION(b, c)
FUNCTION(a, b)

int main(int argc, char **argv)
{
	(void)argv;
	return a(argc) == 0;
}
