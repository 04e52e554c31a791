// The strip above every view: how busy each thread was over time, each below the path that created it. A range of it and a thread of it are
// selections.

import { hasTimes, nameFunctions, shortName, timeline } from "./engine.mjs";
import { count, counted, element, safe, shortened } from "./format.mjs";
import { choices, choose, info, periodOf, range, resource, selection } from "./state.mjs";

const PERIODS = 600;
const ROWS_MOST = 300;
const ROW = 16;
const AXIS_WIDTH = 900; // of the strip, for the distance of its times
const TICK_WIDTH = 90; // at least, in pixels
const HINT = "Drag to select a time, click a thread to select it; every view then shows that.";

/** @typedef {{thread: any, index: number, hits: Float64Array, creator: string}} ThreadRow */
/** @typedef {{rows: (ThreadRow | string)[], from: number, to: number, outside: number}} Shown rows: threads, and paths that created them */

/** Whether a resource is sampled, at known times, by side and resource: the times of an instrumented run are not.
 *  @type {Record<string, boolean>} */
const known = {};

export function hasTimeline() {
	const shown = resource();
	const key = `${choices.side} ${shown?.name}`;
	known[key] ??= shown?.kind === "sampled" && hasTimes({ side: choices.side, resource: shown.name });
	return known[key];
}

/** Groups threads by the paths that created them, in the order of these paths, so that the threads of a thread follow it.
 *  @param {ThreadRow[]} threads @returns {(ThreadRow | string)[]} rows of threads, each group below its path */
function grouped(threads) {
	/** @type {Map<string, ThreadRow[]>} */
	const groups = new Map();
	for (const thread of threads)
		groups.set(thread.creator, [...groups.get(thread.creator) ?? [], thread]);
	return [...groups.keys()].sort().flatMap((creator) => [...(creator ? [creator] : []), ...groups.get(creator) ?? []]);
}

/** The strip that was computed last, and its request.
 *  @type {{key: string, shown: Shown | null}} */
let last = { key: "", shown: null };

/** @returns {Shown} all threads over all of the time, whatever the strip selects */
function computed() {
	const threads = info().threads;
	const request = { ...selection(), from: "", to: "", thread: "" };
	const key = JSON.stringify(request);
	if (last.key === key && last.shown)
		return last.shown;
	const step = periodOf() / 1e9;
	const periods = step ? Math.max(Math.round(info().duration_s / step), 1) : PERIODS;
	const { hits, from, to, outside, creators } = timeline(request, periods, threads.length);
	const busy = threads.map((/** @type {any} */ thread, /** @type {number} */ index) => ({
		thread, index, hits: hits.subarray(index * periods, (index + 1) * periods), creator: creators[index],
	})).filter((/** @type {ThreadRow} */ row) => row.hits.some((each) => each > 0));
	last = { key, shown: { rows: grouped(busy), from, to, outside } };
	return /** @type {Shown} */ (last.shown);
}

/** The rows that are scrolled out at the top, in pixels: the strip is made anew for each view. */
let scrolled = 0;

/** The strip, or nothing where no hit has a time. */
export function strip() {
	if (!hasTimeline())
		return [];
	const all = computed(), { from, to, outside } = all;
	const rows = all.rows.slice(0, ROWS_MOST);
	if (!rows.length)
		return [];
	if (rows.some((row) => typeof row === "string"))
		nameFunctions({ ...selection(), from: "", to: "", thread: "", by: "function" });
	const hint = element("span", { className: "note strip-text" }, [HINT]);
	const drawing = drawn(rows, from, to);
	drag(drawing, all, hint);
	const holder = element("div", { className: "threads", onscroll: () => scrolled = holder.scrollTop },
		[element("div", { className: "thread-names" }, rows.map(nameOf)), element("div", { className: "bars" }, [drawing, axis(from, to)])]);
	requestAnimationFrame(() => holder.scrollTop = scrolled);
	const step = periodOf() / 1e9;
	const notes = [
		all.rows.length > rows.length ? `${count(all.rows.length - rows.length)} further rows are not shown; choose a process above to see its threads.` : "",
		outside ? `${counted(outside, "hit")} ${outside === 1 ? "has" : "have"} no time or no thread.` : "",
		step ? `Ranges begin and end at multiples of ${step} s: this page has so many samples that it contains their times in these steps.` : ""];
	return [element("section", { className: "strip", "aria-label": "threads over time" }, [
		element("div", { className: "tools" }, [rangeInputs(), hint]), holder,
		...notes.filter(Boolean).map((note) => element("div", { className: "note" }, [note]))])];
}

/** @param {ThreadRow | string} row */
function nameOf(row) {
	if (typeof row === "string")
		return element("span", { className: "creator", title: `created by ${safe(row.replaceAll(";", " › "))}` }, [`↳ ${creatorText(row)}`]);
	return element("button", { className: row.creator ? "link created" : "link", title: `only thread ${row.thread.tid}`, "aria-pressed": String(isChosen(row)),
		onclick: () => toggle(row) }, [`${shortened(row.thread.name, 24)} ${row.thread.tid}`]);
}

/** @param {ThreadRow} row */
function isChosen(row) {
	return choices.thread === `#${row.index + 1}`;
}

/** Selects a thread, or all if it is selected.
 *  @param {ThreadRow} row */
function toggle(row) {
	choose({ thread: isChosen(row) ? "" : `#${row.index + 1}`, zoom: "" });
}

