// The views: each fills an element from the choices.

import { Picture, amount, ask, events, forgetPictures, functionAt, interval, laneCounts, nameFunctions, nameLines, shortName } from "./engine.mjs";
import { followEvents, showEvents } from "./events.mjs";
import { Flame, describe, foundText, nameOf, ratioColour, remember } from "./flame.mjs";
import { count, counted, element, nothing, percent, safe, shortened } from "./format.mjs";
import { fixedLegend, moduleLegend } from "./legend.mjs";
import { showStacks } from "./stacks.mjs";
import { choices, choose, countedHow, hasSamples, info, infos, laneKey, linkOf, otherLabels, recordingsOf, resource, selection, sideName, toggledLabel } from "./state.mjs";
import { hasSource, lineText, showSource } from "./source.mjs";
import { showSummary } from "./summary.mjs";
import { svgButton } from "./svg.mjs";
import { addSearched, bar, pathText, table } from "./tables.mjs";
import { hasTimeline } from "./timeline.mjs";
import { canTransform, transformSelect, withMenu } from "./transforms.mjs";

const ROWS = 1000;
const DEPTH_SHOWN = 20; // deeper rows of the tree of processes are not indented further

/** The flame graphs in the page now.
 *  @type {Flame[]} */
export let flames = [];

export function forgetFlames() {
	flames = [];
	forgetPictures();
}

/** Shows the zoom of the link, after the person went back. */
export function followZoom() {
	for (const flame of flames)
		if (flame.options.onZoom)
			flame.follow(Number(choices.node) || 0, choices.span);
	followEvents();
}

/** @param {ConstructorParameters<typeof Flame>[0]} options */
function addFlame(options) {
	const flame = new Flame(options);
	if (!flame.picture.total && !flame.picture.otherTotal)
		return nothing("No hits are selected.");
	flames.push(flame);
	return flame.element;
}

/** The flame graph of a view that has one: the link has the box to which a person zoomed.
 *  @param {ConstructorParameters<typeof Flame>[0]} options */
function addOnlyFlame(options) {
	return addFlame({ ...options, node: Number(choices.node) || 0, span: choices.span,
		onZoom: (node, span) => choose({ node: node ? String(node) : "", span }) });
}

/** A button that saves one of the flame graphs.
 *  @param {number} index */
function saveButton(index = 0) {
	return svgButton(() => flames[index]);
}

/** A function's short name, with the full one as a tooltip.
 *  @param {string} name @param {number} [slot] */
function named(name, slot) {
	return element("span", { title: safe(name) }, [safe(shortName(name, 100, slot))]);
}

/** Asks for a report of the selection.
 *  @param {Record<string, any>} request */
function report(request) {
	return ask({ ...selection(), threshold: "0", limit: ROWS, ...request }).results[0];
}

/** The first rows of a report, and what finds rows among all of it: the engine, by the names of functions, or else this page.
 *  @param {Record<string, any>} request @param {{isOfNames?: boolean, rows?: (answer: any) => any[]}} [options] */
function rowsOf(request, options = {}) {
	const { isOfNames = false, rows = (/** @type {any} */ answer) => answer.entries } = options;
	const found = (/** @type {any} */ answer) => ({ rows: rows(answer), left: answer.left_out });
	return { ...found(report(request)),
		find: (/** @type {string} */ wanted) => found(report({ ...request, ...(isOfNames ? { search: wanted } : { limit: 0 }) })) };
}

// --- flame graph ---

/** The buttons that turn the paths of a graph or tree around. */
function directions() {
	const button = (/** @type {string} */ shape, /** @type {string} */ text) => element("button", {
		"aria-pressed": String((shape === "callers") === (choices.shape === "callers")), onclick: () => choose({ shape, node: "" }) }, [text]);
	return [button("stacks", "from main downwards"), button("callers", "from the hottest bodies to their callers")];
}

function showFlame() {
	const callers = choices.shape === "callers";
	const tools = element("div", { className: "tools" }, [
		...directions(), ...(callers ? [] : colours()), saveButton(),
	]);
	const graph = addOnlyFlame({ slot: 0, request: { ...selection(), shape: callers ? "callers" : "stacks", other: callers ? null : choices.colour },
		label: "Flame graph", onPick: callers ? undefined : remember, otherName: safe(titleOf(choices.colour)) });
	const legend = !flames.length ? [] : callers || !choices.colour ? [moduleLegend(flames[0].picture)] : [ratioLegend()];
	return element("section", {}, [tools, ...legend, graph]);
}

/** The title of a resource.
 *  @param {string} name */
