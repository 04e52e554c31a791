// Rust names: a module, a trait's method, a generic function and a closure. Each drawing touches a page for the first time.
mod shapes {
	use std::cell::Cell;

	pub struct Circle {
		pub pages: *mut u8,
		pub touched: Cell<usize>,
	}

	pub trait Draw {
		fn draw(&self) -> usize;
	}

	impl Draw for Circle {
		#[inline(never)]
		fn draw(&self) -> usize {
			self.touched.set(self.touched.get() + 1);
			unsafe { self.pages.add(self.touched.get() * 4096).write_volatile(1) };
			self.touched.get()
		}
	}
}

use shapes::Draw;

// Hides a value from the optimizer; std::hint::black_box needs Rust 1.66, and Debian 12 has 1.63.
#[inline(always)]
fn opaque(value: usize) -> usize {
	unsafe { std::ptr::read_volatile(&value) }
}

#[inline(never)]
fn render<T: Draw>(shape: &T) -> usize {
	opaque(shape.draw()) + 1
}

#[inline(never)]
fn call<F: Fn() -> usize>(function: F) -> usize {
	opaque(function()) + 1
}

fn main() {
	const ROUNDS: usize = 50;
	let mut pages = Vec::<u8>::with_capacity((2 * ROUNDS + 2) * 4096);
	let circle = shapes::Circle { pages: pages.as_mut_ptr(), touched: std::cell::Cell::new(0) };
	let mut total = 0;
	for _ in 0..ROUNDS {
		total += render(&circle);
		total += call(|| opaque(circle.draw()) + 2);
	}
	println!("{}", opaque(total) > 0);
}
