int twice(int n);
int twice(int n)
{
	if (n % 2)
		n += 0; /* odd */
	return n * 2;
}
