"""
The part `page`: what the page of `cpprof html` costs the browser, beside speedscope with the same profile.

The costs are CPU times of Chromium's renderer processes, with all their threads, so that a busy machine does not change them much. The
page is opened in a fresh browser; a view is shown when the page reports so and two frames have been drawn.

	bench/page.py FILE      measures the page of this profile, and prints the figures as JSON
"""
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "tests/cases"))
sys.dont_write_bytecode = True

from page_support import browser # noqa: E402
from peers import BUILD, CPPROF # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
NODES, HITS, MANY_HITS = 1_000_000, 1_700_000, 10_000_000
FRAMES = 40
PUBLISHED = "speedscope 1.25, as measured once with a tenth of another profile: 29.6 s, 1.28 GB" # where npm cannot fetch it
PEER_VERSION = "speedscope@1.25.0"
PEER_SECONDS = 300

# Chooses a view, if one is named, and waits until the page shows it and two frames were drawn. The driver must not ask meanwhile: each of
# its questions costs the renderer time.
SHOWN = """
const [view, chosen, done] = [arguments[0], arguments[1], arguments[arguments.length - 1]];
if (chosen)
	document.querySelector(`.tabs [data-view="${view}"]`).click();
const look = () => {
	if (document.querySelector("#page > .failure, main .failure"))
		done(document.body.textContent);
	else if (document.body.dataset.ready !== view)
		setTimeout(look, 50);
	else
		requestAnimationFrame(() => requestAnimationFrame(() => done("")));
};
look();
"""
# Turns of the wheel over the canvas; each is drawn in a frame of its own.
TURNED = """
const [frames, done] = [arguments[0], arguments[arguments.length - 1]];
const canvas = document.querySelector("canvas"), bounds = canvas.getBoundingClientRect();
let left = frames;
const turn = () => {
	if (left-- === 0)
		return done(true);
	const zooms = left % 4 !== 0;
	canvas.dispatchEvent(new WheelEvent("wheel", { ctrlKey: zooms, deltaY: zooms ? (left > frames / 2 ? -25 : 25) : 0, deltaX: zooms ? 0 : 30,
		clientX: bounds.left + bounds.width / 3, clientY: bounds.top + 40, cancelable: true, bubbles: true }));
	requestAnimationFrame(turn);
};
requestAnimationFrame(turn);
"""


def check_page_tools():
	for tool in ("chromium", "chromedriver"):
		if not shutil.which(tool):
			sys.exit(f"bench/run: {tool} is missing (tools/setup installs it)")


# --- processes ---

def children_of(pid):
	with contextlib.suppress(OSError):
		for task in os.listdir(f"/proc/{pid}/task"):
			with contextlib.suppress(OSError):
				for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
					yield int(child)
					yield from children_of(int(child))


def renderers(driver):
	"""The process ids of the browser's renderers."""
	found = []
	for pid in children_of(driver.service.process.pid):
		with contextlib.suppress(OSError):
			if b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes():
				found.append(pid)
	return found


def cpu_of(pid):
	with contextlib.suppress(OSError):
		fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
		return (int(fields[11]) + int(fields[12])) / TICKS
	return 0


def cpu(driver):
	return sum(cpu_of(pid) for pid in renderers(driver))


def memory_of(pid):
	"""The private memory of a process, in bytes: script heap, WebAssembly, and what any page takes."""
	found = re.search(r"^RssAnon:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
	return int(found[1]) * 1024 if found else 0


# --- the page ---

def page_sizes(path):
	"""Returns (bytes of the profile, the sources and the machine code, bytes of all else)."""
	text = path.read_text()
	data = sum(len(part) for part in re.findall(r'(?s)<div hidden id="(?:profile-[ab]|sources|code-[ab]|events)".*?</div>', text))
	return data, len(text) - data


def show(chromium, view, chosen=False):
	failure = chromium.driver.execute_async_script(SHOWN, view, chosen)
	assert not failure, failure


def measure_page(path):
	"""Returns the figures of one page in a fresh browser."""
	figures = {"views": {}}
	with browser() as chromium:
		driver = chromium.driver
		driver.set_script_timeout(600)
		driver.get("about:blank")
		others = {pid: cpu_of(pid) for pid in renderers(driver)}
		driver.get(f"file://{path}")
		show(chromium, "summary")
		# The page has a process of its own, the process with the most memory; the time since this process began is the page's.
		pid = max(renderers(driver), key=memory_of)
		figures["first"] = cpu_of(pid) - others.get(pid, 0)
		figures["first_memory"] = memory_of(pid)
		show(chromium, "flame", chosen=True)
		start = cpu_of(pid)
		driver.execute_async_script(TURNED, FRAMES)
		figures["frame"] = (cpu_of(pid) - start) / FRAMES
		views = driver.execute_script("return [...document.querySelectorAll('.tabs button')].map(each => each.dataset.view)")
		for view in views:
			start = cpu_of(pid)
			show(chromium, view, chosen=True)
			figures["views"][view] = cpu_of(pid) - start
		figures["all_views"] = figures["first"] + sum(figures["views"].values())
		figures["memory"] = memory_of(pid)
	return figures


def make_profile(path, hits, nodes):
	subprocess.run([BUILD / "bench/large", "generate", path, "calls", str(hits), str(nodes)], check=True, stdout=subprocess.DEVNULL)
	return path


def make_page(profile, path):
	subprocess.run([CPPROF, "html", "--no-source", "-o", path, profile], check=True, stderr=subprocess.DEVNULL)
	return path


# --- speedscope ---

def fetch_peer(work):
	"""Returns the folder of speedscope's page, or None where npm cannot fetch it."""
	folder = work / "speedscope"
	page = folder / "node_modules/speedscope/dist/release"
	if not page.exists() and shutil.which("npm"):
		folder.mkdir(parents=True, exist_ok=True)
		subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, PEER_VERSION],
			check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	return page if page.exists() else None


