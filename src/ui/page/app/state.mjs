// The state of the page: the view, the selection, and the profile's description. The part behind the '#' of the URL holds all that
// a person chose, so a link restores it.

import { ask, events, periods } from "./engine.mjs";

/** The choices, with their defaults. */
const DEFAULTS = {
	view: "summary", side: "a", resource: "", by: "function", kernel: "show", shape: "stacks", root: "", node: "",
	thread: "", process: "", label: "", lanes: "", part: "", from: "", to: "", search: "", lines: "", sort: "", path: "", group: "", line: "", factor: "0.5", colour: "", zoom: "", span: "", transform: "",
	spread: document.getElementById("spread")?.textContent ?? "",
};

/** @typedef {typeof DEFAULTS} Choices */

/** @type {Choices} */
export const choices = { ...DEFAULTS };
/** The answers of `cpprof info --format json`, by side: "a", "b", and "a2" of the second recording of A.
 *  @type {Record<string, any>} */
export const infos = {};
/** @type {(() => void)[]} */
const listeners = [];

export function readInfos() {
	for (const side of Object.keys(periods))
		infos[side] = ask({ report: "info", side });
	DEFAULTS.view = infos.b ? "compare" : events().lanes.length > 0 ? "events" : "summary";
	readLink();
}

export function info() {
	return infos[choices.side] ?? infos.a;
}

/** The chosen resource, or the first one with hits. */
export function resource() {
	const all = info().resources;
	return all.find((/** @type {any} */ row) => row.name === choices.resource) ??
		all.find((/** @type {any} */ row) => row.hits > 0) ?? all[0];
}

function readLink() {
	const link = new URLSearchParams(location.hash.slice(1));
	for (const key of /** @type {(keyof Choices)[]} */ (Object.keys(DEFAULTS)))
		choices[key] = link.get(key) ?? DEFAULTS[key];
}

/** Returns whether the hits of a resource are a known number of samples, from which errors are computed.
 *  @param {any} row */
export function hasSamples(row) {
	return row.kind === "sampled" || row.kind === "merged";
}

/** How a resource without known samples was recorded.
 *  @param {any} row */
export function countedHow(row) {
	return row.kind === "exact" ? "counted exactly" : "an unknown number of samples";
}

/** The link that restores these choices.
 *  @param {Partial<Choices>} changes */
export function linkOf(changes) {
	const link = new URLSearchParams();
	for (const [key, value] of Object.entries({ ...choices, ...changes }))
		if (value !== DEFAULTS[/** @type {keyof Choices} */ (key)])
			link.set(key, value);
	return "#" + link.toString();
}

/** Changes choices and shows the result.
 *  @param {Partial<Choices>} changes @param {boolean} [replaces] no new entry in the history */
export function choose(changes, replaces = false) {
	if (!replaces && (choices.node !== "" || choices.span !== ""))
		changes = { node: "", span: "", ...changes }; // a box of another picture has another number
	if ("root" in changes)
		changes = { line: "", ...changes }; // a line belongs to a function
	const before = linkOf({}), link = linkOf(changes);
	Object.assign(choices, changes);
	if (replaces || link === before)
		history.replaceState(null, "", link);
	else
		history.pushState(null, "", link);
	for (const listener of listeners)
		listener();
}

/** @param {() => void} listener */
export function onChange(listener) {
	listeners.push(listener);
}

addEventListener("popstate", () => {
	readLink();
	for (const listener of listeners)
		listener();
});

/** The recordings of A or B.
 *  @param {string} letter "a" or "b" */
export function recordingsOf(letter) {
	return Object.keys(infos).filter((side) => side[0] === letter);
}

/** "A", or "A1" where A has several recordings.
 *  @param {string} side */
export function sideName(side) {
	const name = side.toUpperCase();
	return side.length === 1 && recordingsOf(side).length > 1 ? name + "1" : name;
}

