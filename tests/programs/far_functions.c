/* Functions that are so far apart that each is in pages of its own, also for a kernel that maps the pages around a fault. Calls some of them. */
#define FAR __attribute__((noinline, aligned(0x20000)))

static volatile int sink;

#define FUNCTION(name)                                     \
	FAR void name(void)                                \
	{                                                  \
		sink++;                                    \
		__asm__ volatile("# " #name ::: "memory"); \
	}

FUNCTION(first)
FUNCTION(second)
FUNCTION(third)
FUNCTION(fourth)
FUNCTION(fifth)

FAR int main(void)
{
	fourth();
	second();
	fifth();
	second();
	return 0;
}
