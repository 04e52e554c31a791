// The strip above every view: how much each thread, or each value of a label, used over time. A range of it and a row of it are
// selections. The part of a chosen path or function is darker.

import { amount, creatorOf, hasTimes, nameFunctions, shortName, timeline, valueOf } from "./engine.mjs";
import { count, counted, element, safe, shortened } from "./format.mjs";
import { THREADS, choices, choose, chosenPart, clockStart, info, laneKey, otherLabels, periodOf, range, resource, selection, timeText,
	toggledLabel } from "./state.mjs";

const PERIODS = 600;
const ROWS_MOST = 300;
const ROW = 16, LABEL_ROW = 24;
const AXIS_WIDTH = 900; // of the strip, for the distance of its times
const TICK_WIDTH = 90; // at least, in pixels
const HOUR = 3600;
const CLOCK_STEPS = [1, 2, 3, 6, 12, 24, 48, 7 * 24, 30 * 24, 365 * 24].map((hours) => hours * HOUR); // between times of the clock

/** @typedef {import("./state.mjs").Choices} Choices */
/** @typedef {{name: string, title: string, hits: Float64Array, part: Float64Array | null, creator: string, selects: Partial<Choices> | null,
 *  isChosen: boolean}} Row part: the hits of the chosen part; selects: what a click changes; null: nothing */
/** @typedef {{rows: (Row | string)[], height: number, from: number, to: number, outside: number, reason: string}} Shown rows, and paths that created
 *  threads; reason: why no part is shown */

/** Whether a resource has known times, by side, resource and key: the times of an instrumented run are not known. Imported counts have them in a
 *  store's page, where those of their recordings stand in.
 *  @type {Record<string, boolean>} */
const known = {};

/** Whether the hits of threads, or with any label of a key, have times.
 *  @param {string} lanes */
function hasRows(lanes) {
	const shown = resource();
	const key = `${choices.side} ${shown?.name} ${lanes}`;
	const isTimed = shown?.kind === "sampled" || (lanes !== "" && shown?.kind === "merged");
	known[key] ??= isTimed && info().duration_s > 0 && hasTimes({ side: choices.side, resource: shown.name, key: lanes });
	return known[key];
}

/** Whether threads have times. */
export function hasTimeline() {
	return hasRows("");
}

/** Groups threads by the paths that created them, in the order of these paths, so that the threads of a thread follow it.
 *  @param {Row[]} rows @returns {(Row | string)[]} rows of threads, each group below its path */
function grouped(rows) {
	/** @type {Map<string, Row[]>} */
	const groups = new Map();
	for (const row of rows)
		groups.set(row.creator, [...groups.get(row.creator) ?? [], row]);
	return [...groups.keys()].sort().flatMap((creator) => [...(creator ? [creator] : []), ...groups.get(creator) ?? []]);
}

/** The strip that was computed last, and its request.
 *  @type {{key: string, shown: Shown | null}} */
let last = { key: "", shown: null };

/** @param {Float64Array} hits */
function sum(hits) {
	return hits.reduce((a, b) => a + b, 0);
}

/** @param {Float64Array[]} all @param {number} periods */
function added(all, periods) {
	return all.reduce((sums, hits) => sums.map((each, i) => each + hits[i]), new Float64Array(periods));
}

/** The hits of the chosen part, by thread or value.
 *  @param {Record<string, any>} request @param {number} periods @returns {{parts: Map<string | number, Float64Array>, reason: string}} */
function partsOf(request, periods) {
	const part = chosenPart();
	if (!part)
		return { parts: new Map(), reason: "" };
	try {
		const { rows } = timeline({ ...request, transform: [...request.transform ?? [], part] }, periods);
		return { parts: new Map(rows.map((hits, index) => [request.key ? valueOf(index) : index, hits])), reason: "" };
	} catch (error) {
		return { parts: new Map(), reason: error instanceof Error ? error.message : String(error) };
	}
}

/** @param {number} hits @param {number | null} part */
function amounts(hits, part) {
	const { interval, unit } = resource();
	return amount(hits * interval, unit) + (part === null ? "" : `, ${amount(part * interval, unit)} of it in the chosen part`);
}

