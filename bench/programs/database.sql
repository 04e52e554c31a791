-- Fills a table of 600,000 rows with a text each, in a file, creates an index, reads the table in order and at random, and changes
-- it. sqlite3's default cache holds a twentieth of it.
BEGIN;
CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, body TEXT);
WITH RECURSIVE seq(i, x) AS (
	SELECT 1, 12345
	UNION ALL
	SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM seq WHERE i < 600000)
INSERT INTO t SELECT i, x, 'the text of a row: ' || hex(x) FROM seq;
COMMIT;
CREATE INDEX t_x ON t (x);
SELECT count(*), sum(length(body)) FROM t;
SELECT count(*), sum(length(b.body)) FROM t a JOIN t b ON b.x = (a.x * 1103515245 + 12345) % 2147483648 WHERE a.id % 2 = 0;
UPDATE t SET body = body || 'x' WHERE id % 5 = 0;
