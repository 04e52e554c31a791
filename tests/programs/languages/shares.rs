// Half of the time is spent below direct, three tenths below a recursion, two tenths below a comparison that the C
// library's qsort calls.
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

// std::hint::black_box is not in older compilers.
fn black_box(x: usize) -> usize {
	unsafe { std::ptr::read_volatile(&x) }
}

static RESULT: AtomicUsize = AtomicUsize::new(1);

extern "C" {
	fn qsort(base: *mut c_void, count: usize, size: usize, compare: extern "C" fn(*const c_void, *const c_void) -> i32);
}

#[inline(never)]
fn work(mut x: usize) -> usize {
	for i in 0..300000 {
		x = (x * 31 + black_box(i)) & 0xffff;
	}
	x
}

#[inline(never)]
fn direct(x: usize) -> usize {
	black_box(work(x)) + 1
}

#[inline(never)]
fn descend(depth: usize, x: usize) -> usize {
	let below = if depth == 0 { work(x) } else { descend(depth - 1, x) };
	black_box(below) + 1
}

extern "C" fn compare(_a: *const c_void, _b: *const c_void) -> i32 {
	RESULT.store(work(RESULT.load(Ordering::Relaxed)), Ordering::Relaxed);
	0
}

#[inline(never)]
fn through_c() -> usize {
	let mut pair = [2i32, 1];
	unsafe { qsort(pair.as_mut_ptr() as *mut c_void, 2, 4, compare) };
	RESULT.load(Ordering::Relaxed) + 1
}

fn main() {
	let rounds: usize = std::env::args().nth(1).map_or(300, |text| text.parse().unwrap());
	let mut x = 1;
	for _ in 0..rounds {
		for _ in 0..5 {
			x = direct(x);
		}
		for _ in 0..3 {
			x = descend(8, x);
		}
		for _ in 0..2 {
			x = through_c();
		}
	}
	black_box(x);
	println!("share direct;work 0.5\nshare descend;work 0.3\nshare through_c;work 0.2");
}