function titleOf(name) {
	return info().resources.find((/** @type {any} */ row) => row.name === name)?.title ?? name;
}

/** The choice of a second resource, which colours the boxes by their share of it. */
function colours() {
	const others = info().resources.filter((/** @type {any} */ row) => row.hits > 0 && row.name !== resource().name);
	if (!others.length)
		return [];
	const control = /** @type {HTMLSelectElement} */ (element("select", { onchange: () => choose({ colour: control.value }) },
		[["", "module"], ...others.map((/** @type {any} */ row) => [row.name, `share of ${row.title}`])].map(([value, text]) =>
			element("option", { value, selected: choices.colour === value }, [text]))));
	return [element("label", {}, ["colour by ", control])];
}

function ratioLegend() {
	const other = safe(titleOf(choices.colour)), own = safe(resource().title);
	return fixedLegend([[(dark) => ratioColour(0, dark), `no ${other}`], [(dark) => ratioColour(0.5, dark), `as large a share of ${other} as of ${own}`],
		[(dark) => ratioColour(1, dark), `a larger share of ${other} than of ${own}`]]);
}

// --- functions ---

/** The entries of a report of bodies, by name.
 *  @param {Record<string, any>} request @returns {Map<string, any>} */
function bodiesOf(request) {
	return new Map(report({ report: "body", limit: 0, ...request }).entries.map((/** @type {any} */ entry) => [entry.path[0], entry]));
}

function showFunctions() {
	// A report takes a pattern, and here is a name.
	nameFunctions(selection());
	const group = hasReport("groups") ? choices.group.replace(/[*?[\]\\]/g, "\\$&") : null;
	const bodies = bodiesOf({ group });
	const withBodies = (/** @type {any} */ answer) => answer.entries.map((/** @type {any} */ entry) => ({ ...entry, body: bodies.get(entry.path[0]) }));
	return table({
		caption: "A function has the hits of the samples whose stack contains it; its body those of the samples that end in it." +
			(group ? ` Only functions of the group ${safe(choices.group)}.` : ""),
		...rowsOf({ report: "functions", group }, { isOfNames: true, rows: withBodies }), sorted: 1, onPick: (row) => choose({ view: "sandwich", root: row.path[0] }),
		columns: [
			{ name: "function", value: (row) => row.path[0], isText: true, text: (row) => withMenu(named(row.path[0]), () => ({ name: row.path[0], path: "" })) },
			{ name: "with callees", text: (row) => bar(row.fraction, row.error), value: (row) => row.hits },
			{ ...OWN_COLUMN, name: "body" },
			{ name: "hits", text: (row) => count(row.hits), value: (row) => row.hits },
			{ name: "hits of the body", text: (row) => count(row.body?.hits ?? 0), value: (row) => row.body?.hits ?? 0 },
		],
	});
}

// --- sandwich ---

function chooseFunction() {
	return element("section", {}, [nothing("Choose a function:"), showFunctions()]);
}

function showSandwich() {
	if (!choices.root)
		return chooseFunction();
	const request = { ...selection(), root: choices.root };
	const tools = element("div", { className: "tools" }, [
		element("strong", { className: "full-name" }, [safe(choices.root)]),
		element("button", { onclick: () => choose({ view: "source" }) }, ["its source"]),
		element("button", { onclick: () => choose({ root: "" }) }, ["another function"]),
		...(canTransform() ? [transformSelect({ name: choices.root, path: "" })] : []),
	]);
	return element("section", {}, [tools, element("div", { className: "tools" }, [element("h2", {}, ["Who calls it"]), saveButton(0)]),
		addFlame({ slot: 1, request: { ...request, shape: "up" }, upwards: true, label: "Callers" }),
		element("div", { className: "tools" }, [element("h2", {}, ["What it calls"]), saveButton(1)]),
		addFlame({ slot: 2, request: { ...request, shape: "down" }, label: "Callees" })]);
}

// --- call tree ---

const ROWS_OPENED = 300; // a search opens the paths to so many rows at most

/** The rows below a box of the tree, largest first; during a search, the rows that lead to a match.
 *  @param {Picture} picture @param {number} node @param {number} weight */
function treeChildren(picture, node, weight) {
	return picture.boxes(node, 0, weight, 1, 1).all().slice(1).filter((box) => choices.search === "" || box.holds)
		.sort((a, b) => b.weight - a.weight);
}

/** One row of the tree, which makes its children when it is opened.
 *  @param {Picture} picture @param {import("./engine.mjs").Box} box @param {number} depth @param {{left: number}} room for rows that a search opens
 *  @returns {HTMLElement} */
