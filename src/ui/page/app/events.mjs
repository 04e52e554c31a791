// Lanes: in a lane the calls of a thread over time, each below its caller, and above them samples and the program's own events. They show the
// events of a trace, and the samples of a thread (stacks.mjs). The engine finds what a range of time shows.

import { isDark } from "./colours.mjs";
import { amount, events, hasTimes, laneBoxes, laneCounts, laneName, shortLaneName } from "./engine.mjs";
import { canvasMost, count, counted, element, fitted, nothing, onWidth, safe, shortened } from "./format.mjs";
import { choices, choose, info, range, selection } from "./state.mjs";
import { forgetTables, table } from "./tables.mjs";
import { ticks } from "./timeline.mjs";

/** A lane with the number of its calls and marks in the selected range of time.
 *  @typedef {import("./engine.mjs").Lane & {calls: number, marks: number}} Lane */
/** @typedef {import("./engine.mjs").LaneBox} LaneBox */

const ROW = 16;
const HEAD = 18; // the name of a thread
const MARKS = 8;
const GAP = 3; // in pixels: shorter times without samples are not faded
const AXIS = 20;
const DEPTHS_MOST = 60; // of a thread of a trace
const SHORTEST = 100; // ns that fill the picture at least
const REST = 500; // ms without a turn of the wheel or a drag, after which the next one is another zoom
const LISTED = 200; // calls in the table
const HINT = "Drag to move, turn the wheel with Ctrl to zoom, click a call to zoom to it. Keys: + and -, arrows, Enter on the next call, Escape.";

/** The colour of a function, equal in all lanes.
 *  @param {string} name @param {boolean} dark */
function colourOf(name, dark) {
	let hash = 0;
	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
	return `hsl(${hash % 360}, ${dark ? 40 : 60}%, ${dark ? 26 : 76}%)`;
}

/** The lanes of a view, and its words.
 *  @typedef {{end: number, depths: number, head: (lane: Lane) => string, describe: (lane: Lane, box: LaneBox) => string, listed: string,
 *  covered?: import("./engine.mjs").Lane}} Kind end: of the last event, in ns; depths: how many are drawn; head: of a lane; listed: the boxes of the
 *  table; covered: the lane of the times about which something is known; the rest is faded */

/** @param {number} ns */
export function time(ns) {
	return amount(ns, "ns");
}

/** The selected range of time, in ns; without one, the range of all events.
 *  @param {number} end of the last event @returns {[number, number]} */
export function selectedRange(end) {
	hasTimes(selection()); // reports a range that is none, as every view does
	const { from, to } = range();
	return [from === "" ? 0 : Math.round(Number(from) * 1e9), to === "" ? end + 1 : Math.round(Number(to) * 1e9)];
}

/** The lanes of the chosen threads and processes.
 *  @param {import("./engine.mjs").Lane[]} all */
function selected(all) {
	const chosen = (/** @type {any[]} */ rows, /** @type {string} */ choice, /** @type {string} */ number) => choice === "" ? null
		: rows.filter((row, index) => choice.split(",").some((each) => [`#${index + 1}`, String(row[number]), row.name].includes(each)));
	const threads = chosen(info().threads, choices.thread, "tid"), processes = chosen(info().processes, choices.process, "pid");
	return all.filter((lane) => (threads?.some((row) => row.tid === lane.thread && row.pid === lane.process) ?? true) &&
		(processes?.some((row) => row.pid === lane.process) ?? true));
}

/** As many lanes as a canvas has room for.
 *  @param {Lane[]} lanes */
function fitting(lanes) {
	let room = canvasMost() - AXIS;
	return lanes.filter((lane) => {
		room -= laneHeight(lane, DEPTHS_MOST);
		return room >= 0;
	});
}

/** The height of a lane.
 *  @param {Lane} lane @param {number} depths */
function laneHeight(lane, depths) {
	return HEAD + (lane.marks ? MARKS : 0) + Math.min(lane.depths, depths) * ROW + 6;
}

/** @typedef {{lane: number, box: LaneBox, top: number, height: number}} Shown */

