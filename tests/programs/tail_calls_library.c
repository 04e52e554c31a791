/* The library of tail_calls.c: one exported function jumps to another one, by its stub. */
long library_entry(long (*callback)(unsigned), unsigned us);
long library_inner(long (*callback)(unsigned), unsigned us);

long library_inner(long (*callback)(unsigned), unsigned us)
{
	long result = callback(us);

	__asm__ volatile("" ::: "memory");
	return result + 1;
}

long library_entry(long (*callback)(unsigned), unsigned us)
{
	return library_inner(callback, us);
}
