/* A library is relocated before the libraries that were found before it: the library with the hooks may be among them. */
typedef int function(int);

static __attribute__((noinline)) int library_impl(int x)
{
	__asm__ volatile("");
	return x + 2;
}

static function *resolve(void)
{
	return library_impl;
}

int library_picked(int x) __attribute__((ifunc("resolve")));