/** @param {string} path */
function creatorText(path) {
	return path.split(";").map((name) => safe(shortName(name, 40))).join(" › ");
}

/** The same selection for people without a mouse. */
function rangeInputs() {
	const input = (/** @type {"from" | "to"} */ key) => element("input", { type: "text", size: 8, value: range()[key], "data-choice": key,
		"aria-label": `${key} (seconds)`, placeholder: key,
		onchange: (/** @type {any} */ event) => choose({ [key]: event.target.value.trim(), zoom: "" }) });
	return element("span", { className: "range" }, ["seconds ", input("from"), " to ", input("to")]);
}

/** @param {string} name @param {Record<string, string | number>} attributes */
function svg(name, attributes) {
	const made = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const [key, value] of Object.entries(attributes))
		made.setAttribute(key, String(value));
	return made;
}

/** The bars of all rows; a unit of x is a period.
 *  @param {(ThreadRow | string)[]} rows @param {number} from @param {number} to */
function drawn(rows, from, to) {
	const threads = /** @type {ThreadRow[]} */ (rows.filter((row) => typeof row !== "string"));
	const most = threads.reduce((most, row) => row.hits.reduce((a, b) => Math.max(a, b), most), 0);
	const periods = threads[0].hits.length, height = rows.length * ROW;
	const drawing = /** @type {SVGElement} */ (svg("svg", { class: "timeline", viewBox: `0 0 ${periods} ${height}`, preserveAspectRatio: "none", height, role: "img",
		"aria-label": `Hits of ${counted(threads.length, "thread")} over ${(to - from).toFixed(3)} seconds. ${HINT}` }));
	rows.forEach((row, y) => {
		if (typeof row === "string")
			return;
		const bottom = (y + 1) * ROW - 1;
		let bars = "";
		row.hits.forEach((hits, i) => {
			const tall = hits ? Math.max(hits / most * (ROW - 2), 1).toFixed(1) : 0;
			bars += tall ? `M${i} ${bottom}v-${tall}h1v${tall}z` : "";
		});
		drawing.append(svg("rect", { class: isChosen(row) ? "row chosen" : "row", x: 0, y: y * ROW, width: periods, height: ROW - 1 }), svg("path", { class: "bar-path", d: bars }));
	});
	const at = (/** @type {string} */ seconds, /** @type {number} */ otherwise) =>
		Math.min(Math.max((Number(seconds || otherwise) - from) / (to - from), 0), 1) * periods || 0;
	if (choices.from || choices.to) {
		const left = at(range().from, from), right = at(range().to, to);
		drawing.append(svg("rect", { class: "shade", x: 0, y: 0, width: left, height }),
			svg("rect", { class: "shade", x: right, y: 0, width: Math.max(periods - right, 0), height }));
	}
	return drawing;
}

/** @param {number} from @param {number} to */
function axis(from, to) {
	return element("div", { className: "axis" }, ticks(from, to, AXIS_WIDTH).map((tick) => {
		const label = element("span", {}, [`${Number(tick.toPrecision(6))} s`]);
		label.style.left = `${(tick - from) / (to - from) * 100}%`;
		return label;
	}));
}

/** Round times for an axis: 1, 2 or 5 times a power of ten apart.
 *  @param {number} from @param {number} to @param {number} width @returns {number[]} */
export function ticks(from, to, width) {
	if (!(to > from))
		return [];
	const least = (to - from) * TICK_WIDTH / width;
	const power = 10 ** Math.floor(Math.log10(least));
	const step = ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power;
	const all = [];
	for (let i = Math.ceil(from / step); i * step < to - step / 4; i++)
		all.push(i * step);
	return all;
}

/** Selects a range by dragging, and a thread by a click.
 *  @param {SVGElement} drawing @param {Shown} shown @param {HTMLElement} hint */
function drag(drawing, { rows, from, to }, hint) {
	/** @type {number | null} */
	let start = null;
	const timeAt = (/** @type {MouseEvent} */ event) => {
		const bounds = drawing.getBoundingClientRect();
		return from + Math.min(Math.max((event.clientX - bounds.left) / bounds.width, 0), 1) * (to - from);
	};
	const rowAt = (/** @type {MouseEvent} */ event) => rows[Math.floor((event.clientY - drawing.getBoundingClientRect().top) / ROW)];
	drawing.addEventListener("pointerdown", (event) => {
		start = timeAt(event);
		drawing.setPointerCapture(event.pointerId);
	});
	drawing.addEventListener("pointermove", (event) => {
		const now = timeAt(event), row = rowAt(event);
		const of = row && typeof row !== "string" ? `, ${shortened(row.thread.name, 30)} ${row.thread.tid}: ${
			counted(Math.round(row.hits[Math.min(Math.floor((now - from) / (to - from) * row.hits.length), row.hits.length - 1)] * 100) / 100, "hit")}` : "";
		hint.textContent = start === null ? `${now.toFixed(4)} s${of}` : `${Math.min(start, now).toFixed(4)} s to ${Math.max(start, now).toFixed(4)} s`;
	});
	drawing.addEventListener("pointerleave", () => hint.textContent = HINT);
	drawing.addEventListener("pointerup", (event) => {
		const now = timeAt(event), row = rowAt(event), begin = start;
		start = null;
		if (begin === null)
			return;
		if (Math.abs(now - begin) > (to - from) / 500)
			choose({ from: Math.min(begin, now).toFixed(6), to: Math.max(begin, now).toFixed(6), zoom: "" });
		else if (row && typeof row !== "string")
			toggle(row);
	});
}