/** The lanes on a canvas. */
class Lanes {
	/** @param {Lane[]} lanes each has events in the range @param {[number, number]} range in ns @param {Kind} kind */
	constructor(lanes, [start, stop], kind) {
		this.lanes = lanes;
		this.kind = kind;
		/** The first moment in the range at which something happens, in ns.
		 *  @type {number} */
		this.first = Math.max(start, lanes.reduce((first, lane) => laneBoxes(lane, start, stop, stop - start, 1)
			.reduce((least, box) => Math.min(least, box.start), first), stop));
		this.end = stop > kind.end ? Math.max(kind.end, this.first + SHORTEST) : stop;
		const [from, to] = this.chosen();
		/** The shown span, in ns.
		 *  @type {number} */
		this.from = from;
		/** @type {number} */
		this.to = to;
		/** @type {Shown[]} */
		this.shown = [];
		/** @type {Shown | null} */
		this.picked = null;
		this.canvas = /** @type {HTMLCanvasElement} */ (element("canvas", { className: "lanes", tabIndex: 0, role: "application",
			"aria-label": `Events of ${lanes.length} threads. ${HINT}`,
			onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
			onwheel: (/** @type {WheelEvent} */ event) => this.wheel(event),
			onmousemove: (/** @type {MouseEvent} */ event) => this.describe(this.at(event)),
			onmouseleave: () => this.describe(null) }));
		this.moves = false; // by the wheel or a drag, whose first step has an entry in the history
		this.rests = 0; // the timer of its end
		this.text = element("div", { className: "box-text", role: "status", "aria-live": "polite" }, [HINT]);
		this.list = element("div");
		this.element = element("section", {}, [this.tools(), element("div", { className: "lane-holder" }, [this.canvas, this.text]), this.list]);
		this.drag();
		onWidth(this.element, () => this.draw());
	}

	/** The part of the range to which the link zooms, or all.
	 *  @returns {[number, number]} */
	chosen() {
		const [from, to] = choices.zoom.split("-").map((text) => Math.round(Number(text) * 1e9));
		const first = Math.max(from, this.first), end = Math.min(to, this.end);
		return from >= 0 && end > first ? [first, end] : [this.first, this.end];
	}

	tools() {
		const button = (/** @type {string} */ text, /** @type {() => void} */ act) => element("button", { onclick: act }, [text]);
		return element("div", { className: "tools" }, [
			button("zoom in", () => this.zoom(0.5)), button("zoom out", () => this.zoom(2)),
			button("earlier", () => this.move(-0.5)), button("later", () => this.move(0.5)), button("everything", () => this.show(this.first, this.end))]);
	}

	/** Shows a range of time, in whole nanoseconds, so that the link has exactly what is shown.
	 *  @param {number} from @param {number} to @param {boolean} [goesOn] the person still moves: the link has no entry of its own in the history */
	show(from, to, goesOn = false) {
		const span = Math.round(Math.min(Math.max(to - from, SHORTEST), this.end - this.first));
		this.from = Math.round(Math.min(Math.max(from, this.first), this.end - span));
		this.to = this.from + span;
		const isAll = span >= this.end - this.first;
		choose({ zoom: isAll ? "" : `${(this.from / 1e9).toFixed(9)}-${(this.to / 1e9).toFixed(9)}` }, goesOn && this.moves);
		this.moves = goesOn;
		clearTimeout(this.rests);
		this.rests = setTimeout(() => this.moves = false, REST);
		this.draw();
	}

	/** Shows what the link has, after the person went back. */
	follow() {
		const [from, to] = this.chosen();
		if (from === this.from && to === this.to)
			return;
		this.from = from;
		this.to = to;
		this.draw();
	}

	/** @param {number} factor @param {number} [at] @param {boolean} [goesOn] */
	zoom(factor, at = (this.from + this.to) / 2, goesOn = false) {
		this.show(at - (at - this.from) * factor, at + (this.to - at) * factor, goesOn);
	}

	/** @param {number} part of what is shown @param {boolean} [goesOn] */
	move(part, goesOn = false) {
		const by = (this.to - this.from) * part;
		this.show(this.from + by, this.to + by, goesOn);
	}

	/** @param {number} time @param {number} width */
	x(time, width) {
		return (time - this.from) / (this.to - this.from) * width;
	}

