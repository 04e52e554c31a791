-- Uses most features of the sqlite3 shell, to compare its output and its calls. Each run does the same work.
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, city TEXT);
CREATE INDEX by_city ON people (city, age DESC);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
	INSERT INTO people SELECT i, printf('person %03d', i * 37 % 401), 20 + i * 7 % 60, char(65 + i % 5) FROM n;
CREATE TRIGGER older AFTER UPDATE OF age ON people BEGIN UPDATE people SET name = upper(name) WHERE id = new.id; END;
UPDATE people SET age = age + 1 WHERE city = 'B';
DELETE FROM people WHERE id % 13 = 0;
SELECT city, count(*), avg(age), group_concat(name, '|') FROM people WHERE age > 70 GROUP BY city ORDER BY 2 DESC, 1;
SELECT a.name, b.name FROM people a JOIN people b ON a.age = b.age AND a.id < b.id WHERE a.city = 'C' ORDER BY a.id, b.id LIMIT 10;
SELECT name, rank() OVER (PARTITION BY city ORDER BY age, id) FROM people WHERE id < 30 ORDER BY id;
SELECT json_group_array(json_object('id', id, 'age', age)) FROM people WHERE id < 12;
BEGIN;
DELETE FROM people;
ROLLBACK;
EXPLAIN QUERY PLAN SELECT * FROM people WHERE city = 'D' AND age > 40;
SELECT sum(length(name) * age) FROM people;
PRAGMA integrity_check;
.schema