/** @param {Record<string, any>} request @param {number} periods @returns {Shown} */
function computed(request, periods) {
	const { key } = request;
	const { rows: found, from, to, outside } = timeline(request, periods);
	const names = found.map((_, index) => key ? valueOf(index) : creatorOf(index));
	const { parts, reason } = partsOf(request, periods);
	const partOf = (/** @type {string | number} */ id) => chosenPart() && !reason ? parts.get(id) ?? new Float64Array(periods) : null;
	const row = (/** @type {string} */ name, /** @type {Float64Array} */ hits, /** @type {Float64Array | null} */ part, /** @type {Partial<Row>} */ more) => ({
		name, title: `${name}: ${amounts(sum(hits), part && sum(part))}`, hits, part, creator: "", selects: null, isChosen: false, ...more });
	/** @type {Row[]} */
	const rows = found.map((hits, index) => {
		if (key)
			return row(names[index] || "(none)", hits, partOf(names[index]), names[index] ? {
				selects: toggledLabel(key, names[index]), isChosen: choices.label.split("\n").includes(`${key}=${names[index]}`) } : {});
		const { name, tid } = info().threads[index], isChosen = choices.thread === `#${index + 1}`;
		return row(`${shortened(name, 24)} ${tid}`, hits, partOf(index),
			{ creator: names[index], selects: { thread: isChosen ? "" : `#${index + 1}` }, isChosen });
	}).filter((row) => row.hits.some((each) => each > 0));
	const summed = (/** @type {Float64Array[]} */ hits) => added(hits, periods);
	const part = partOf("") ? summed([...parts.values()]) : null;
	const sums = [...(part ? [row("chosen part (own scale)", part, null, {})] : []),
		...(key && rows.length > 1 ? [row("all (own scale)", summed(rows.map((row) => row.hits)), part, {})] : [])];
	return { rows: [...sums, ...(key ? rows : grouped(rows))], height: key ? LABEL_ROW : ROW, from, to, outside, reason };
}

/** All rows over all of the time, whatever the strip selects.
 *  @returns {Shown} */
function current() {
	const key = laneKey(), all = { ...selection(), from: "", to: "" };
	const request = key ? { ...all, key, label: otherLabels(key) } : { ...all, thread: "" };
	const asked = JSON.stringify([request, chosenPart(), choices.label, choices.thread]);
	if (last.key !== asked || !last.shown) {
		const step = periodOf() / 1e9;
		last = { key: asked, shown: computed(request, step ? Math.max(Math.round(info().duration_s / step), 1) : PERIODS) };
	}
	return /** @type {Shown} */ (last.shown);
}

/** The rows that are scrolled out at the top, in pixels: the strip is made anew for each view. */
let scrolled = 0;

/** The strip, or nothing where no hit has a time. */
export function strip() {
	if (!hasRows(laneKey()))
		return [];
	const all = current(), { from, to, outside, height } = all;
	const rows = all.rows.slice(0, ROWS_MOST);
	if (!rows.length)
		return [];
	if (rows.some((row) => typeof row === "string"))
		nameFunctions({ ...selection(), from: "", to: "", thread: "", by: "function" });
	const hint = element("span", { className: "note strip-text" }, [hintText()]);
	const drawing = drawn(rows, height, from, to);
	drag(drawing, all, hint);
	const holder = element("div", { className: height === ROW ? "threads" : "threads values", onscroll: () => scrolled = holder.scrollTop },
		[element("div", { className: "thread-names" }, rows.map(nameOf)), element("div", { className: "bars" }, [drawing, axis(from, to)])]);
	requestAnimationFrame(() => holder.scrollTop = scrolled);
	const step = periodOf() / 1e9;
	const notes = [
		partText(all.reason),
		all.rows.length > rows.length ? `${count(all.rows.length - rows.length)} further rows are not shown${
			height === ROW ? "; choose a process above to see its threads" : ""}.` : "",
		outside ? `${counted(outside, "hit")} ${outside === 1 ? "has" : "have"} no time${height === ROW ? " or no thread" : ""}.` : "",
		step ? `Ranges begin and end at multiples of ${step} s: this page has so many samples that it contains their times in these steps.` : ""];
	return [element("section", { className: "strip", "aria-label": height === ROW ? "threads over time" : `${safe(laneKey())} over time` }, [
		element("div", { className: "tools" }, [rangeInputs(), ...lanesInput(), ...partButton(), hint]), holder,
		...notes.filter(Boolean).map((note) => element("div", { className: "note" }, [note]))])];
}

