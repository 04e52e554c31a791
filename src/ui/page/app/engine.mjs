// The engine: cpprof's own C code as WebAssembly (ui/page/exports.c). All figures of the page come from it.

/** @typedef {{start: number, weight: number, own: number, node: number, label: number, depth: number, marked: boolean,
 *  holds: boolean, joined: number, changed: boolean, isTail: boolean, first: number, other: number}} Box holds: it or a box below it is marked;
 *  joined: the number of siblings in it, which are too narrow for boxes of their own; 0: it is one; first, other: of a pair, the gticks in A and B */
/** @typedef {Record<string, string | number | boolean | string[] | null | undefined>} Request */

const BOX_BYTES = 64;
export const BOX_DOUBLES = BOX_BYTES / 8, BOX_NUMBERS = BOX_BYTES / 4, BOX_FIRST = 10;
export const BOX_MARKED = 1, BOX_CHANGED = 2, BOX_TAIL = 4, BOX_HOLDS = 8;
export const NO_LABEL = 0xffffffff; // of the box of all, and of joined boxes
const LANE_BOX_BYTES = 32;

/** @type {WebAssembly.Instance} */
let instance;
/** @type {WebAssembly.Memory} */
let memory;
/** @type {Record<string, Function>} */
let functions;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @param {string} text in base64 @returns {Uint8Array} */
function decoded(text) {
	const decode = /** @type {any} */ (Uint8Array).fromBase64;
	if (decode)
		return decode.call(Uint8Array, text);
	const letters = atob(text); // browsers before 2025
	const bytes = new Uint8Array(letters.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = letters.charCodeAt(i);
	return bytes;
}

/** Inflates what an element of the page contains (ui/page/write.h), part by part, so that there is no second copy of all data. The parts
 *  leave the page, because they take as much memory as a profile.
 *  @param {HTMLElement} element @param {(bytes: Uint8Array) => void} take gets each part of the result */
async function inflate(element, take) {
	const { readable, writable } = new DecompressionStream("deflate");
	const writer = writable.getWriter(), reader = readable.getReader();
	async function write() {
		for (const part of [...element.children]) {
			const bytes = decoded(part.textContent ?? "");
			part.remove();
			await writer.write(bytes);
		}
		await writer.close();
	}
	async function read() {
		for (let part = await reader.read(); !part.done; part = await reader.read())
			take(part.value);
	}
	await Promise.all([write(), read()]);
}

/** Puts what an element of the page contains into the engine's memory. Returns null if there is no such element.
 *  @param {string} id @returns {Promise<{at: number, size: number} | null>} an allocated place */
async function embedded(id) {
	const element = document.getElementById(id);
	if (!element)
		return null;
	const size = Number(element.dataset.bytes ?? 0);
	const at = functions.page_allocate(size + 1);
	if (!at)
		throw new Error("cannot read the profile: out of memory");
	let filled = 0;
	try {
		await inflate(element, (bytes) => {
			if (bytes.length > size - filled)
				throw new Error("it is too long");
			new Uint8Array(memory.buffer, at + filled, bytes.length).set(bytes);
			filled += bytes.length;
		});
	} catch {
		filled = -1;
	}
	if (filled !== size)
		throw new Error("the page is damaged");
	return { at, size };
}

/** Returns the text that an element of the page contains in the same way; null if there is no such element.
 *  @param {string} id @returns {Promise<string | null>} */
export async function embeddedText(id) {
	const place = await embedded(id);
	if (!place)
		return null;
	const read = decoder.decode(new Uint8Array(memory.buffer, place.at, place.size));
	functions.page_free(place.at);
	return read;
}

/** @type {Promise<void> | null} */
let code = null;

/** Reads the machine code of the page, once: views that show none need not wait for it. */
export function readCode() {
	code ??= (async () => {
		for (const [side, id] of ["code-a", "code-b"].entries()) {
			const bytes = await embedded(id);
			if (bytes && functions.page_load_code(side, bytes.at, bytes.size) < 0)
				throw new Error(failure());
		}
	})();
	return code;
}

/** The engine needs no system: every call reports that there is no such file.
 *  @param {WebAssembly.Module} module */
function imports(module) {
	const NO_SUCH_FILE = 8; // WASI's errno `badf`, at which wasi-libc stops to look for open files
	/** @type {Record<string, Record<string, Function>>} */
	const all = {};
	for (const { module: group, name } of WebAssembly.Module.imports(module)) {
		all[group] ??= {};
		all[group][name] = name === "proc_exit" ? () => { throw new Error("the engine stopped"); } : () => NO_SUCH_FILE;
	}
	return /** @type {WebAssembly.Imports} */ (/** @type {unknown} */ (all));
}

/** Starts the engine with the profiles of the page. */
export async function start() {
	const element = document.getElementById("engine");
	if (!element)
		throw new Error("the page is incomplete: it has no engine");
	/** @type {BlobPart[]} */
	const code = [];
	await inflate(element, (bytes) => code.push(/** @type {BlobPart} */ (/** @type {unknown} */ (bytes))));
	const module = await WebAssembly.compile(await new Blob(code).arrayBuffer());
	instance = await WebAssembly.instantiate(module, imports(module));
	functions = /** @type {Record<string, Function>} */ (/** @type {unknown} */ (instance.exports));
	memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
	functions._initialize();
	for (const [number, letter] of ["a", "b"].entries())
		for (let side = letter, next = 2; document.getElementById(`profile-${side}`); side = `${letter}${next++}`)
			await load(number, side);
	if (!("a" in periods))
		throw new Error("the page is incomplete: it has no profile");
	const events = await embedded("events");
	if (events && functions.page_load_events(events.at, events.size) < 0)
		throw new Error(failure());
}

/** The steps in ns to which the times of the hits are rounded, by side: "a" and "b", and "a2" of the second recording of A; 0: they are as
 *  recorded (ui/page/compact.h).
 *  @type {Record<string, number>} */
export const periods = {};

/** Loads the next recording of A (0) or B (1).
 *  @param {number} number @param {string} side */
async function load(number, side) {
	const period = Number(document.getElementById(`profile-${side}`)?.dataset.period ?? 0);
	const bytes = await embedded(`profile-${side}`);
	if (bytes && functions.page_load(number, bytes.at, bytes.size) < 0)
		throw new Error(failure());
	periods[side] = period;
}

function failure() {
	return text(functions.page_error()) || "the engine failed";
}

/** @param {number} at @returns {string} */
function text(at) {
	if (!at)
		return "";
	const bytes = new Uint8Array(memory.buffer, at);
	return decoder.decode(bytes.slice(0, bytes.indexOf(0)));
}

/** Calls a function with a text.
 *  @param {string} value @param {(at: number) => any} call */
function withText(value, call) {
	const bytes = encoder.encode(value);
	const at = functions.page_allocate(bytes.length + 1);
	if (!at)
		throw new Error("out of memory");
	const copy = new Uint8Array(memory.buffer, at, bytes.length + 1);
	copy.set(bytes);
	copy[bytes.length] = 0;
	try {
		return call(at);
	} finally {
		functions.page_free(at);
	}
}

/** Writes a request as ui/page/engine.h describes.
 *  @param {Request} request */
function lines(request) {
	const all = [];
	for (const [key, value] of Object.entries(request)) {
		if (value === null || value === undefined || value === "" || value === false)
			continue;
		for (const item of Array.isArray(value) ? value : [value === true ? "on" : String(value)])
			all.push(`${key}=${item.replaceAll("\n", " ")}\n`);
	}
	return all.join("");
}

/** Returns the answer to a request, which has the form of `cpprof report --format json`.
 *  @param {Request} request */
export function ask(request) {
	return withText(lines(request), (at) => {
		const answer = functions.page_ask(at);
		if (!answer)
			throw new Error(failure());
		return JSON.parse(text(answer));
	});
}

const NAMES_SLOT = 3, LINES_SLOT = 4; // no flame graph uses them

/** Makes the short names of a selection, for tables: shortName then knows all functions that can stand beside each other.
 *  @param {Request} request @param {number} [slot] */
export function nameFunctions(request, slot = NAMES_SLOT) {
	if (withText(lines({ ...request, shape: "names" }), (at) => functions.page_picture(slot, at)) < 0)
		throw new Error(failure());
}

/** A function's name by the rule of docs/languages.md: distinct among the functions of nameFunctions, or of the picture in a slot.
 *  @param {string} name @param {number} columns @param {number} [slot] @returns {string} */
export function shortName(name, columns, slot = NAMES_SLOT) {
	return withText(name, (at) => text(functions.page_short_name(slot, at, columns)));
}

/** Makes the lines of a selection known to functionAt.
 *  @param {Request} request */
export function nameLines(request) {
	nameFunctions({ ...request, by: "line" }, LINES_SLOT);
}

/** Returns the name of a function with code of this line of nameLines; "" if there is none.
 *  @param {string} file @param {number} line @returns {string} */
export function functionAt(file, line) {
	return withText(file, (at) => text(functions.page_function_at(LINES_SLOT, at, line)));
}

/** A flame graph in one of the engine's slots. */
export class Picture {
	/** @param {number} slot @param {Request} request */
	constructor(slot, request) {
		this.slot = slot;
		this.labelCount = withText(lines(request), (at) => functions.page_picture(slot, at));
		if (this.labelCount < 0)
			throw new Error(failure());
		/** @type {number} */
		this.total = functions.page_total(slot);
		/** Whether the boxes are of two sides, and their weights the larger of both, in gticks. */
		this.compares = request.shape === "changes";
		/** The gticks of B or of the second resource, or 0.
		 *  @type {number} */
		this.otherTotal = functions.page_other_total(slot);
		this.otherName = "";
		/** @type {Map<number, string>} */
		this.names = new Map();
		/** @type {Map<number, string>} */
		this.shorts = new Map();
	}

	/** @param {number} node @param {number} from @param {number} to @param {number} smallest @param {number} depths
	 *  @returns {Boxes} */
	boxes(node, from, to, smallest, depths = 0) {
		const count = functions.page_boxes(this.slot, node, from, to, smallest, depths);
		return new Boxes(functions.page_boxes_at(), Math.max(count, 0), functions.page_boxes_are_cut() !== 0);
	}

	/** @param {number} node @returns {Box | null} */
	box(node) {
		const at = functions.page_box(this.slot, node);
		return at ? new Boxes(at, 1).get(0) : null;
	}

	/** @param {number} node @returns {number} the box above, or -1 */
	parent(node) {
		return functions.page_parent(this.slot, node);
	}

	/** The boxes from the root, without it, to a box.
	 *  @param {number} node @returns {Box[]} */
	path(node) {
		const path = [];
		for (let at = node; at > 0; at = this.parent(at)) {
			const box = this.box(at);
			if (box)
				path.unshift(box);
		}
		return path;
	}

	/** The path of a box as reports have it: folded, where a function calls itself.
	 *  @param {number} node @returns {string} names with ";" between them */
	foldedPath(node) {
		const at = functions.page_folded_path(this.slot, node);
		if (!at)
			throw new Error(failure());
		return text(at);
	}

	/** The path of a box as the transform "path" takes it; "": this picture has no such paths.
	 *  @param {number} node @returns {string} */
	wholePath(node) {
		return text(functions.page_whole_path(this.slot, node));
	}

	/** @param {number} label @returns {string} */
	name(label) {
		let name = this.names.get(label);
		if (name === undefined) {
			name = label === NO_LABEL ? "all" : text(functions.page_label(this.slot, label));
			this.names.set(label, name);
		}
		return name;
	}

	/** A label's name by the rule of docs/languages.md.
	 *  @param {number} label @param {number} columns @returns {string} */
	short(label, columns) {
		const key = label * 1024 + Math.min(Math.max(columns, 0), 1023);
		let name = this.shorts.get(key);
		if (name === undefined) {
			name = label === NO_LABEL ? this.name(label) : text(functions.page_short_label(this.slot, label, key % 1024));
			this.shorts.set(key, name);
		}
		return name;
	}

	/** @param {number} label @returns {string} the function's name */
	owner(label) {
		return text(functions.page_owner(this.slot, label));
	}

	/** @param {number} label @returns {string} */
	module(label) {
		return text(functions.page_module(this.slot, label));
	}

	/** The width of all boxes of each module, in the order of `info`, and of code of no module, and their own hits.
	 *  @param {number} modules their number @returns {{area: number, own: number}[]} */
	moduleAreas(modules) {
		const at = functions.page_module_areas(this.slot), count = modules + 1;
		const areas = at ? new Float64Array(memory.buffer, at, 2 * count) : [];
		return Array.from(areas.slice(0, count), (area, i) => ({ area, own: areas[count + i] }));
	}

	/** @param {number} hits @returns {number} half the width of the 95 % interval of the share */
	error(hits) {
		return functions.page_share_error(this.slot, hits);
	}

	/** Marks labels.
	 *  @param {string} wanted @returns {{labels: number, hits: number}} the number of marked labels, and the hits of samples with one */
	search(wanted) {
		const labels = withText(wanted, (at) => functions.page_search(this.slot, at));
		return { labels, hits: functions.page_searched_hits() };
	}
}

/** An amount of a unit as reports print it: "1.254 s", "3 ms", "12 faults".
 *  @param {number} gticks @param {string} unit @returns {string} */
export function amount(gticks, unit) {
	return withText(unit, (at) => text(functions.page_amount(gticks, at)));
}

/** The same for an interval: "1 ms", "65,537 bytes".
 *  @param {number} gticks @param {string} unit @returns {string} */
export function interval(gticks, unit) {
	return withText(unit, (at) => text(functions.page_interval(gticks, at)));
}

/** The boxes that a picture shows, as the engine wrote them (struct page_box), in a copy. */
export class Boxes {
	/** @param {number} at @param {number} count @param {boolean} areCut there was no room for deeper levels */
	constructor(at, count, areCut = false) {
		this.areCut = areCut;
		const copy = memory.buffer.slice(at, at + count * BOX_BYTES);
		this.count = count;
		/** start, weight, own, first, other: BOX_DOUBLES to a box, which has other numbers behind these */
		this.doubles = new Float64Array(copy);
		/** from BOX_FIRST on: node, label, depth, flags, joined: BOX_NUMBERS to a box */
		this.numbers = new Uint32Array(copy);
	}

	/** @param {number} index @returns {Box | null} */
	get(index) {
		if (index < 0 || index >= this.count)
			return null;
		const d = index * BOX_DOUBLES, n = index * BOX_NUMBERS + BOX_FIRST;
		const { doubles, numbers } = this;
		return {
			start: doubles[d], weight: doubles[d + 1], own: doubles[d + 2], first: doubles[d + 3], other: doubles[d + 4], node: numbers[n] | 0,
			label: numbers[n + 1], depth: numbers[n + 2], marked: (numbers[n + 3] & BOX_MARKED) !== 0,
			changed: (numbers[n + 3] & BOX_CHANGED) !== 0, isTail: (numbers[n + 3] & BOX_TAIL) !== 0,
			holds: (numbers[n + 3] & BOX_HOLDS) !== 0, joined: numbers[n + 4],
		};
	}

	/** @returns {Box[]} */
	all() {
		return Array.from({ length: this.count }, (_, index) => /** @type {Box} */ (this.get(index)));
	}
}

/** Frees all pictures: the pictures of a view that is no longer shown. */
export function forgetPictures() {
	functions.page_forget();
}

/** Whether a hit of the request's resource has a time and, without a key, a thread.
 *  @param {Request} request */
export function hasTimes(request) {
	const found = withText(lines(request), (request) => functions.page_has_times(request));
	if (found < 0)
		throw new Error(failure());
	return found > 0;
}

/** Returns the hits in each of several periods: of each thread, with the path that created it, or of each value of the request's key.
 *  @param {Request} request @param {number} periods */
export function timeline(request, periods) {
	const at = withText(lines(request), (request) => functions.page_timeline(request, periods));
	if (!at)
		throw new Error(failure());
	const hits = new Float64Array(memory.buffer, at, functions.page_timeline_rows() * periods);
	return {
		rows: Array.from({ length: functions.page_timeline_rows() }, (_, row) => hits.slice(row * periods, (row + 1) * periods)),
		from: /** @type {number} */ (functions.page_timeline_end(0)),
		to: /** @type {number} */ (functions.page_timeline_end(1)),
		outside: /** @type {number} */ (functions.page_timeline_end(2)),
	};
}

/** The path that created a thread of the last timeline; "": it is not known.
 *  @param {number} thread @returns {string} */
export function creatorOf(thread) {
	return text(functions.page_thread_path(thread));
}

/** The value of the key of a row of the last timeline; "": its hits have no such label.
 *  @param {number} row @returns {string} */
export function valueOf(row) {
	return text(functions.page_timeline_value(row));
}

const TRACE = 0, SAMPLED = 1; // sets of lanes

/** @typedef {{set: number, index: number, process: number, thread: number, depths: number}} Lane */
/** @typedef {{lanes: Lane[], end: number, leftOut: number}} Lanes end: of the last event, in ns */
/** @typedef {{start: number, end: number, name: number, count: number, depth: number, isOpen: boolean, isMark: boolean,
 *  isUser: boolean}} LaneBox */

/** @param {number} set @returns {Lanes} */
function lanesOf(set) {
	return {
		lanes: Array.from({ length: functions.page_lane_count(set) }, (_, lane) => {
			const [process, thread, depths] = [0, 1, 2].map((fact) => functions.page_lane(set, lane, fact));
			return { set, index: lane, process, thread, depths };
		}),
		end: functions.page_lanes_end(set), leftOut: functions.page_lanes_left_out(set),
	};
}

/** The events of a trace: its lanes, one for each thread, its end, and the number of events that the page does not contain. */
export function events() {
	return lanesOf(TRACE);
}

/** The samples of a thread, in place of the thread before: its lane; detail: the ns within which samples are joined, or 0.
 *  @param {Request} request @param {number} thread @param {number} period of the times, in ns @returns {Lanes & {detail: number}} */
export function sampleLane(request, thread, period) {
	const detail = withText(lines(request), (request) => functions.page_sample_lane(request, thread, period));
	if (detail < 0)
		throw new Error(failure());
	return { ...lanesOf(SAMPLED), detail };
}

/** The number of the calls and marks of a lane in a range of time.
 *  @param {Lane} lane @param {number} from @param {number} to in ns @returns {{calls: number, marks: number}} */
export function laneCounts(lane, from, to) {
	const [calls, marks] = [0, 1].map((ofMarks) => functions.page_lane_count_within(lane.set, lane.index, from, to, ofMarks));
	return { calls, marks };
}

/** @param {Lane} lane @param {number} from @param {number} to in ns @param {number} narrow @param {number} depths @returns {LaneBox[]} */
export function laneBoxes(lane, from, to, narrow, depths) {
	const count = functions.page_lane_boxes(lane.set, lane.index, from, to, narrow, depths);
	const at = functions.page_lane_boxes_at();
	const doubles = new Float64Array(memory.buffer, at, count * LANE_BOX_BYTES / 8);
	const numbers = new Uint32Array(memory.buffer, at, count * LANE_BOX_BYTES / 4);
	return Array.from({ length: count }, (_, i) => ({
		start: doubles[i * 4], end: doubles[i * 4 + 1], name: numbers[i * 8 + 4], count: numbers[i * 8 + 5], depth: numbers[i * 8 + 6],
		isOpen: (numbers[i * 8 + 7] & 1) !== 0, isMark: (numbers[i * 8 + 7] & 2) !== 0, isUser: (numbers[i * 8 + 7] & 4) !== 0,
	}));
}

/** The name of a box.
 *  @param {Lane} lane @param {LaneBox} box @returns {string} */
export function laneName(lane, box) {
	return text(functions.page_lane_name(lane.set, box.name));
}

/** The same by the rule of docs/languages.md.
 *  @param {Lane} lane @param {LaneBox} box @param {number} columns @returns {string} */
export function shortLaneName(lane, box, columns) {
	return text(functions.page_short_lane_name(lane.set, box.name, columns));
}