function treeRow(picture, box, depth, room) {
	const name = element("span", { className: box.marked && choices.search !== "" ? "name found" : "name", title: safe(nameOf(picture, box)) },
		[safe(box.joined ? nameOf(picture, box) : picture.short(box.label, 100))]);
	name.style.paddingLeft = `min(${depth * 12}px, 40%)`; // figures stay in their columns, however deep the path
	const row = resource();
	const cells = [
		bar(box.weight / picture.total, hasSamples(row) ? picture.error(box.weight) : 0),
		element("span", { className: "number" }, [amount(box.weight * row.interval, row.unit)]), name,
	];
	const menu = (/** @type {HTMLElement} */ shown) => box.joined ? shown
		: withMenu(shown, () => ({ name: picture.owner(box.label), path: picture.wholePath(box.node) }));
	room.left--;
	if (box.own >= box.weight || box.joined)
		return menu(element("div", { className: "leaf", role: "treeitem", "aria-level": depth + 1 }, cells));
	const details = /** @type {HTMLDetailsElement} */ (element("details", { role: "treeitem", "aria-level": depth + 1 }, [
		menu(element("summary", { onclick: () => details.open || choices.shape === "callers" || remember(picture, box) }, cells))]));
	const fill = () => {
		if (details.childElementCount === 1)
			details.append(element("div", { className: "children", role: "group" },
				treeChildren(picture, box.node, box.weight).map((child) => treeRow(picture, child, depth + 1, room))));
	};
	details.addEventListener("toggle", () => details.open && fill());
	// Opens what most of the samples pass through, or what leads to a match.
	details.open = choices.search === "" ? depth < 40 && box.weight > picture.total / 2 : room.left > 0 && !box.marked;
	if (details.open)
		fill();
	return details;
}

function showTree() {
	const callers = choices.shape === "callers";
	const shape = choices.root ? (callers ? "up" : "down") : callers ? "callers" : "stacks";
	const picture = new Picture(0, { ...selection(), shape, root: choices.root });
	if (!picture.total)
		return nothing("No hits are selected.");
	const tree = element("div", { className: "tree", role: "tree", "aria-label": "Call tree" });
	const search = (/** @type {string} */ wanted) => {
		const found = foundText(picture, wanted), room = { left: ROWS_OPENED };
		tree.replaceChildren(...treeChildren(picture, 0, picture.total).map((box) => treeRow(picture, box, 0, room)));
		return found;
	};
	search(choices.search);
	addSearched(search);
	return element("section", {}, [element("div", { className: "tools" }, directions()), tree]);
}

// --- source ---

function showSourceOrChoice() {
	return choices.root || choices.line ? showSource() : chooseFunction();
}

/** The lines of the program's own code, with what they call in libraries and the kernel, as the first report has them.
 *  @returns {any[]} none if own code and other code are not known apart */
function ownLines() {
	const { entries } = report({ report: "summary", by: null, threshold: null, limit: 0 });
	return entries.some((/** @type {any} */ row) => row.entry === "own") ? entries.filter((/** @type {any} */ row) => row.entry === "line") : [];
}

/** The lines of own code, or of all files. */
function showLines() {
	const own = ownLines(), isOwn = own.length > 0 && choices.lines !== "all";
	const found = isOwn ? { rows: own } : rowsOf({ report: "lines", by: null });
	const button = (/** @type {string} */ lines, /** @type {string} */ text) => element("button", { "aria-pressed": String(isOwn === (lines === "")), onclick: () => choose({ lines }) }, [text]);
	nameFunctions(selection());
	nameLines(selection());
	const root = (/** @type {any} */ row) => row.line > 0 ? functionAt(row.file, row.line) : "";
	const open = (/** @type {string} */ view, /** @type {any} */ row) => choose({ view, root: root(row), line: `${row.file}:${row.line}` });
	const text = (/** @type {any} */ row) => row.line > 0 ? lineText(row.file, row.line) : "";
	const lacks = found.rows.some((/** @type {any} */ row) => row.line > 0 && !hasSource(row.file));
	const shares = isOwn ? [{ name: "with what it calls", text: (/** @type {any} */ row) => bar(row.fraction, row.error), value: (/** @type {any} */ row) => row.hits }, AMOUNT_COLUMN]
		: [{ name: "body", text: (/** @type {any} */ row) => bar(row.body_fraction, row.body_error), value: (/** @type {any} */ row) => row.body_hits },
			{ name: "with callees", text: (/** @type {any} */ row) => bar(row.total_fraction, row.total_error), value: (/** @type {any} */ row) => row.total_hits }];
	return element("section", {}, [
		...(own.length ? [element("div", { className: "tools" }, [button("", "the program's own lines, with what they call"), button("all", "lines of all files, by their own hits")])] : []),
		table({ caption: (isOwn ? "Hot lines of the program's own code: a line has the hits of what it calls in libraries and in the kernel, too"
			: "Hot lines of all source files") + (lacks ? ". The page lacks the source of a file that was not found where the page was written." : ""), ...found, sorted: 1,
			canPick: (row) => row.line > 0, onPick: (row) => open("source", row), columns: [
			{ name: "line", isText: true, value: (row) => row.file + ":" + String(row.line).padStart(9),
				text: (row) => row.file ? `${shortened(row.file, 60)}:${row.line}` : "[code without known lines]" },
			...shares,
			{ name: "source", isText: true, value: text, text: (row) => row.line === 0 || hasSource(row.file) ? text(row) : element("span", { className: "note" }, ["not in the page"]) },
			{ name: "function", isText: true, value: root, text: (row) => root(row) ? element("button", { className: "link",
				title: `callers and callees of ${safe(root(row))}`, onclick: () => open("sandwich", row) }, [safe(shortName(root(row), 50))]) : "" },
		] })]);
}

