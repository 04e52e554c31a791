import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Spends 50 % of its time in a chain of calls, 30 % in a recursion, and 20 % in a callback of the library's sort, in turns, for the seconds of
 * its argument. Prints its number, by which its perf map is named.
 */
public class Paths {
	static long sum;

	static void spin(int n) {
		long x = 0;
		for (int i = 0; i < n; i++)
			x += i % 7;
		sum += x;
	}

	static void leaf(int n) { spin(n); }

	static void plain(int n) { leaf(n); }

	static void recursive(int depth, int n) {
		if (depth > 0)
			recursive(depth - 1, n);
		else
			leaf(n);
	}

	static int compare(Integer a, Integer b) {
		spin(40000);
		return a - b;
	}

	static void sorted() {
		List<Integer> two = new ArrayList<>(List.of(2, 1)); // one comparison
		Collections.sort(two, Paths::compare);
	}

	public static void main(String[] arguments) {
		long end = System.nanoTime() + (long)(Double.parseDouble(arguments[0]) * 1e9);
		while (System.nanoTime() < end) {
			for (int i = 0; i < 5; i++)
				plain(20000);
			for (int i = 0; i < 3; i++)
				recursive(20, 20000);
			sorted();
		}
		System.out.println("pid " + ProcessHandle.current().pid());
	}
}
