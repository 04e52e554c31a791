// The timeline: how busy each thread was, each below the path that created it; a range of it is a selection.

import { nameFunctions, shortName, timeline, timelineHit } from "./engine.mjs";
import { canvasMost, count, element, nothing, onWidth, safe, shortened } from "./format.mjs";
import { choices, choose, info, periodOf, range, selection } from "./state.mjs";

const PERIODS = 600;
const THREAD_ROW = 16;
const AXIS_ROW = 18;
const TICK_WIDTH = 90; // at least, in pixels

/** @typedef {{thread: any, index: number, hits: Float64Array, creator: string}} ThreadRow */

/** Groups threads by the paths that created them, in the order of these paths, so that the threads of a thread follow it.
 *  @param {ThreadRow[]} threads @returns {(ThreadRow | string)[]} rows of threads, each group below its path */
function grouped(threads) {
	/** @type {Map<string, ThreadRow[]>} */
	const groups = new Map();
	for (const thread of threads)
		groups.set(thread.creator, [...groups.get(thread.creator) ?? [], thread]);
	return [...groups.keys()].sort().flatMap((creator) => [...(creator ? [creator] : []), ...groups.get(creator) ?? []]);
}

export function showTimeline() {
	const threads = info().threads;
	const step = periodOf() / 1e9;
	const periods = step ? Math.max(Math.round(info().duration_s / step), 1) : PERIODS;
	const { hits, from, to, outside, creators } = timeline({ ...selection(), from: "", to: "" }, periods, threads.length);
	const busy = threads.map((/** @type {any} */ thread, /** @type {number} */ index) => ({
		thread, index, hits: hits.subarray(index * periods, (index + 1) * periods), creator: creators[index],
	})).filter((/** @type {ThreadRow} */ row) => row.hits.some((each) => each > 0));
	if (!busy.length)
		return nothing("No hits with a time and a thread are selected.");
	const all = grouped(busy);
	const rows = all.slice(0, Math.floor((canvasMost() - AXIS_ROW) / THREAD_ROW));
	nameFunctions({ ...selection(), by: "function" });
	const canvas = /** @type {HTMLCanvasElement} */ (element("canvas", { className: "timeline", tabIndex: 0, role: "img",
		"aria-label": `Hits of ${busy.length} threads over ${(to - from).toFixed(3)} seconds. Drag to select a range.` }));
	const text = element("div", { className: "box-text", role: "status" }, ["Drag to select a range; every view then shows that range."]);
	const names = element("div", { className: "thread-names" }, rows.map((row) => typeof row === "string"
		? element("span", { className: "creator", title: `created by ${safe(row.replaceAll(";", " › "))}` }, [`↳ ${creatorText(row)}`])
		: element("button", { className: row.creator ? "link created" : "link", title: `only thread ${row.thread.tid}`,
			onclick: () => choose({ thread: `#${row.index + 1}` }) }, [`${shortened(row.thread.name, 24)} ${row.thread.tid}`])));
	const holder = element("div", { className: "threads" }, [names, canvas]);
	onWidth(holder, () => drawTimeline(canvas, rows, from, to));
	const pathAt = (/** @type {number} */ now, /** @type {number} */ y) => {
		const row = rows[Math.floor(y / THREAD_ROW)];
		const half = (to - from) / periods / 2;
		return row && typeof row !== "string" ? hitText(timelineHit({ ...selection(), from: "", to: "" }, row.index, Math.max(now - half, 0), now + half)) : "";
	};
	drag(canvas, from, to, text, pathAt);
	const hidden = all.slice(rows.length).filter((row) => typeof row !== "string").length;
	const notes = [...(hidden ? [`${count(hidden)} further threads are not shown; choose one above to see it.`] : []), ...(outside ? [`${count(outside)} hits have no time or no thread.`] : []),
		...(step ? [`Ranges begin and end at multiples of ${step} s: this page has so many samples that it contains their times in these steps.`] : [])];
	return element("section", {}, [text, rangeInputs(), holder, ...notes.map(nothing)]);
}