// --- what-if ---

function showWhatIf() {
	const flame = addOnlyFlame({ slot: 0, request: { ...selection(), shape: "stacks" }, label: "Flame graph",
		click: "A click chooses the path to the box for the slider, and zooms to it.", onPick: (picture, box) => {
			remember(picture, box);
			fill();
		} });
	const prediction = element("div", { role: "status", "aria-live": "polite" });
	const name = element("strong");
	const slider = /** @type {HTMLInputElement} */ (element("input", { type: "range", min: 0, max: 1, step: 0.01, value: choices.factor,
		"aria-label": "cost of the path, as a share of its cost now", oninput: () => {
			choose({ factor: slider.value }, true);
			fill();
		} }));
	const cost = element("span");
	const question = element("div", {}, [element("p", { className: "chosen" }, ["If ", name, " cost"]), element("p", {}, [slider, " ", cost])]);
	const hint = nothing("Click a box: the path that leads to it becomes cheaper. Drag the slider to see what that changes.");

	function fill() {
		slider.disabled = !choices.path;
		prediction.replaceChildren();
		if (!choices.path) {
			name.textContent = "the path to a box that you click";
			cost.textContent = "of what it costs now, …";
			return;
		}
		const names = choices.path.split(";");
		name.textContent = names.map((each) => safe(shortName(each, 60, 0))).join(" › ");
		name.title = pathText(names);
		cost.textContent = `${percent(Number(choices.factor))} of what it costs now,`;
		try {
			prediction.replaceChildren(...predicted());
		} catch (error) {
			prediction.replaceChildren(element("p", { className: "failure", role: "alert" }, [safe(error instanceof Error ? error.message : String(error))]));
		}
	}

	fill();
	return element("section", { className: "what-if" }, [hint, element("div", { className: "question" }, [question, prediction]), flame]);
}

/** The result of the report of the chosen path. */
function predicted() {
	const answer = report({ report: "whatif", term: `${choices.path}=${choices.factor}`, threshold: null, limit: null });
	const entry = answer.entries[0];
	if (!entry.hits)
		throw new Error("no such path: no selected sample has it");
	const total = answer.total_hits * answer.interval;
	const row = resource();
	return [
		element("p", { className: "big" }, [`the program would take ${percent(answer.predicted_total, entry.error * Math.abs(1 - Number(choices.factor)))} `,
			`of its ${safe(row.title)}: ${amount(total * answer.predicted_total, row.unit)} in place of ${amount(total, row.unit)}.`]),
		nothing(`The path has ${count(entry.hits)} of ${count(answer.total_hits)} hits (${percent(entry.fraction, entry.error)}).`),
	];
}

// --- labels, pages ---

/** The columns of a share and its hits. */
const SHARE_COLUMNS = [
	{ name: "share", text: (/** @type {any} */ row) => bar(row.fraction, row.error), value: (/** @type {any} */ row) => row.hits },
	{ name: "hits", text: (/** @type {any} */ row) => count(row.hits), value: (/** @type {any} */ row) => row.hits },
];

/** The hits of the body, of a row that has them. */
const OWN_COLUMN = { name: "own", text: (/** @type {any} */ row) => bar(row.body?.fraction ?? 0, row.body?.error), value: (/** @type {any} */ row) => row.body?.hits ?? 0 };

