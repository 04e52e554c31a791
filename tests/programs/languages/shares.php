<?php
// Half of the time is spent below direct, three tenths below a recursion, two tenths below a comparison that the
// interpreter's C code (usort) calls.
$result = 1;

function work($x)
{
	for ($i = 0; $i < 300000; $i++) {
		$x = ($x * 31 + $i) & 0xffff;
	}
	return $x;
}

function direct($x)
{
	return work($x) + 1;
}

function descend($depth, $x)
{
	return ($depth == 0 ? work($x) : descend($depth - 1, $x)) + 1;
}

function compare($a, $b)
{
	global $result;
	$result = work($result);
	return 1;
}

function through_c()
{
	global $result;
	$pair = [2, 1];
	usort($pair, 'compare');
	return $result + 1;
}

function rounds($count)
{
	$x = 1;
	for ($i = 0; $i < $count; $i++) {
		for ($j = 0; $j < 5; $j++) $x = direct($x);
		for ($j = 0; $j < 3; $j++) $x = descend(8, $x);
		for ($j = 0; $j < 2; $j++) $x = through_c();
	}
}

rounds((int)($argv[1] ?? 300));
echo "share direct;work 0.5\nshare descend;work 0.3\nshare through_c;work 0.2\n";
