// Spends 50 % of its time in a chain of calls, 30 % in a recursion, and 20 % in a callback of the engine's own sort, in turns, for the seconds of
// its argument. Prints its number, by which its perf map is named.
function spin(n) {
	let x = 0;
	for (let i = 0; i < n; i++)
		x += i % 7;
	return x;
}
function leaf(n) { return spin(n); }
function plain(n) { return leaf(n); }
function recursive(depth, n) { return depth > 0 ? recursive(depth - 1, n) : leaf(n); }
function compare(a, b) { spin(40000); return a - b; }
function sorted() { return [2, 1].sort(compare)[0]; } // one comparison

const seconds = Number(process.argv[2]);
const end = process.cpuUsage().user + seconds * 1e6;
while (process.cpuUsage().user < end) {
	for (let i = 0; i < 5; i++)
		plain(20000);
	for (let i = 0; i < 3; i++)
		recursive(20, 20000);
	sorted();
}
console.log(`pid ${process.pid}`);