/** The amount of a row's hits, with its unit. */
const AMOUNT_COLUMN = { name: "amount", text: (/** @type {any} */ row) => amount(row.hits * resource().interval, resource().unit), value: (/** @type {any} */ row) => row.hits };

/** The values of a label, each with its amounts of all resources.
 *  @param {string} key */
function valuesTable(key) {
	const label = otherLabels(key), request = { report: "by-label", key, by: null, label: label.length ? label : null };
	const resources = info().resources.filter((/** @type {any} */ row) => row.hits > 0);
	const valueOf = (/** @type {any} */ row) => row.labels[key] ?? "";
	/** The hits of each value, by resource.
	 *  @type {Map<string, Map<string, number>>} */
	const hits = new Map(resources.map((/** @type {any} */ of) => [of.name, new Map(report({ ...request, resource: of.name, limit: 0 }).entries
		.map((/** @type {any} */ row) => [valueOf(row), row.hits]))]));
	const shares = new Map(report({ ...request, limit: 0 }).entries.map((/** @type {any} */ row) => [valueOf(row), row]));
	const values = [...new Set([...hits.values()].flatMap((each) => [...each.keys()]))];
	const of = (/** @type {string} */ name) => (/** @type {string} */ value) => hits.get(name)?.get(value) ?? 0;
	return table({ caption: `Values of the label ${safe(key)}, with their amounts of each resource; choose one to see only its hits`, rows: values, sorted: 1,
		canPick: (value) => value !== "", onPick: (value) => choose({ ...toggledLabel(key, value), view: "flame" }), columns: [
			{ name: key, isText: true, text: (value) => safe(value) || "(none)", value: (value) => value },
			{ name: `share of ${resource().title}`, text: (value) => bar(shares.get(value)?.fraction ?? 0, shares.get(value)?.error), value: of(resource().name) },
			...resources.map((/** @type {any} */ row) => ({ name: row.title, text: (/** @type {string} */ value) => amount(of(row.name)(value) * row.interval, row.unit), value: of(row.name) })),
		] });
}

function showLabels() {
	if (laneKey())
		return valuesTable(laneKey());
	return table({ caption: "Label sets, as the program attached them to its threads", ...rowsOf({ report: "by-label" }), sorted: 1,
		canPick: (row) => Object.keys(row.labels).length > 0, // there is no filter for threads without labels
		onPick: (row) => choose({ label: Object.entries(row.labels).map(([key, value]) => `${key}=${value}`).join("\n") }),
		columns: [
			{ name: "labels", isText: true, value: (row) => JSON.stringify(row.labels),
				text: (row) => Object.entries(row.labels).map(([key, value]) => safe(`${key}=${value}`)).join(" ") || "(none)" },
			{ name: "share", text: (row) => bar(row.fraction, row.error), value: (row) => row.hits },
			{ name: "hits", text: (row) => count(row.hits), value: (row) => row.hits },
		] });
}

/** The mappings, each with the paths that touched its pages. */
function showPages() {
	const answer = report({ report: "pages" });
	const paths = (/** @type {any} */ answer) => answer.entries.filter((/** @type {any} */ row) => row.entry === "path");
	nameFunctions(selection());
	const path = (/** @type {any} */ row) => row.path.map((/** @type {string} */ name) => safe(shortName(name, 40))).join(" › ");
	const range = (/** @type {any} */ row) => row.lowest ? `${row.lowest} to ${row.highest}` : "";
	const columns = [{ name: "mapping", isText: true, text: (/** @type {any} */ row) => safe(row.mapping), value: (/** @type {any} */ row) => row.mapping }];
	const figures = [...SHARE_COLUMNS,
		{ name: "pages", text: (/** @type {any} */ row) => count(row.pages), value: (/** @type {any} */ row) => row.pages }];
	return element("section", {}, [
		table({ caption: "Mappings whose pages were touched, with the lowest and the highest address", rows: answer.entries.filter((/** @type {any} */ row) => row.entry === "mapping"), sorted: 2, columns: [
			...columns, { name: "addresses", isText: true, text: range, value: range }, ...figures] }),
		element("h2", {}, ["Who touched them"]),
		table({ caption: "Call paths that touched pages of a mapping", ...rowsOf({ report: "pages" }, { rows: paths }), sorted: 2, columns: [
			...columns, { name: "call path", isText: true, text: (row) => element("span", { title: pathText(row.path) }, [path(row)]), value: path },
			...figures] }),
	]);
}

/** Whether a profile has what a report or a view needs, by profile, report and resource.
 *  @type {Record<string, boolean>} */
const known = {};

