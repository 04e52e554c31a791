// Rust names: a module, a trait's method, a generic function and a closure.
use std::hint::black_box;

mod shapes {
	use std::hint::black_box;

	pub struct Circle {
		pub radius: u64,
	}

	pub trait Draw {
		fn draw(&self) -> u64;
	}

	impl Draw for Circle {
		#[inline(never)]
		fn draw(&self) -> u64 {
			let mut sum = self.radius;
			for i in 0..300_000u64 {
				sum = black_box(sum + i);
			}
			sum
		}
	}
}

use shapes::Draw;

#[inline(never)]
fn render<T: Draw>(shape: &T) -> u64 {
	black_box(shape.draw()) + 1
}

#[inline(never)]
fn call<F: Fn() -> u64>(function: F) -> u64 {
	black_box(function()) + 1
}

fn main() {
	let circle = shapes::Circle { radius: 3 };
	let mut total = 0u64;
	for _ in 0..400 {
		total = total.wrapping_add(render(&circle));
		total = total.wrapping_add(call(|| black_box(circle.draw()) + 2));
	}
	println!("{}", black_box(total) > 0);
}
