// The first view: the first report of `cpprof report`, as rows that lead to the other views.

import { amount, ask, nameFunctions, shortName } from "./engine.mjs";
import { count, counted, element, nothing, percent, safe } from "./format.mjs";
import { choices, choose, info, laneKey, resource, selectedSeconds, selection, toggledLabel } from "./state.mjs";
import { lineText } from "./source.mjs";
import { bar } from "./tables.mjs";

const ROWS = 8; // of each kind
const FINDINGS = 3;
const KEYS = 3; // of labels

/** @typedef {import("./state.mjs").Choices} Choices */

/** A link to another view.
 *  @param {string} text @param {Partial<Choices>} changes @param {string} [title] */
function link(text, changes, title = text) {
	return element("button", { className: "link", title: safe(title), onclick: () => choose(changes) }, [safe(text)]);
}

/** @param {string} name @param {number} [columns] */
function callers(name, columns = 70) {
	return link(shortName(name, columns), { view: "sandwich", root: name }, name);
}

/** A part of the report: a title, and rows with their share and amount.
 *  @param {string} title @param {any[]} rows @param {(row: any, index: number) => (Node | string)[]} cells what stands behind the figures of a row */
function part(title, rows, cells) {
	const { unit, interval } = resource();
	return rows.length ? [element("table", { className: "part" }, [element("caption", {}, [element("h2", {}, [title])]), element("tbody", {}, rows.map((row, index) => element("tr", {}, [
			element("td", { className: "number" }, [row.fraction ? bar(row.fraction, row.error) : ""]),
			element("td", { className: "number" }, [row.fraction ? amount(row.hits * interval, unit) : ""]),
			element("th", { className: "name", scope: "row" }, cells(row, index))])))])] : [];
}

/** "34.0 % in malloc", as a link.
 *  @param {any} row @param {string} word @param {number} total */
function beside(row, word, total) {
	return row.other ? [element("span", { className: "note" }, [`   ${percent(row.other_hits / total)} ${word} `]), callers(row.other, 50)] : [];
}

/** @param {any} row @param {number} depth */
function pathRow(row, depth) {
	const name = row.function ? link(shortName(row.function, 60), { view: "flame", by: "function", shape: "stacks", node: String(row.node) }, row.function)
		: element("span", { className: "note" }, [`… ${counted(row.frames, "frame")}`]);
	const more = row.times > 1 ? [element("span", { className: "note" }, [`, ${row.frames > 1 ? `a cycle of ${row.frames} functions, ` : ""}${count(row.times)} times`])] : [];
	const cell = element("div", {}, [name, ...more]);
	cell.style.paddingLeft = `min(${depth * 14}px, 50%)`;
	return [cell];
}

/** @param {any} row */
function lineRow(row) {
	const name = row.file.slice(row.file.lastIndexOf("/") + 1);
	return [element("span", { className: "excerpt" }, [
		link(`${name}:${row.line}`, { view: "source", root: "", line: `${row.file}:${row.line}` }, `${row.file}:${row.line}`), " ",
		element("code", {}, [lineText(row.file, row.line)])])];
}

/** @param {any} row */
function processRow(row) {
	if (row.processes > 1)
		return [link(safe(row.process), { view: "processes" }), element("span", { className: "note" }, [` (${counted(row.processes, "process").replace(/processs$/, "processes")})`])];
	const index = info().processes.findIndex((/** @type {any} */ each) => each.pid === row.pid && each.name === row.process);
	return [index < 0 ? safe(row.process) : link(row.process, { view: "flame", process: `#${index + 1}` }), element("span", { className: "note" }, [row.pid ? ` (${row.pid})` : ""])];
}

/** The parts with the values of the labels that have several: of a store's page, its services and hosts.
 *  @param {number} total the selected hits */
function valueParts(total) {
	const first = ["service", "host"], keys = info().labels.filter((/** @type {any} */ row) => row.values > 1).map((/** @type {any} */ row) => row.key);
	const ordered = [...first.filter((key) => keys.includes(key)), ...keys.filter((/** @type {string} */ key) => !first.includes(key))].slice(0, KEYS);
	return ordered.flatMap((key) => {
		const { entries, left_out: left } = ask({ ...selection(), by: null, report: "by-label", key, threshold: "0", limit: ROWS }).results[0];
		const rest = entries.reduce((/** @type {number} */ sum, /** @type {any} */ row) => sum - row.hits, total);
		const more = { labels: null, hits: rest, fraction: rest / total, error: 0 };
		return part(`By ${safe(key)}`, left ? [...entries, more] : entries, (row) => [!row.labels ? link(`${counted(left, "other")}`, { view: "labels", lanes: key })
			: key in row.labels ? link(row.labels[key], toggledLabel(key, row.labels[key])) : element("span", { className: "note" }, ["(none)"])]);
	});
}

/** The view that a proposed command has here; null: it has none, and is for the shell.
 *  @param {any} row @returns {Partial<Choices> | null} */