/** The step of the times in this profile, in ns; 0: as recorded. */
export function periodOf() {
	return periods[choices.side] ?? 0;
}

/** The chosen range of time in seconds, from step to step.
 *  @returns {{from: string, to: string}} */
export function range() {
	const period = periodOf();
	const { from, to } = choices;
	const whole = (/** @type {string} */ text, /** @type {(steps: number) => number} */ round) =>
		text === "" || !period || Number.isNaN(Number(text)) ? text
			: String(Number((round(Number((Number(text) * 1e9 / period).toFixed(6))) * period / 1e9).toFixed(9)));
	return { from: whole(from, Math.floor), to: whole(to, Math.ceil) };
}

const HOURS_LONG = 2;

/** The time of the clock (UTC) at which a long recording began, in ms; NaN: it is not known, or the recording is short. */
export function clockStart() {
	const { start, duration_s } = info();
	return duration_s >= HOURS_LONG * 3600 ? Date.parse(start.replace(/^(\S+) (\S+) (...)(..)$/, "$1T$2$3:$4")) : NaN;
}

/** "1.2345 s", or the time of the clock in a long recording.
 *  @param {number} seconds since the start @param {number} [digits] */
export function timeText(seconds, digits) {
	const start = clockStart();
	return Number.isNaN(start) ? `${digits === undefined ? seconds : seconds.toFixed(digits)} s`
		: new Date(start + seconds * 1000).toISOString().slice(0, 19).replace("T", " ");
}

export const THREADS = "#threads"; // lanes that are no label's

/** The label whose values have lanes and rows; "": threads have lanes. A store's page has the label `service`. */
export function laneKey() {
	const keys = info().labels, has = (/** @type {string} */ key) => keys.some((/** @type {any} */ row) => row.key === key);
	if (choices.lanes === THREADS || has(choices.lanes))
		return choices.lanes === THREADS ? "" : choices.lanes;
	return ["service", "host"].find((key) => keys.some((/** @type {any} */ row) => row.key === key && row.values > 1)) ?? "";
}

/** The transform that selects the part of the hits that a person looks at: the function of a view, or the path of the box that was clicked;
 *  "": there is none. */
export function chosenPart() {
	return choices.view === "sandwich" ? choices.root && `focus=${choices.root}` : choices.part;
}

/** The labels of the selection but those of a key, as KEY=VALUE.
 *  @param {string} key */
export function otherLabels(key) {
	return choices.label.split("\n").filter((label) => label !== "" && !label.startsWith(`${key}=`));
}

/** The choices that select a label's value, in place of others, or all values if it is selected.
 *  @param {string} key @param {string} value @returns {Partial<Choices>} */
export function toggledLabel(key, value) {
	const label = `${key}=${value}`, others = otherLabels(key);
	return { label: (choices.label.split("\n").includes(label) ? others : [...others, label]).join("\n") };
}

/** The part of a request that selects hits.
 *  @returns {Record<string, any>} */
export function selection() {
	return {
		side: choices.side, resource: resource()?.name, by: choices.by, kernel: choices.kernel,
		thread: choices.thread,
		process: choices.process ? choices.process.split(",") : null,
		label: choices.label ? choices.label.split("\n") : null, transform: choices.transform ? choices.transform.split("\n") : null, ...range(),
	};
}

/** The seconds that are selected.
 *  @returns {number} */
export function selectedSeconds() {
	const { from, to } = range(), all = info().duration_s ?? 0;
	return Math.max(Math.min(Number(to) || all, all) - (Number(from) || 0), 0);
}

/** The hits and samples of the selection, as reports count them; those of the whole recording where the profile does not have what is selected.
 *  @returns {{hits: number, samples: number}} */
export function selectedTotals() {
	const row = resource();
	try {
		const answer = ask({ ...selection(), report: "body", threshold: "0", limit: 1 }).results[0];
		return { hits: answer.total_hits, samples: answer.samples };
	} catch {
		return { hits: row.hits, samples: row.samples };
	}
}