/** Draws the strip anew for the box that was clicked. */
export function followPart() {
	const old = document.querySelector(".strip"), [now] = strip();
	if (old && now)
		old.replaceWith(now);
}

function hintText() {
	const row = laneKey() || "thread";
	return `Drag to select a time, click a ${safe(row)} to select it; every view then shows that.`;
}

/** @param {string} reason */
function partText(reason) {
	return reason ? `The chosen part is not shown: ${safe(reason)}` : "";
}

/** The chosen part, in dark bars, with a button that forgets it.
 *  @returns {HTMLElement[]} */
function partButton() {
	const part = chosenPart(), name = part.slice(part.indexOf("=") + 1);
	if (!part)
		return [];
	const last = name.split(/(?<!\\);/).at(-1) ?? "";
	const text = [element("span", { className: "swatch part" }), part.startsWith("path=") ? `path to ${shortened(last, 40)}` : shortened(last, 40)];
	return [choices.view === "sandwich" ? element("span", { title: safe(name) }, text)
		: element("button", { className: "chip", title: `${safe(name)}: show no part`, onclick: () => choose({ part: "" }, true) }, [...text, " ×"])];
}

/** The choice of the rows; none where no hit has a label.
 *  @returns {HTMLElement[]} */
function lanesInput() {
	const keys = info().labels.map((/** @type {any} */ row) => row.key);
	if (!keys.length)
		return [];
	const shown = laneKey() || THREADS;
	const control = /** @type {HTMLSelectElement} */ (element("select", { "data-choice": "lanes", onchange: () => choose({ lanes: control.value }) },
		[...(hasTimeline() ? [[THREADS, "thread"]] : []), ...keys.map((/** @type {string} */ key) => [key, shortened(key, 24)])].map(([value, text]) =>
			element("option", { value, selected: value === shown }, [text]))));
	return [element("label", {}, ["rows by ", control])];
}