function viewOf(row) {
	const [, report, name] = row.command.match(/^cpprof (?:report )?(--up|--source|-r|info)(?: (\S+))?/) ?? [];
	if (report === "-r")
		return { view: "flame", resource: name };
	return report === "--up" ? { view: "sandwich", root: row.function } : report === "--source" ? { view: "source", root: row.function }
		: report === "info" ? { view: "findings" } : null;
}

/** The next steps: the proposals of the report that the page can show, each with its reason, and those for the shell.
 *  @param {any[]} rows */
function next(rows) {
	const items = rows.filter((row) => !/^cpprof (browse|html)\b/.test(row.command)).map((row) => {
		const changes = viewOf(row);
		const target = row.function ? shortName(row.function, 50) : "";
		/** @type {Record<string, string>} */
		const titles = { sandwich: `callers and callees of ${target}`, source: `source of ${target}`, findings: "findings", flame: `flame graph of ${changes?.resource}` };
		return element("li", {}, changes ? [link(titles[changes.view ?? ""], changes, row.function || row.command), element("span", { className: "note" }, [`   ${safe(row.why)}`])]
			: [row.command ? element("code", {}, [safe(row.command)]) : "", element("span", { className: row.command ? "note" : "" }, [` ${safe(row.why)}`])]);
	});
	items.push(element("li", {}, [link("flame graph of all of it", { view: "flame" })]));
	return element("div", {}, [element("h2", {}, ["Next"]), element("ul", { className: "next" }, items)]);
}

/** The findings that matter most.
 *  @param {any[]} findings */
function warnings(findings) {
	const shown = findings.filter((finding) => finding.severity !== "note").slice(0, FINDINGS);
	const left = findings.length - shown.length;
	return shown.length ? [...shown.map((finding) => element("div", { className: `finding ${finding.severity}` }, [element("strong", {}, [safe(finding.severity)]), " ", safe(finding.text)])),
		...(left ? [element("p", {}, [link(`${counted(left, "more finding")}`, { view: "findings" })])] : [])] : [];
}

/** The other recorded resources with their totals, each as a link that chooses it.
 *  @param {number} selected the selected hits */
function others(selected) {
	const all = info().resources, { name: shown, hits } = resource();
	const isCompanion = (/** @type {any} */ row) => all.some((/** @type {any} */ of) => [`${of.name}-raw`, `${of.name}-error`].includes(row.name));
	const links = all.filter((/** @type {any} */ row) => row.hits > 0 && row.name !== shown && !isCompanion(row))
		.flatMap((/** @type {any} */ row) => [", ", link(`${row.title} ${amount(row.hits * row.interval, row.unit)}`, { resource: row.name })]).slice(1);
	return links.length ? [element("p", { className: "others" }, [selected === hits ? "also recorded: " : "also recorded, in all of the recording: ", ...links])] : [];
}

/** The rows of the first report. */
function summary() {
	const answer = ask({ ...selection(), by: null, report: "summary", limit: ROWS }).results[0];
	const rows = (/** @type {string} */ kind) => answer.entries.filter((/** @type {any} */ row) => row.entry === kind);
	return { answer, rows };
}

/** @param {any[]} findings of the recorder and of the page */
export function showSummary(findings) {
	const { answer, rows } = summary();
	const total = answer.total_hits, seconds = selectedSeconds();
	if (!total)
		return element("section", {}, [nothing("No hits are selected."), ...others(total), ...warnings(findings)]);
	nameFunctions({ ...selection(), by: "function" });
	const own = rows("own"), path = rows("path");
	const lead = amount(total * answer.interval, answer.unit) + (seconds ? ` in ${amount(seconds * 1e9, "ns")}` : "");
	return element("section", { className: "summary" }, [
		element("p", { className: "big" }, [`${safe(answer.title)}: ${lead}`]),
		...others(total), ...warnings(findings),
		element("div", { className: "parts" }, [
			...(laneKey() ? valueParts(total) : []),
			...part("Hottest in the program's own code, with what it calls in libraries", own, (row) => [callers(row.function), ...beside(row, "in", total)]),
			...part(`Hottest functions, by their own use${rows("waits").length ? " and waits" : ""}`, rows("body"), (row) => [callers(row.function), ...(own.length ? beside(row, "from", total) : [])]),
			...part("The hot path", [...path, ...rows("branch")], (row, index) => pathRow(row, Math.min(index, path.length))),
			...part(own.length ? "Hot lines of the program's own code, with what they call in libraries" : "Hot lines", rows("line"), lineRow),
			...part("In the kernel, by the function that entered it, and where most of it is", rows("kernel"), (row) =>
				[...(row.function ? [callers(row.function, 50)] : []), ...(row.function && row.other ? [": "] : []), ...(row.other ? [callers(row.other, 50)] : [])]),
			...(laneKey() ? [] : valueParts(total)),
			...part("Processes", rows("process").slice(0, ROWS), processRow),
			next(rows("next")),
		]),
	]);
}
