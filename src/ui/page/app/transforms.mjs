// Transforms of the call paths: the menu that adds one, and the line that shows them.

import { ask } from "./engine.mjs";
import { count, element, percent, safe, shortened } from "./format.mjs";
import { choices, choose, selection } from "./state.mjs";

/** The kinds, with their keys in a graph.
 *  @type {{kind: string, key: string, text: string, shown: string}[]} */
const KINDS = [
	{ kind: "focus", key: "f", text: "focus on this function", shown: "focus on" },
	{ kind: "path", key: "p", text: "focus on this path", shown: "focus on path" },
	{ kind: "drop", key: "d", text: "drop its samples", shown: "drop" },
	{ kind: "merge", key: "m", text: "merge it into its callers", shown: "merge" },
	{ kind: "above", key: "a", text: "drop what is above it", shown: "drop above" },
	{ kind: "collapse", key: "c", text: "collapse its recursion", shown: "collapse" },
];

/** @typedef {{name: string, path: string}} Target a function; path: as the transform "path" takes it, or "" */

/** The transforms of the page, as KIND=FUNCTION. */
function list() {
	return choices.transform ? choices.transform.split("\n") : [];
}

/** Transforms are of functions. */
export function canTransform() {
	return choices.by === "function" || choices.by === "line";
}

/** Adds a transform.
 *  @param {string} kind @param {Target} target */
function add(kind, target) {
	choose({ transform: [...list(), `${kind}=${kind === "path" ? target.path : target.name}`].join("\n"), path: "", part: "" });
}

/** Adds the transform of a key. Returns whether there is one.
 *  @param {string} key @param {Target} target */
export function transformByKey(key, target) {
	const row = KINDS.find((row) => row.key === key && (row.kind !== "path" || target.path !== ""));
	if (!row)
		return false;
	add(row.kind, target);
	return true;
}

/** A choice of the transforms of a function, which needs no pointer.
 *  @param {Target} target */
export function transformSelect(target) {
	const control = /** @type {HTMLSelectElement} */ (element("select", { "aria-label": "transform", "data-choice": "transform",
		onchange: () => add(control.value, target) }, [element("option", { value: "", selected: true }, ["transform…"]),
		...KINDS.filter((row) => row.kind !== "path").map((row) => element("option", { value: row.kind }, [row.text]))]));
	return control;
}

/** Opens the menu of a function at a place of the window. Escape closes it, arrow keys move in it.
 *  @param {Target} target @param {number} x @param {number} y */
export function openMenu(target, x, y) {
	const before = /** @type {HTMLElement | null} */ (document.activeElement);
	const menu = /** @type {HTMLDialogElement} */ (element("dialog", { className: "menu", "aria-label": `transform ${safe(target.name)}`,
		onclose: () => {
			menu.remove();
			if (before?.isConnected)
				before.focus();
		},
		onclick: (/** @type {MouseEvent} */ event) => event.target === menu && menu.close(),
		onkeydown: (/** @type {KeyboardEvent} */ event) => step(menu, event) }, [
		element("strong", {}, [shortened(target.name, 60)]),
		...KINDS.filter((row) => row.kind !== "path" || target.path !== "").map((row) => element("button", { className: "link",
			onclick: () => {
				menu.close();
				add(row.kind, target);
			} }, [row.text, element("span", { className: "note" }, [`  ${row.key}`])]))]));
	document.body.append(menu);
	menu.showModal();
	const { width, height } = menu.getBoundingClientRect();
	menu.style.left = `${Math.max(Math.min(x, innerWidth - width), 0)}px`;
	menu.style.top = `${Math.max(Math.min(y, innerHeight - height), 0)}px`;
}

/** Lets a right click on an element open the menu of a function.
 *  @param {HTMLElement} shown @param {() => Target} target */
export function withMenu(shown, target) {
	shown.addEventListener("contextmenu", (event) => {
		if (!canTransform())
			return;
		event.preventDefault();
		openMenu(target(), event.clientX, event.clientY);
	});
	return shown;
}

/** Moves the focus in a menu, or acts as the key of a row.
 *  @param {HTMLElement} menu @param {KeyboardEvent} event */
function step(menu, event) {
	const rows = [...menu.querySelectorAll("button")], at = rows.findIndex((row) => row === document.activeElement);
	const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
	if (by) {
		event.preventDefault();
		rows[(at + by + rows.length) % rows.length].focus();
	} else if (event.key.length === 1) {
		rows.find((row) => row.textContent?.endsWith(`  ${event.key}`))?.click();
	}
}

/** "480 of 512 hits (93.8 %)": what the transforms left of the selection. */
function leftText() {
	const hits = (/** @type {any} */ changes) =>
		ask({ ...selection(), report: "functions", threshold: "0", limit: 1, ...changes }).results[0].total_hits;
	try {
		const all = hits({ transform: null }), left = hits({});
		return `${count(left)} of ${count(all)} hits (${percent(all ? left / all : 0)})`;
	} catch {
		return ""; // the view shows the reason
	}
}

/** The line with the transforms of the page, each with a button that removes it; none if there are none.
 *  @returns {HTMLElement[]} */
export function transformsShown() {
	const all = list();
	if (!all.length)
		return [];
	const chips = all.map((text, i) => {
		const at = text.indexOf("="), row = KINDS.find((each) => each.kind === text.slice(0, at));
		return element("button", { className: "chip", title: `remove ${safe(text)}`,
			onclick: () => choose({ transform: all.toSpliced(i, 1).join("\n"), path: "", part: "" }) },
		[`${row?.shown ?? safe(text.slice(0, at))} ${shortened(text.slice(at + 1), 50)} ×`]);
	});
	return [element("div", { className: "filters transforms", role: "group", "aria-label": "transforms of the call paths" }, [
		"Transformed:", ...chips, element("output", { className: "note" }, [leftText()])])];
}