/** Whether the profile has what a report of the chosen resource needs.
 *  @param {string} report such as "pages": touched addresses were recorded; "groups": the source declares groups */
export function hasReport(report) {
	const shown = resource()?.name;
	const key = `${choices.side} ${report} of ${shown}`;
	if (!(key in known)) {
		try {
			ask({ side: choices.side, resource: shown, report, has: true });
			known[key] = true;
		} catch {
			known[key] = false;
		}
	}
	return known[key];
}

function showGroups() {
	return table({ caption: "Groups of functions that the source declares, with what they call; choose one to see its functions",
		...rowsOf({ report: "groups", by: null }, { isOfNames: true }), sorted: 1,
		canPick: (row) => row.path[0] !== "[no group]",
		onPick: (row) => choose({ group: row.path[0], by: "function", view: "functions" }), columns: [
			{ name: "group", isText: true, text: (row) => safe(row.path[0]), value: (row) => row.path[0] },
			{ name: "with callees", text: (row) => bar(row.fraction, row.error), value: (row) => row.hits },
			{ name: "hits", text: (row) => count(row.hits), value: (row) => row.hits },
		] });
}

// --- modules, processes and threads ---

function showModules() {
	const bodies = bodiesOf({ by: "module" });
	const withBodies = (/** @type {any} */ answer) => answer.entries.map((/** @type {any} */ entry) => ({ ...entry, body: bodies.get(entry.path[0]) }));
	return table({ caption: "Modules: the program, its libraries and the kernel. A sample ends in one module, and counts with callees for each module on its stack.",
		...rowsOf({ report: "modules", by: null }, { isOfNames: true, rows: withBodies }), sorted: 1, columns: [
			{ name: "module", isText: true, text: (row) => safe(row.path[0]), value: (row) => row.path[0] },
			OWN_COLUMN, { ...SHARE_COLUMNS[0], name: "with callees" }, AMOUNT_COLUMN, SHARE_COLUMNS[1],
		] });
}

/** The selector of a row of `info`: the number of the only one that has these properties.
 *  @param {any[]} all @param {Record<string, any>} wanted @returns {string} "" if there are several, which have one number in the system */
function selectorOf(all, wanted) {
	const fits = (/** @type {any} */ row) => Object.entries(wanted).every(([key, value]) => row[key] === value);
	return all.filter(fits).length === 1 ? `#${all.findIndex(fits) + 1}` : "";
}

/** The rows of the tree of processes, in the tree's order. */
export function processTree() {
	return rowsOf({ report: "process-tree", by: null, process: null },
		{ rows: (answer) => answer.entries.map((/** @type {any} */ row, /** @type {number} */ order) => ({ ...row, order })) });
}

/** "12 processes", or the number of the only one.
 *  @param {any} row */
export function numberOf(row) {
	return row.processes > 1 ? `${count(row.processes)} processes` : row.pid ? String(row.pid) : "";
}

function showProcesses() {
	return table({ caption: "Processes below those that started them; choose one to see only its hits, with what it started", ...processTree(), sorted: 0,
		canPick: (row) => row.selector !== "", onPick: (row) => choose({ process: row.selector, view: "flame" }), columns: [
			{ name: "process", isText: true, value: (row) => row.name, order: (row) => row.order,
				text: (row) => "\u2003".repeat(Math.min(row.depth, DEPTH_SHOWN)) + (safe(row.name) || "?") },
			{ name: "PID", text: (row) => numberOf(row), value: (row) => row.pid },
			{ name: "with what it started", text: (row) => bar(row.fraction, row.error), value: (row) => row.hits },
			{ name: "own", text: (row) => bar(row.own_fraction), value: (row) => row.own_hits }, AMOUNT_COLUMN,
			{ name: "hits", text: (row) => count(row.hits), value: (row) => row.hits },
		] });
}

function showThreads() {
	const selector = (/** @type {any} */ row) => selectorOf(info().threads, { tid: row.tid, pid: row.pid, name: row.name });
	return table({ caption: "Threads; choose one to see only its hits", ...rowsOf({ report: "threads", by: null, thread: null }), sorted: 3,
		canPick: (row) => selector(row) !== "", onPick: (row) => choose({ thread: selector(row), view: "flame" }), columns: [
			{ name: "thread", isText: true, text: (row) => safe(row.name) || "?", value: (row) => row.name },
			{ name: "TID", text: (row) => String(row.tid), value: (row) => row.tid },
			{ name: "PID", text: (row) => String(row.pid), value: (row) => row.pid }, SHARE_COLUMNS[0], AMOUNT_COLUMN, SHARE_COLUMNS[1],
		] });
}

