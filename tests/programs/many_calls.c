/* More calls than a page of a trace has room for: 2000003 of step, one of main. */
static volatile int steps;

__attribute__((noinline)) static void step(void)
{
	steps++;
}

int main(void)
{
	for (int i = 0; i < 2000003; i++)
		step();
	return 0;
}
