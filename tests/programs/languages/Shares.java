// Half of the time is spent below direct, three tenths below a recursion, two tenths below a method that the virtual
// machine's C++ code calls (reflection, which its option keeps there).
import java.lang.reflect.Method;

public class Shares {
	static int result = 1;

	static int work(int x) {
		for (int i = 0; i < 300000; i++)
			x = (x * 31 + i) & 0xffff;
		return x;
	}

	static int direct(int x) {
		return work(x) + 1;
	}

	static int descend(int depth, int x) {
		return (depth == 0 ? work(x) : descend(depth - 1, x)) + 1;
	}

	public static void compare() {
		result = work(result);
	}

	static int through_c(Method method) throws Exception {
		method.invoke(null);
		return result + 1;
	}

	public static void main(String[] arguments) throws Exception {
		Method method = Shares.class.getMethod("compare");
		int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 300;
		int x = 1;
		for (int i = 0; i < rounds; i++) {
			for (int j = 0; j < 5; j++)
				x = direct(x);
			for (int j = 0; j < 3; j++)
				x = descend(8, x);
			for (int j = 0; j < 2; j++)
				x = through_c(method);
		}
		System.out.println("share direct;work 0.5\nshare descend;work 0.3\nshare through_c;work 0.2");
	}
}