	draw() {
		const width = this.element.clientWidth;
		const context = this.canvas.getContext("2d");
		if (!width || !context)
			return;
		const scale = devicePixelRatio || 1;
		const height = this.lanes.reduce((sum, lane) => sum + laneHeight(lane, this.kind.depths), AXIS);
		if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
			this.canvas.width = Math.round(width * scale);
			this.canvas.height = Math.round(height * scale);
			this.canvas.style.height = `${height}px`;
		}
		context.setTransform(scale, 0, 0, scale, 0, 0);
		context.clearRect(0, 0, width, height);
		context.font = "11px system-ui, sans-serif";
		context.textBaseline = "middle";
		const style = getComputedStyle(this.canvas);
		this.drawAxis(context, width, height, style);
		this.shown = [];
		let top = AXIS;
		this.lanes.forEach((lane, index) => {
			this.drawLane(context, index, top, width, style);
			top += laneHeight(lane, this.kind.depths);
		});
		this.fillList();
	}

	/** @param {CanvasRenderingContext2D} context @param {number} width @param {number} height @param {CSSStyleDeclaration} style */
	drawAxis(context, width, height, style) {
		// Times of three digits would be equal in a short range; it counts from its beginning.
		const isDetail = this.to - this.from < this.from / 20;
		const shown = isDetail ? ticks(0, this.to - this.from, width).map((since) => this.from + since) : ticks(this.from, this.to, width);
		for (const tick of shown) {
			const x = this.x(tick, width);
			context.fillStyle = style.getPropertyValue("--edge");
			context.fillRect(x, 0, 1, height);
			context.fillStyle = style.getPropertyValue("--dim");
			context.fillText(isDetail ? `+${time(tick - this.from)}` : time(tick), x + 4, AXIS / 2);
		}
	}

	/** @param {CanvasRenderingContext2D} context @param {number} index @param {number} top @param {number} width
	 *  @param {CSSStyleDeclaration} style */
	drawLane(context, index, top, width, style) {
		const lane = this.lanes[index];
		const dark = isDark();
		const ink = style.getPropertyValue("--text");
		context.fillStyle = style.getPropertyValue("--row");
		context.fillRect(0, top, width, HEAD - 2);
		context.fillStyle = ink;
		const { depths } = this.kind;
		context.fillText(`${threadName(lane)}   ${this.kind.head(lane)}${lane.depths > depths ? `; calls at depth ${depths} and below are not drawn` : ""}`,
			4, top + HEAD / 2);
		const first = top + HEAD + (lane.marks ? MARKS : 0);
		/** @type {[string, number, number][]} */
		const names = [];
		for (const box of laneBoxes(lane, Math.floor(this.from), Math.ceil(this.to), (this.to - this.from) / width, depths)) {
			const left = Math.max(this.x(box.start, width), 0), right = Math.min(this.x(box.end, width), width);
			const y = box.isMark ? top + HEAD : first + box.depth * ROW;
			const height = box.isMark ? MARKS - 2 : ROW - 1;
			const wide = Math.max(right - left - (right - left > 3 ? 0.5 : 0), 1);
			context.fillStyle = box.isMark ? style.getPropertyValue(box.isUser ? "--found" : "--bar")
				: box.count > 1 ? style.getPropertyValue("--edge") : colourOf(laneName(lane, box), dark);
			context.fillRect(left, y, wide, height);
			this.shown.push({ lane: index, box, top: y, height });
			if (this.picked && this.picked.lane === index && this.picked.box.start === box.start && this.picked.box.depth === box.depth &&
				this.picked.box.isMark === box.isMark) {
				context.strokeStyle = ink;
				context.lineWidth = 2;
				context.strokeRect(left + 1, y + 1, Math.max(wide - 2, 1), height - 2);
			}
			if (!box.isMark && box.count === 1 && right - left > 24)
				names.push([fitted(context, (letters) => safe(shortLaneName(lane, box, letters)), right - left - 6), left + 3, y + ROW / 2]);
		}
		this.fade(context, first, top + laneHeight(lane, depths), width, style);
		context.fillStyle = ink;
		for (const [name, x, y] of names)
			context.fillText(name, x, y);
	}

	/** Fades the times at which nothing is known, unless they are too short to be seen.
	 *  @param {CanvasRenderingContext2D} context @param {number} top @param {number} bottom @param {number} width @param {CSSStyleDeclaration} style */
	fade(context, top, bottom, width, style) {
		if (!this.kind.covered)
			return;
		const pixel = (this.to - this.from) / width;
		let done = 0;
		context.globalAlpha = 0.6;
		context.fillStyle = style.getPropertyValue("--back");
		const boxes = laneBoxes(this.kind.covered, Math.floor(this.from), Math.ceil(this.to), pixel, 1).map(({ start, end }) => [start, end]);
		for (const [start, end] of [...boxes, [this.to, this.to]]) {
			const left = this.x(start, width);
			if (left - done >= GAP)
				context.fillRect(done, top, left - done, bottom - top);
			done = Math.max(done, this.x(end, width));
		}
		context.globalAlpha = 1;
	}

	/** @param {MouseEvent} event @returns {Shown | null} */
	at(event) {
		const bounds = this.canvas.getBoundingClientRect();
		const x = event.clientX - bounds.left, y = event.clientY - bounds.top;
		const found = this.shown.findLast(({ box, top, height }) => y >= top && y < top + height && x >= this.x(box.start, bounds.width) - 1 &&
			x < Math.max(this.x(box.end, bounds.width), this.x(box.start, bounds.width) + 2));
		return found ?? null;
	}

	/** @param {Shown | null} shown */
	describe(shown) {
		const of = shown ?? this.picked;
		this.text.textContent = of ? this.kind.describe(this.lanes[of.lane], of.box) : HINT;
	}

	/** @param {Shown} shown */
	pick(shown) {
		this.picked = shown;
		const { start, end } = shown.box;
		const around = Math.max((end - start) * 0.1, SHORTEST / 2);
		this.show(start - around, end + around);
		this.describe(null);
	}

	/** @param {WheelEvent} event */
	wheel(event) {
		if (!event.ctrlKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY))
			return; // the page scrolls
		event.preventDefault();
		const bounds = this.canvas.getBoundingClientRect();
		if (event.ctrlKey)
			this.zoom(Math.exp(event.deltaY / 200), this.from + (event.clientX - bounds.left) / bounds.width * (this.to - this.from), true);
		else
			this.move(event.deltaX / bounds.width, true);
	}

	/** @param {KeyboardEvent} event */
	key(event) {
		/** @type {Record<string, () => void>} */
		const acts = {
			"+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
			ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), ArrowUp: () => this.deeper(-1), ArrowDown: () => this.deeper(1),
			Enter: () => this.picked && this.pick(this.picked), Escape: () => this.show(this.first, this.end),
		};
		if (!acts[event.key] || event.ctrlKey)
			return;
		event.preventDefault();
		acts[event.key]();
	}

	/** Chooses the next call beside the chosen one, or moves on.
	 *  @param {number} by */
	step(by) {
		const row = this.shown.filter(({ box, lane, top }) => !box.isMark && (!this.picked || (lane === this.picked.lane && top === this.picked.top)));
		const at = row.findIndex(({ box }) => box.start === this.picked?.box.start);
		const next = row[this.picked ? at + by : 0];
		if (next) {
			this.picked = next;
			this.draw();
			this.describe(null);
		} else {
			this.move(by * 0.5);
		}
	}

	/** Chooses a call below or above the chosen one.
	 *  @param {number} by */
	deeper(by) {
		const picked = this.picked;
		if (!picked)
			return this.step(0);
		const next = this.shown.find(({ box, lane }) => lane === picked.lane && !box.isMark && box.depth === picked.box.depth + by &&
			box.end >= picked.box.start && box.start <= picked.box.end);
		if (next) {
			this.picked = next;
			this.draw();
			this.describe(null);
		}
	}

	drag() {
		/** @type {{x: number, from: number, moved: boolean} | null} */
		let start = null;
		this.canvas.addEventListener("pointerdown", (event) => {
			start = { x: event.clientX, from: this.from, moved: false };
			this.canvas.setPointerCapture(event.pointerId);
		});
		this.canvas.addEventListener("pointermove", (event) => {
			if (!start || (!start.moved && Math.abs(event.clientX - start.x) < 4))
				return;
			start.moved = true;
			const span = this.to - this.from;
			const from = start.from - (event.clientX - start.x) / this.canvas.clientWidth * span;
			this.show(from, from + span, true);
		});
		this.canvas.addEventListener("pointerup", (event) => {
			const shown = start && !start.moved ? this.at(event) : null;
			start = null;
			if (shown)
				this.pick(shown);
		});
	}

	/** @param {Shown} shown */
	name(shown) {
		return laneName(this.lanes[shown.lane], shown.box);
	}

	/** The longest calls of the picture as a table, for keyboards, screen readers and paper. */
	fillList() {
		const calls = this.shown.filter(({ box }) => !box.isMark && box.count === 1)
			.sort((a, b) => b.box.end - b.box.start - (a.box.end - a.box.start)).slice(0, LISTED);
		forgetTables(); // the list of the range before
		this.list.replaceChildren(table({ caption: `${this.kind.listed} in this range, ${time(this.to - this.from)} from ${(this.from / 1e9).toFixed(9)} s on; choose one to zoom to it`,
			rows: calls, sorted: 3, onPick: (row) => this.pick(row), columns: [
				{ name: "call", isText: true, text: (row) => element("span", { title: safe(this.name(row)) }, [safe(shortLaneName(this.lanes[row.lane], row.box, 100))]), value: (row) => this.name(row) },
				{ name: "thread", text: (row) => String(this.lanes[row.lane].thread), value: (row) => this.lanes[row.lane].thread },
				{ name: "start", text: (row) => `${(row.box.start / 1e9).toFixed(9)} s`, value: (row) => row.box.start },
				{ name: "duration", text: (row) => time(row.box.end - row.box.start) + (row.box.isOpen ? " (end not recorded)" : ""),
					value: (row) => row.box.end - row.box.start },
				{ name: "depth", text: (row) => String(row.box.depth), value: (row) => row.box.depth },
			] }));
	}
}

