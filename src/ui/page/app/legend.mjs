// What the colours of a flame graph mean.

import { ask } from "./engine.mjs";
import { colourOf, isDark } from "./colours.mjs";
import { element, onWidth, percent, safe, shortened } from "./format.mjs";
import { choose, info, selection } from "./state.mjs";

const MODULES = 8; // that are named

/** A square of a colour, with a text. The colour is read again when the colours of the page change.
 *  @param {HTMLElement} legend @param {() => string} colour @param {(Node | string)[]} text */
function entry(legend, colour, text) {
	const square = element("span", { className: "swatch" });
	legend.append(element("span", { className: "legend-entry" }, [square, ...text]));
	return () => {
		square.style.background = colour();
	};
}

/** @param {(legend: HTMLElement) => (() => void)[]} fill */
function legendOf(fill) {
	const legend = element("div", { className: "legend", role: "group", "aria-label": "colours" });
	const paints = fill(legend);
	onWidth(legend, () => paints.forEach((paint) => paint()));
	return legend;
}

/** The path of a module; "": code of no module. Reports name modules by the last components of their paths where these are distinct.
 *  @param {string} name */
function pathOf(name) {
	return info().modules.find((/** @type {any} */ module) => module.path === name || module.path.endsWith(`/${name}`))?.path ?? "";
}

/** The modules with the most hits of their own, each with its colour. */
export function moduleLegend() {
	const { entries } = ask({ ...selection(), by: "module", report: "body", threshold: "0", limit: 0 }).results[0];
	return legendOf((legend) => {
		legend.append(element("span", { className: "note" }, ["A colour is a module, its shades are functions: "]));
		const paints = entries.slice(0, MODULES).map((/** @type {any} */ row) => {
			const path = pathOf(row.path[0]);
			return entry(legend, () => colourOf(path, "", isDark()), [element("span", { title: safe(path || row.path[0]) }, [shortened(row.path[0], 32)]),
				element("span", { className: "note" }, [` ${percent(row.fraction)}`])]);
		});
		if (entries.length > MODULES)
			legend.append(element("button", { className: "link", onclick: () => choose({ view: "modules" }) }, [`${entries.length - MODULES} more`]));
		return paints;
	});
}

/** The colours of a second resource or of a comparison: fixed ones.
 *  @param {[colour: (dark: boolean) => string, text: string][]} rows */
export function fixedLegend(rows) {
	return legendOf((legend) => rows.map(([colour, text]) => entry(legend, () => colour(isDark()), [text])));
}