def write_peer_profile(profile, path):
	"""Writes the stacks of a profile as speedscope's own JSON: one sample for each path, with its hits as its weight."""
	folded = subprocess.run([CPPROF, "export", "--format", "folded", profile], check=True, stdout=subprocess.PIPE, text=True).stdout
	frames, samples, weights = {}, [], []
	for line in folded.splitlines():
		stack, _, hits = line.rpartition(" ")
		samples.append([frames.setdefault(name, len(frames)) for name in stack.split(";")])
		weights.append(int(hits))
	path.write_text(json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json",
		"shared": {"frames": [{"name": name} for name in frames]}, "profiles": [{"type": "sampled", "name": "cpu", "unit": "none",
		"startValue": 0, "endValue": sum(weights), "samples": samples, "weights": weights}]}))
	return path


def measure_peer(page, profile):
	"""Returns (CPU seconds until it is idle, memory, whether it shows the profile), or None if it is not idle in time."""
	with browser() as chromium:
		chromium.driver.get(f"file://{page}/index.html")
		chromium.wait(lambda _: chromium.all("input[type=file]"))
		before = cpu(chromium.driver)
		chromium.all("input[type=file]")[0].send_keys(str(profile))
		end, last = time.monotonic() + PEER_SECONDS, -1
		while time.monotonic() < end:
			time.sleep(2)
			now = cpu(chromium.driver)
			if now == last and now - before > 0.5:
				# Its views stand in the bar above a profile; without one, there is a text or nothing.
				return now - before, max(memory_of(pid) for pid in renderers(chromium.driver)), "Left Heavy" in chromium.text()
			last = now
	return None


def peer_text(work, profile):
	"""Returns the texts of speedscope's CPU time and memory for a profile."""
	page = fetch_peer(work)
	if not page:
		return PUBLISHED, PUBLISHED
	copy = write_peer_profile(profile, work / "data/page-peer.json")
	measured = measure_peer(page, copy)
	size = f"a file of {copy.stat().st_size / 1e6:.0f} MB"
	copy.unlink()
	if not measured:
		return f"{PEER_VERSION}: no picture in {PEER_SECONDS} s ({size})", ""
	if not measured[2]:
		return f"{PEER_VERSION}: no picture, given up after {measured[0]:.1f} s ({size})", ""
	return f"{PEER_VERSION}: {measured[0]:.1f} s ({size})", f"{PEER_VERSION}: {measured[1] / 1e6:.0f} MB"


# --- the part ---

def bench_page(table, work, rounds):
	data = work / "data"
	shape = f"{NODES / 1e6:g} M nodes, {HITS / 1e6:g} M hits"
	profile = make_profile(data / "page.data", HITS, NODES)
	page = make_page(profile, data / "page.html")
	contents, code = page_sizes(page)
	table.add("page: the profile in it", shape, f"{contents / 1e6:.2f} MB", "", "<= 6 MB", contents <= 6e6)
	table.add("page: the code in it", shape, f"{code / 1e3:.0f} KB", "", "<= 400 KB", code <= 400e3)
	measured = [measure_page(page) for _ in range(max(rounds // 2, 1))]

	def middle(figure):
		return statistics.median(figures[figure] for figures in measured)
	peer_cpu, peer_memory = peer_text(work, profile)
	table.add("first picture, CPU", shape, f"{middle('first'):.2f} s", peer_cpu, "<= 1 s", middle("first") <= 1)
	table.add("each view once, CPU", shape, f"{middle('all_views'):.2f} s", "", "<= 3 s", middle("all_views") <= 3)
	table.add("private memory of the renderer", shape, f"{middle('memory') / 1e6:.0f} MB", peer_memory, "<= 250 MB", middle("memory") <= 250e6)
	table.add("a frame of zooming or moving, CPU", shape, f"{middle('frame') * 1e3:.1f} ms", "", "<= 16 ms", middle("frame") <= 0.016)
	many = make_page(make_profile(data / "page-many.data", MANY_HITS, NODES), data / "page-many.html")
	figures = measure_page(many)
	table.add("first picture, CPU", f"{MANY_HITS / 1e6:g} M hits", f"{figures['first']:.2f} s", "", "it loads", True)
	for path in (page, many):
		path.unlink()


if __name__ == "__main__":
	with tempfile.TemporaryDirectory() as made:
		result = Path(sys.argv[1]).resolve()
		if result.suffix != ".html":
			result = make_page(result, Path(made) / "page.html")
		print(json.dumps({"sizes": page_sizes(result), **measure_page(result)}, indent=1))
