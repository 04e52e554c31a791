/* Code of a header: each file that includes it has a copy. */
static int mixed(int value)
{
	return (value * 31) ^ (value >> 3);
}

int other(int n);
