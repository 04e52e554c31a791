/*
 * C++ names and inlined functions: a namespace, a class, a template, a lambda, and a chain of functions that are
 * always inlined.
 */
#include "burn.h"

namespace shapes
{

class circle
{
      public:
	NOINLINE void draw() const
	{
		burn(500);
		NOT_A_TAIL_CALL();
	}
};

template <typename Shape> NOINLINE void render(const Shape &shape)
{
	shape.draw();
	NOT_A_TAIL_CALL();
}

} // namespace shapes

__attribute__((always_inline)) static inline void inlined_twice()
{
	BURN_HERE(500);
}

__attribute__((always_inline)) static inline void inlined_once()
{
	inlined_twice();
}

NOINLINE static void holds_inlined()
{
	inlined_once();
	NOT_A_TAIL_CALL();
}

template <typename Function> NOINLINE static void call(Function function)
{
	function();
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	shapes::circle circle;

	for (int i = 0, rounds = rounds_wanted(argc, argv, 250); i < rounds; i++) {
		shapes::render(circle);
		holds_inlined();
		call([] {
			burn(500);
			NOT_A_TAIL_CALL();
		});
	}
	return 0;
}
