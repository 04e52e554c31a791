// The page: header, filters, and the chosen view.

import { amount, start } from "./engine.mjs";
import { counted, element, percent, safe, shortened } from "./format.mjs";
import { choices, choose, countedHow, hasSamples, info, infos, onChange, range, readInfos, resource, selectedTotals, sideName, timeText } from "./state.mjs";
import { forgetTables, tables } from "./tables.mjs";
import { showKeys } from "./keys.mjs";
import { readSources } from "./source.mjs";
import { followPart, strip } from "./timeline.mjs";
import { transformsShown } from "./transforms.mjs";
import { flames, followZoom, forgetFlames, hasReport, numberOf, pageFindings, processTree, views } from "./views.mjs";

document.documentElement.dataset.started = ""; // for incomplete.mjs

const PROCESSES_LISTED = 40;

const page = /** @type {HTMLElement} */ (document.getElementById("page"));

/** @param {unknown} error */
function fail(error) {
	const text = error instanceof Error ? error.message : String(error);
	page.replaceChildren(element("div", { className: "failure", role: "alert" }, [
		element("h1", {}, ["cpprof cannot show this profile"]), element("p", {}, [safe(text)])]));
}

/** The recorded command, or what a store's page is of.
 *  @param {any} about */
function nameOf(about) {
	const [services, hosts] = ["service", "host"].map((key) => about.labels.find((/** @type {any} */ row) => row.key === key)?.values ?? 0);
	return services && hosts && services + hosts > 2 ? `${counted(services, "service")} on ${counted(hosts, "host")}` : about.command_line || "profile";
}

function header() {
	const about = info();
	const row = resource();
	const { hits, samples } = row ? selectedTotals() : { hits: 0, samples: 0 };
	const amountOf = (/** @type {number} */ hits) => amount(hits * row.interval, row.unit);
	const total = !row ? "" : hits === row.hits ? amountOf(hits) : `${amountOf(hits)} selected of ${amountOf(row.hits)}`;
	const whole = about.stacks ? percent(about.whole / about.stacks) : "";
	const missing = pageFindings();
	const warnings = [...about.findings, ...missing].filter((/** @type {any} */ finding) => finding.severity !== "note").length;
	const name = nameOf(about);
	document.title = `${safe(name)} · cpprof`;
	return element("header", {}, [
		element("h1", { title: safe(name) }, [shortened(name, 90)]),
		element("p", {}, [`${row ? `${safe(row.title)}: ` : ""}${total} · ${row && !hasSamples(row) ? countedHow(row) : counted(samples, "sample")} · ${whole ? `${whole} of the stacks whole · ` : ""}`,
			element("button", { className: warnings ? "link warning" : "link", onclick: () => choose({ view: "findings" }) },
				[warnings ? counted(warnings, "finding") : "no losses"])]),
		...missing.map((finding) => element("p", { className: "warning" }, [`Not all of the recording: ${finding.text}.`])),
	]);
}

/** @param {string} label @param {HTMLElement} control */
function labelled(label, control) {
	return element("label", {}, [label + " ", control]);
}

/** @param {keyof typeof choices} key @param {[string, string][]} values */
function select(key, values) {
	const control = /** @type {HTMLSelectElement} */ (element("select", { "data-choice": key,
		onchange: () => choose({ [key]: control.value }) },
		values.map(([value, text]) => element("option", { value, selected: choices[key] === value }, [text]))));
	return control;
}

/** The processes to choose from: each, or the rows of their tree where these are too many.
 *  @returns {[string, string][]} */
function processesListed() {
	const all = info().processes;
	if (all.length <= PROCESSES_LISTED)
		return all.map((/** @type {any} */ row, /** @type {number} */ i) => [`#${i + 1}`, `${shortened(row.name, 24)} ${row.pid}`]);
	return processTree().rows.filter((/** @type {any} */ row) => row.selector)
		.map((/** @type {any} */ row) => [row.selector, `${"\u2007\u2007".repeat(Math.min(row.depth, 8))}${shortened(row.name, 24)} ${numberOf(row)}`]);
}

function filters() {
	const about = info();
	const resources = about.resources.filter((/** @type {any} */ row) => row.hits > 0)
		.map((/** @type {any} */ row) => [row.name, row.title]);
	const controls = [];
	if (infos.b)
		controls.push(labelled("profile", select("side", Object.keys(infos).map((side) => [side, sideName(side)]))));
	if (resources.length > 1)
		controls.push(labelled("resource", select("resource", resources)));
	/** @type {[string, string][]} */
	const kinds = [["function", "function"], ["line", "line"], ["module", "module"]];
	if (hasReport("groups"))
		kinds.push(["group", "group"]);
	controls.push(labelled("frames by", select("by", kinds)));
	if (about.modules.some((/** @type {any} */ row) => row.path === "[kernel]"))
		controls.push(labelled("kernel", select("kernel", [["show", "shown"], ["hide", "hidden"], ["only", "alone"]])));
	if (about.processes.length > 1)
		controls.push(labelled("process", select("process", [["", "all"], ...processesListed()])));
	if (about.threads.length > 1)
		controls.push(labelled("thread", select("thread", [["", "all"],
			...about.threads.map((/** @type {any} */ row, /** @type {number} */ i) => [`#${i + 1}`, `${shortened(row.name, 24)} ${row.tid}`])])));
	const chip = (/** @type {string} */ text, /** @type {any} */ changes) => element("button", { className: "chip",
		title: "remove this filter", onclick: () => choose(changes) }, [`${text} ×`]);
	if (choices.from || choices.to)
		controls.push(chip(`${timeText(Number(range().from))} to ${choices.to ? timeText(Number(range().to)) : "the end"}`, { from: "", to: "" }));
	if (choices.group && chosen() === views.functions)
		controls.push(chip(`group ${safe(choices.group)}`, { group: "" }));
	if (choices.label)
		controls.push(chip(safe(choices.label.replaceAll("\n", " ")), { label: "" }));
	const found = element("output");
	controls.push(labelled("search", element("input", { type: "search", value: choices.search, placeholder: "part of a name ( / )", "data-choice": "search",
		oninput: (/** @type {any} */ event) => search(event.target.value, found),
		onkeydown: (/** @type {KeyboardEvent} */ event) => {
			if (event.key === "Enter" && choices.search && !canSearch())
				choose({ view: "functions" });
		} })), found);
	return element("div", { className: "filters" }, controls);
}

