// Rust names: a module, a trait's method, a generic function and a closure.
mod shapes {
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
				sum = crate::opaque(sum + i);
			}
			sum
		}
	}
}

use shapes::Draw;

// Hides a value from the optimizer; std::hint::black_box needs Rust 1.66, and Debian 12 has 1.63.
#[inline(always)]
fn opaque(value: u64) -> u64 {
	unsafe { std::ptr::read_volatile(&value) }
}

#[inline(never)]
fn render<T: Draw>(shape: &T) -> u64 {
	opaque(shape.draw()) + 1
}

#[inline(never)]
fn call<F: Fn() -> u64>(function: F) -> u64 {
	opaque(function()) + 1
}

fn main() {
	let circle = shapes::Circle { radius: 3 };
	let mut total = 0u64;
	for _ in 0..400 {
		total = total.wrapping_add(render(&circle));
		total = total.wrapping_add(call(|| opaque(circle.draw()) + 2));
	}
	println!("{}", opaque(total) > 0);
}
