"""whatif: the forms of its terms."""

from cli_support import check_failure, done, make_input, run


def test_whatif_profile_behind_the_terms(profiles):
	before = run("whatif", "forms.data", "main;invoice=0", directory=profiles)
	behind = run("whatif", "main;invoice=0", "-r", "samples", "forms.data", directory=profiles)
	assert behind.returncode == 0, behind.stderr
	assert behind.stdout == before.stdout
	check_failure(run("whatif", "main;invoice=0", "nosuch.data", directory=profiles), "nosuch.data")


def test_file_behind_a_term_without_its_factor(profiles):
	for words in (["main", "forms.data"], ["main;invoice", "forms.data", "main=0"]):
		result = run("whatif", *words, directory=profiles)
		assert result.returncode == 2 and result.stdout == ""
		assert f"cannot find the file '{words[0]}': the file comes first, and then terms with a factor (cpprof whatif forms.data '{words[0]}=0')" in result.stderr
	assert done("whatif", "forms.data", "main=0", directory=profiles)


def test_whatif_names_that_hold_marks(tmp_path):
	(tmp_path / "a.folded").write_text("main;a=5 2\nmain;back\\slash;x 1\nmain;operator== 1\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	for term, predicted in ((r"main;a\=5=0", "0.5000"), (r"main;a=5=0", "0.5000"), (r"main;back\slash;x=0", "0.7500"),
		(r"main;back\\slash;x=0", "0.7500"), (r"main;operator===5e-1", "0.8750"), ("main=1e-1", "0.1000")):
		assert f"predicted total: {predicted}" in done("whatif", tmp_path / "a.data", term), term
	words = "whatif main;a\\=5=0 main;x=1e0\nwhatif main;back\\slash=1e-1 main;a=5=1\n"
	result = run("explore", tmp_path / "a.data", stdin=make_input(words))
	assert "predicted total: 0.5000" in result.stdout and "predicted total: 0.7750" in result.stdout
	for term in ("main=1e308", "main=inf", "main=-1", "main=1000001", r"main\=0", "main;=0"):
		result = run("whatif", tmp_path / "a.data", term)
		assert result.returncode in (1, 2) and not result.stdout, term


def test_semicolon_in_a_name(profiles):
	"""A name with a semicolon comes only from a recording: folded stacks cannot hold one."""
	text = done("whatif", "programs.data", r"main;finish\;all=0", "-r", "cpu", directory=profiles)
	assert "predicted total: 0.9000" in text and "(main finish;all@sort) [20] x 0" in text


def test_share_of_one_path(tmp_path, profiles):
	"""A path without hits is an answer: its share is 0. The figures of others are as in the downward profile."""
	(tmp_path / "a.folded").write_text("main;a;b 3\nmain;a 1\nmain;c;a;b 4\nmain;c;d 2\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	for path, line in (("main;a;b", "0.3000 ±0.2477 (main a b) [3]"), ("main;c;a", "0.4000 "), ("c;a;b", "0.4000 "), ("main;d", "0.0000 "), ("main;c;b", "0.0000 ")):
		text = done("report", "--path", path, tmp_path / "a.data")
		assert text.splitlines()[4].startswith(line) and len(text.splitlines()) == 5, text
	explored = run("explore", tmp_path / "a.data", stdin=make_input("path main;a;b\npath main;d\n"))
	assert "0.3000 ±0.2477 (main a b) [3]" in explored.stdout and "(main d) [0]" in explored.stdout
	for path in ("main;x", "main;", ";", ""):
		result = run("report", "--path", path, tmp_path / "a.data")
		assert result.returncode != 0 and not result.stdout and result.stderr.startswith("cpprof report: "), result