/** The lanes in the page now.
 *  @type {Lanes | null} */
let lanesShown = null;

/** Shows the zoom of the link. */
export function followEvents() {
	if (lanesShown?.element.isConnected)
		lanesShown.follow();
}

/** Shows lanes.
 *  @param {Lane[]} lanes @param {[number, number]} range in ns @param {Kind} kind */
export function showLanes(lanes, range, kind) {
	lanesShown = new Lanes(lanes, range, kind);
	return lanesShown.element;
}

/** @param {Lane} lane */
export function threadName(lane) {
	const thread = info().threads.find((/** @type {any} */ row) => row.tid === lane.thread && row.pid === lane.process);
	return `${thread ? shortened(thread.name, 30) : "thread"} ${lane.thread}`;
}

/** @param {Lane} lane @param {LaneBox} box */
function describe(lane, box) {
	const name = safe(laneName(lane, box));
	const at = `at ${(box.start / 1e9).toFixed(9)} s in ${threadName(lane)}`;
	if (box.isMark)
		return `${box.count > 1 ? `${count(box.count)} marks, the first: ` : ""}${box.isUser ? `event ${name} of the program` : `sample in ${name}`} ${at}`;
	if (box.count > 1)
		return `${count(box.count)} calls, the first: ${name}   within ${time(box.end - box.start)} ${at}`;
	return `${name}   ${time(box.end - box.start)}${box.isOpen ? " (its end was not recorded)" : ""} ${at}, depth ${box.depth}`;
}

export function showEvents() {
	const { lanes: all, end, leftOut } = events();
	const [from, to] = selectedRange(end);
	const wanted = selected(all).map((lane) => ({ ...lane, ...laneCounts(lane, from, to) })).filter((lane) => lane.calls + lane.marks > 0);
	const shown = fitting(wanted);
	if (!shown.length)
		return nothing(`The chosen threads have no events${choices.from || choices.to ? " in the selected range" : ""}.`);
	return element("div", {}, [showLanes(shown, [from, to], {
		end, depths: DEPTHS_MOST, describe, listed: "The longest calls",
		head: (lane) => `${counted(lane.calls, "call")}${lane.marks ? `, ${counted(lane.marks, "mark")}` : ""}` }),
		...(shown.length < wanted.length ? [nothing(`The first ${count(shown.length)} of ${count(wanted.length)} threads are shown; choose one above to see another.`)] : []),
		...(leftOut ? [nothing(`${count(leftOut)} later calls and marks are not in this page; 'cpprof export --format events' prints all.`)] : [])]);
}
