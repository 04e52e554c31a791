-- Sorts 3 M pseudo-random rows (a linear congruential sequence) each with a text, and reads the result in order.
WITH RECURSIVE seq(i, x) AS (
	SELECT 1, 12345
	UNION ALL
	SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM seq WHERE i < 3000000)
SELECT count(*), sum(x % 7), sum(length(t)) FROM (SELECT x, hex(x) AS t FROM seq ORDER BY x);