/** @param {{path: string, from: number, to: number}} hit */
function hitText(hit) {
	const length = hit.to > hit.from ? `, ${hit.from.toFixed(4)} s to ${hit.to.toFixed(4)} s` : "";
	return hit.path && `: ${creatorText(hit.path)}${length}`;
}

/** @param {string} path */
function creatorText(path) {
	return path.split(";").map((name) => safe(shortName(name, 40))).join(" › ");
}

/** The same selection for people without a mouse. */
function rangeInputs() {
	const input = (/** @type {"from" | "to"} */ key) => element("input", { type: "text", size: 8, value: range()[key], "data-choice": key,
		"aria-label": `${key} (seconds)`, placeholder: key,
		onchange: (/** @type {any} */ event) => choose({ [key]: event.target.value.trim() }) });
	return element("div", { className: "tools range" }, ["seconds ", input("from"), " to ", input("to")]);
}

/** @param {HTMLCanvasElement} canvas @param {(ThreadRow | string)[]} rows @param {number} from @param {number} to */
function drawTimeline(canvas, rows, from, to) {
	const width = canvas.clientWidth;
	const scale = devicePixelRatio || 1;
	canvas.width = width * scale;
	const height = rows.length * THREAD_ROW;
	canvas.height = (height + AXIS_ROW) * scale;
	canvas.style.height = `${height + AXIS_ROW}px`;
	const context = canvas.getContext("2d");
	if (!context)
		return;
	const style = getComputedStyle(canvas);
	context.scale(scale, scale);
	const most = rows.reduce((most, row) => typeof row === "string" ? most : row.hits.reduce((a, b) => Math.max(a, b), most), 1);
	rows.forEach((row, y) => {
		if (typeof row === "string")
			return;
		const periods = row.hits.length;
		context.fillStyle = style.getPropertyValue("--row");
		context.fillRect(0, y * THREAD_ROW, width, THREAD_ROW - 1);
		context.fillStyle = style.getPropertyValue("--bar");
		for (let i = 0; i < periods; i++) {
			const height = row.hits[i] ? Math.max(row.hits[i] / most * (THREAD_ROW - 2), 1) : 0;
			context.fillRect(i * width / periods, (y + 1) * THREAD_ROW - 1 - height, Math.max(width / periods - 0.2, 0.5), height);
		}
	});
	if (choices.from || choices.to) {
		const left = (Number(range().from || from) - from) / (to - from) * width;
		const right = (Number(range().to || to) - from) / (to - from) * width;
		context.fillStyle = style.getPropertyValue("--shade");
		context.fillRect(0, 0, left, height);
		context.fillRect(right, 0, width - right, height);
	}
	context.fillStyle = style.getPropertyValue("--dim");
	context.font = "11px system-ui, sans-serif";
	for (const tick of ticks(from, to, width)) {
		const x = (tick - from) / (to - from) * width;
		context.fillRect(x, height, 1, 5);
		context.fillText(`${Number(tick.toPrecision(6))} s`, x + 4, height + 13);
	}
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

/** Selects a range by dragging.
 *  @param {HTMLCanvasElement} canvas @param {number} from @param {number} to @param {HTMLElement} text
 *  @param {(now: number, y: number) => string} pathAt what a thread did at a time */
function drag(canvas, from, to, text, pathAt) {
	/** @type {number | null} */
	let start = null;
	const timeAt = (/** @type {MouseEvent} */ event) => {
		const bounds = canvas.getBoundingClientRect();
		return from + Math.min(Math.max((event.clientX - bounds.left) / bounds.width, 0), 1) * (to - from);
	};
	canvas.addEventListener("pointerdown", (event) => {
		start = timeAt(event);
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointermove", (event) => {
		const now = timeAt(event);
		text.textContent = start === null ? `${now.toFixed(4)} s${pathAt(now, event.offsetY)}` : `${Math.min(start, now).toFixed(4)} s to ${Math.max(start, now).toFixed(4)} s`;
	});
	canvas.addEventListener("pointerup", (event) => {
		const now = timeAt(event);
		if (start !== null && Math.abs(now - start) > (to - from) / 500)
			choose({ from: Math.min(start, now).toFixed(6), to: Math.max(start, now).toFixed(6) });
		else
			choose({ from: "", to: "" });
		start = null;
	});
}