// --- comparison ---

function showCompare() {
	const { spread } = choices;
	const answer = ask({ ...selection(), side: "a", report: "diff", of: "functions", threshold: "0", limit: ROWS, spread });
	const result = answer.results[0];
	const row = resource();
	const { gticks: a } = result.a, { gticks: b } = result.b;
	const sign = (/** @type {number} */ value) => `${value > 0 ? "+" : ""}${amountSigned(value, row.unit)}`;
	return element("section", {}, [
		element("p", { className: "big" }, [`${safe(row.title)}: ${amount(a, row.unit)} in A, ${amount(b, row.unit)} in B`,
			...(result.change === null ? [] : [` (${b >= a ? "+" : ""}${percent(result.change, result.change_error).replace("-", "−")})`])]),
		...["a", "b"].map((side) => element("p", { className: "note" }, [
			`${side.toUpperCase()}: ${shortened(infos[side].command_line || "profile", 90)}, recorded ${safe(infos[side].start)}${more(side)}`])),
		element("div", { className: "tools" }, [...["a", "b"].map((side) => element("button", {
			"aria-pressed": String(choices.side === side), onclick: () => choose({ side }) }, [`other views show ${sideName(side)}`])), saveButton(),
			...(result.spread === undefined ? [] : [spreadField()])]),
		element("p", { className: "note" }, ["The part of a box that is its own is as wide as the larger of its amounts in A and B. Red boxes have ",
			`more in B, green boxes less; + is new in B, − is gone. ${chanceText(result, "Grey boxes")}`]),
		addOnlyFlame({ slot: 0, request: { ...selection(), shape: "changes", spread }, label: "Differential flame graph",
			otherName: "in B" }),
		table({ caption: `Changes of functions. ${chanceText(result, "Those without a mark")}`, rows: result.entries, sorted: 1,
			left: result.left_out, onPick: (entry) => choose({ view: "sandwich", root: entry.path[0] }), columns: [
				{ name: "function", isText: true, text: (entry) => named(entry.path[0], 0), value: (entry) => entry.path[0] },
				{ name: "change", value: (entry) => Math.abs(entry.change),
					text: (entry) => element("span", { className: entry.significant ? (entry.change > 0 ? "worse" : "better") : "" },
						[sign(entry.change) + (entry.significant ? " *" : "")]) },
				{ name: "in A", text: (entry) => amount(entry.gticks_a, row.unit), value: (entry) => entry.gticks_a },
				{ name: "in B", text: (entry) => amount(entry.gticks_b, row.unit), value: (entry) => entry.gticks_b },
			] }),
	]);
}

/** ", and 2 more recordings": amounts are means of all recordings of a side.
 *  @param {string} side "a" or "b" */
function more(side) {
	const others = recordingsOf(side).length - 1;
	return others > 0 ? `, and ${counted(others, "more recording")}: amounts are means` : "";
}

/** The spread of equal programs that is assumed, because single recordings do not show it. */
function spreadField() {
	const field = /** @type {HTMLInputElement} */ (element("input", { type: "number", min: 0, max: 100, step: "any", className: "spread",
		value: String(Number((Number(choices.spread) * 100).toPrecision(12))), onchange: () => choose({ spread: String(Number(field.value) / 100) }) }));
	return element("label", {}, ["spread between runs, in % ", field]);
}

/** States why a change has no mark.
 *  @param {any} result of a diff @param {string} which */
function chanceText(result, which) {
	if (recordingsOf("a").length + recordingsOf("b").length > 2)
		return `${which} changed by no more than equal programs differ, as the recordings of each side show.`;
	return result.spread === undefined ? `${which} did not change.`
		: `${which} changed by no more than sampling and an assumed spread of ${percent(result.spread)} between runs explain.`;
}

/** @param {number} value @param {string} unit */
function amountSigned(value, unit) {
	return (value < 0 ? "−" : "") + amount(Math.abs(value), unit);
}

// --- findings ---

/** The parts of the recording that the page lacks, in the form of the recorder's findings. */
export function pageFindings() {
	const { lanes, end, leftOut } = events();
	const kept = leftOut ? lanes.map((lane) => laneCounts(lane, 0, end + 1)).reduce((sum, { calls, marks }) => sum + calls + marks, 0) : 0;
	return leftOut ? [{ severity: "warning", text: `the page has the first ${count(kept)} calls and marks of the trace; ${count(leftOut)} later calls and marks are left out`,
		meaning: "A page with all of them would be too large for a browser; 'cpprof export --format events' prints all." }] : [];
}