/** Marks boxes and selects rows, and shows how many; "" shows all.
 *  @param {string} wanted @param {HTMLElement} found */
function search(wanted, found) {
	choose({ search: wanted }, true);
	showFound(wanted, found);
}

/** Whether the view has what a search can mark or select. */
function canSearch() {
	return flames.length + tables.length > 0;
}

/** @param {string} wanted @param {HTMLElement} found */
function showFound(wanted, found) {
	const notes = [...flames.map((flame) => flame.search(wanted)), ...tables.map((find) => find(wanted))];
	found.textContent = !wanted ? "" : canSearch() ? notes[0] : "Enter searches all functions: this view has no list to search.";
}

/** The chosen view, or the first one where the profile does not have it. */
function chosen() {
	return Object.hasOwn(views, choices.view) && views[choices.view].has() ? views[choices.view] : views.flame;
}

/** The tabs are one stop of the tab key; arrow keys lead from one to the next. */
function tabs() {
	const buttons = Object.entries(views).filter(([, view]) => view.has()).map(([name, view]) => element("button", {
		"aria-current": String(view === chosen()), "data-view": name, tabIndex: view === chosen() ? 0 : -1,
		onclick: () => choose({ view: name }) }, [view.title]));
	/** @type {Record<string, (at: number) => number>} */
	const steps = { ArrowRight: (at) => at + 1, ArrowLeft: (at) => at - 1, Home: () => 0, End: () => buttons.length - 1 };
	return element("nav", { className: "tabs", "aria-label": "views, arrow keys move", onkeydown: (/** @type {KeyboardEvent} */ event) => {
		const at = buttons.indexOf(/** @type {HTMLElement} */ (event.target)), to = steps[event.key]?.(at);
		if (to === undefined || !buttons[to])
			return;
		event.preventDefault();
		buttons[to].focus();
	} }, buttons);
}

/** The first stop of the tab key, which leads past tabs and filters. */
function skip() {
	return element("button", { className: "skip", onclick: () => {
		const main = /** @type {HTMLElement} */ (page.querySelector("main"));
		/** @type {HTMLElement} */ (main.querySelector("canvas, summary, .scroll") ?? main).focus();
	} }, [`go to: ${chosen().title}`]);
}

addEventListener("keydown", (event) => {
	const at = event.target instanceof HTMLElement ? event.target : null;
	if (event.ctrlKey || event.altKey || event.metaKey || at?.closest("input, select, textarea, dialog"))
		return;
	if (event.key === "/") {
		event.preventDefault();
		/** @type {HTMLElement | null} */ (page.querySelector("input[type=search]"))?.focus();
	} else if (event.key === "?") {
		showKeys();
	}
});

/** The control that has the focus, as a selector; "": another element of the page; null: none has it. */
function focusedChoice() {
	const focused = /** @type {HTMLElement | null} */ (document.activeElement);
	if (!focused || !page.contains(focused))
		return null;
	const kind = ["view", "choice"].find((kind) => focused.dataset[kind]);
	return kind ? `[data-${kind}="${focused.dataset[kind]}"]` : "";
}

/** The choices that were shown last. */
let shown = "", partShown = "";

function show() {
	const { search: searched, path, factor, zoom, node, span, line, part, ...rest } = choices; // these change what a view shows in place
	const wanted = JSON.stringify(rest);
	if (wanted === shown) {
		followZoom();
		if (part !== partShown)
			followPart();
		partShown = part;
		return;
	}
	shown = wanted;
	partShown = part;
	forgetFlames();
	forgetTables();
	let content;
	/** @type {HTMLElement[]} */
	let above = [];
	try {
		above = [...transformsShown(), ...(chosen() === views.compare ? [] : strip())];
		content = chosen().show();
	} catch (error) {
		content = element("p", { className: "failure", role: "alert" }, [safe(error instanceof Error ? error.message : String(error))]);
	}
	const focused = focusedChoice();
	page.replaceChildren(skip(), header(), tabs(), filters(), ...above, element("main", { tabIndex: -1 }, [content]));
	if (focused !== null)
		/** @type {HTMLElement | null} */ (page.querySelector(focused || "main"))?.focus({ preventScroll: true });
	const found = /** @type {HTMLElement | null} */ (page.querySelector("output"));
	if (choices.search && found)
		showFound(choices.search, found);
	document.body.dataset.ready = choices.view;
}

async function begin() {
	try {
		await start();
		await readSources();
		readInfos();
		onChange(show);
		show();
	} catch (error) {
		fail(error);
	}
}

addEventListener("error", (event) => {
	if (event.error)
		fail(event.error);
});
begin();
