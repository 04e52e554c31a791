// Half of the time is spent below direct, three tenths below a recursion, two tenths below a function that the
// runtime's C++ code (JSON.parse) calls.
let result = 1;

function work(x) {
	for (let i = 0; i < 300000; i++) x = (x * 31 + i) & 0xffff;
	return x;
}

function direct(x) {
	return work(x) + 1;
}

function descend(depth, x) {
	return (depth === 0 ? work(x) : descend(depth - 1, x)) + 1;
}

function compare(key, value) {
	result = work(result);
	return value;
}

function through_c() {
	JSON.parse("1", compare);
	return result + 1;
}

const count = Number(process.argv[2] || 300);
let x = 1;
for (let i = 0; i < count; i++) {
	for (let j = 0; j < 5; j++) x = direct(x);
	for (let j = 0; j < 3; j++) x = descend(8, x);
	for (let j = 0; j < 2; j++) x = through_c();
}
console.log("share direct;work 0.5\nshare descend;work 0.3\nshare through_c;work 0.2");
