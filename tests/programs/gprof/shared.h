/* Code of a header: a copy of it in each file that includes it. */
static int mixed(int value)
{
	return (value * 31) ^ (value >> 3);
}

int other(int n);