function showFindings() {
	const answer = info();
	const stacks = answer.stacks;
	const shares = [["whole stacks", answer.whole], ["partly guessed", answer.guessed], ["broken", answer.broken]];
	const facts = [
		["command", answer.command_line], ["start", answer.start], ["host", answer.host],
		["duration", `${answer.duration_s?.toFixed(3)} s`], ["samples", count(answer.samples)], ["lost", count(answer.lost)],
		...(stacks ? shares.map(([name, part]) => [name, percent(part / stacks)]) : [["whole stacks", "unknown: no stacks were taken"]]),
	].filter(([, value]) => value);
	const findings = [...answer.findings, ...pageFindings()];
	return element("section", {}, [
		element("h2", {}, ["What the recorder reports"]),
		...(findings.length ? findings.map((/** @type {any} */ finding) => element("div", { className: `finding ${finding.severity}` }, [
			element("strong", {}, [safe(finding.severity)]), " ", safe(finding.text), element("p", {}, [safe(finding.meaning)])]))
			: [nothing("Nothing: no losses, no incomplete stacks.")]),
		element("h2", {}, ["The recording"]),
		element("table", { className: "facts" }, [element("caption", {}, ["What was recorded, and how completely"]), ...facts.map(([name, value]) =>
			element("tr", {}, [element("th", { scope: "row" }, [name]), element("td", {}, [safe(String(value))])]))]),
		element("h2", {}, ["The resources"]), resourceTable(answer.resources),
		...(stacks ? [element("h2", {}, ["How the stacks ended"]), causeTable(answer.causes, stacks)] : []),
	]);
}

/** @param {any[]} resources */
function resourceTable(resources) {
	return table({ caption: "How each resource was recorded", rows: resources, sorted: 0, columns: [
		{ name: "resource", isText: true, text: (row) => safe(row.title), value: (row) => row.title },
		{ name: "recorded", isText: true, value: (row) => row.interval,
			text: (row) => hasSamples(row) ? `every ${interval(row.interval, row.unit)}` : countedHow(row) },
		{ name: "samples", text: (row) => count(row.samples), value: (row) => row.samples },
		{ name: "hits", text: (row) => count(row.hits), value: (row) => row.hits },
		{ name: "lost", text: (row) => count(row.lost), value: (row) => row.lost },
		{ name: "by", isText: true, text: (row) => safe([row.backend, row.note].filter(Boolean).join("; ")), value: (row) => row.backend },
	] });
}

/** @param {any[]} causes @param {number} stacks */
function causeTable(causes, stacks) {
	return table({ caption: "Where a path is not whole, its outer frames are missing or guessed", rows: causes, sorted: 1, columns: [
		{ name: "cause", isText: true, text: (row) => safe(row.cause), value: (row) => row.cause },
		{ name: "stacks", text: (row) => bar(row.count / stacks), value: (row) => row.count },
		{ name: "number", text: (row) => count(row.count), value: (row) => row.count },
	] });
}

/** Every view: its name, and whether this profile has it.
 *  @type {Record<string, {title: string, show: () => HTMLElement, has: () => boolean}>} */
export const views = {
	compare: { title: "Comparison", show: showCompare, has: () => Boolean(infos.b) },
	summary: { title: "First report", show: () => showSummary([...info().findings, ...pageFindings()]), has: () => true },
	flame: { title: "Flame graph", show: showFlame, has: () => true },
	functions: { title: "Functions", show: showFunctions, has: () => true },
	sandwich: { title: "Callers and callees", show: showSandwich, has: () => true },
	tree: { title: "Call tree", show: showTree, has: () => true },
	timeline: { title: "Stack chart", show: showStacks, has: hasTimeline },
	events: { title: "Events", show: showEvents, has: () => events().lanes.length > 0 },
	source: { title: "Source", show: showSourceOrChoice, has: () => true },
	lines: { title: "Hot lines", show: showLines, has: () => hasReport("lines") },
	whatif: { title: "What if", show: showWhatIf, has: () => true },
	labels: { title: "Labels", show: showLabels, has: () => info().labels.length > 0 },
	pages: { title: "Pages", show: showPages, has: () => hasReport("pages") },
	groups: { title: "Groups", show: showGroups, has: () => hasReport("groups") },
	modules: { title: "Modules", show: showModules, has: () => info().modules.length > 1 },
	processes: { title: "Processes", show: showProcesses, has: () => info().processes.length > 1 },
	threads: { title: "Threads", show: showThreads, has: () => info().threads.length > 1 },
	findings: { title: "Findings", show: showFindings, has: () => true },
};

export { describe, linkOf };