/** @param {Row | string} row */
function nameOf(row) {
	if (typeof row === "string")
		return element("span", { className: "creator", title: `created by ${safe(row.replaceAll(";", " › "))}` }, [`↳ ${creatorText(row)}`]);
	const { selects } = row;
	const properties = { className: row.creator ? "link created" : "link", title: safe(row.title) };
	return selects ? element("button", { ...properties, "aria-pressed": String(row.isChosen), onclick: () => choose({ ...selects, zoom: "" }) }, [safe(row.name)])
		: element("span", properties, [safe(row.name)]);
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

/** The bars of a row, as a path.
 *  @param {Float64Array} hits @param {number} most @param {number} bottom @param {number} height */
function bars(hits, most, bottom, height) {
	let path = "";
	hits.forEach((each, i) => {
		const tall = each > 0 ? Math.max(each / most * height, 1).toFixed(1) : 0;
		path += tall ? `M${i} ${bottom}v-${tall}h1v${tall}z` : "";
	});
	return path;
}

/** The bars of all rows; a unit of x is a period. Rows of labels have a scale of their own for the sum of all.
 *  @param {(Row | string)[]} rows @param {number} rowHeight @param {number} from @param {number} to */
function drawn(rows, rowHeight, from, to) {
	const shown = /** @type {Row[]} */ (rows.filter((row) => typeof row !== "string"));
	const largest = (/** @type {Row} */ row) => row.hits.reduce((a, b) => Math.max(a, b), 0);
	const most = shown.reduce((most, row) => row.selects || shown.length === 1 ? Math.max(most, largest(row)) : most, 0);
	const periods = shown[0].hits.length, height = rows.length * rowHeight;
	const drawing = /** @type {SVGElement} */ (svg("svg", { class: "timeline", viewBox: `0 0 ${periods} ${height}`, preserveAspectRatio: "none", height, role: "img",
		"aria-label": `${laneKey() ? `${resource().title} of ${shown.map((row) => safe(row.name)).join(", ")}` : `Hits of ${counted(shown.length, "thread")}`} over ${
			(to - from).toFixed(3)} seconds. ${hintText()}` }));
	rows.forEach((row, y) => {
		if (typeof row === "string")
			return;
		const bottom = (y + 1) * rowHeight - 1, scale = row.selects ? most : largest(row);
		drawing.append(svg("rect", { class: row.isChosen ? "row chosen" : "row", x: 0, y: y * rowHeight, width: periods, height: rowHeight - 1 }),
			svg("path", { class: row.part ? "bar-path around" : "bar-path", d: bars(row.hits, scale, bottom, rowHeight - 2) }),
			...(row.part ? [svg("path", { class: "bar-path part", d: bars(row.part, scale, bottom, rowHeight - 2) })] : []));
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
	const start = clockStart(), isClock = !Number.isNaN(start);
	const all = isClock ? clockTicks(from, to, start / 1000) : ticks(from, to, AXIS_WIDTH);
	return element("div", { className: "axis" }, all.map((tick) => {
		const label = element("span", {}, [isClock ? timeText(tick).slice(5, 16) : `${Number(tick.toPrecision(6))} s`]);
		label.style.left = `${(tick - from) / (to - from) * 100}%`;
		return label;
	}));
}

/** Whole hours of the clock.
 *  @param {number} from @param {number} to @param {number} start of the recording, in s since 1970 */
function clockTicks(from, to, start) {
	const least = (to - from) * TICK_WIDTH / AXIS_WIDTH, step = CLOCK_STEPS.find((each) => each >= least) ?? CLOCK_STEPS[CLOCK_STEPS.length - 1];
	const all = [];
	for (let at = Math.ceil((start + from) / step) * step - start; at < to; at += step)
		all.push(at);
	return all;
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

/** Selects a range by dragging, and a row by a click.
 *  @param {SVGElement} drawing @param {Shown} shown @param {HTMLElement} hint */
function drag(drawing, { rows, height, from, to }, hint) {
	/** @type {number | null} */
	let start = null;
	const timeAt = (/** @type {MouseEvent} */ event) => {
		const bounds = drawing.getBoundingClientRect();
		return from + Math.min(Math.max((event.clientX - bounds.left) / bounds.width, 0), 1) * (to - from);
	};
	const rowAt = (/** @type {MouseEvent} */ event) => rows[Math.floor((event.clientY - drawing.getBoundingClientRect().top) / height)];
	drawing.addEventListener("pointerdown", (event) => {
		start = timeAt(event);
		drawing.setPointerCapture(event.pointerId);
	});
	drawing.addEventListener("pointermove", (event) => {
		const now = timeAt(event), row = rowAt(event);
		hint.textContent = start === null ? `${timeText(now, 4)}${row && typeof row !== "string" ? `, ${valueText(row, (now - from) / (to - from))}` : ""}`
			: `${timeText(Math.min(start, now), 4)} to ${timeText(Math.max(start, now), 4)}`;
	});
	drawing.addEventListener("pointerleave", () => hint.textContent = hintText());
	drawing.addEventListener("pointerup", (event) => {
		const now = timeAt(event), row = rowAt(event), begin = start;
		start = null;
		if (begin === null)
			return;
		if (Math.abs(now - begin) > (to - from) / 500)
			choose({ from: Math.min(begin, now).toFixed(6), to: Math.max(begin, now).toFixed(6), zoom: "" });
		else if (row && typeof row !== "string" && row.selects)
			choose({ ...row.selects, zoom: "" });
	});
}

/** The amounts of a row in the period at a place of the strip.
 *  @param {Row} row @param {number} place 0 to 1 */
function valueText({ name, hits, part }, place) {
	const period = Math.min(Math.floor(place * hits.length), hits.length - 1);
	return `${safe(name)}: ${counted(Math.round(hits[period] * 100) / 100, "hit")}, ${amounts(hits[period], part && part[period])}`;
}
