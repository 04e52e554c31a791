// The legend of the colours of a flame graph.

import { colourOf, isDark } from "./colours.mjs";
import { element, onWidth, percent, safe, shortened } from "./format.mjs";
import { choose, info } from "./state.mjs";

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

/** The modules whose boxes have most of a picture, each with its colour and the share of the hits that end in it.
 *  @param {import("./engine.mjs").Picture} picture */
export function moduleLegend(picture) {
	const paths = info().modules.map((/** @type {any} */ module) => module.path);
	const nameOf = (/** @type {string} */ path) => path.slice(path.lastIndexOf("/") + 1);
	const names = paths.map(nameOf);
	const rows = picture.moduleAreas(paths.length).map((areas, i) => ({ ...areas, path: paths[i] ?? "",
		name: i === paths.length ? "[no module]" : names.indexOf(names[i]) === names.lastIndexOf(names[i]) ? names[i] : paths[i] }))
		.filter((row) => row.area > 0).sort((a, b) => b.area - a.area || (a.name < b.name ? -1 : 1));
	return legendOf((legend) => {
		legend.append(element("span", { className: "note" }, ["A colour is a module, its shades are functions: "]));
		const paints = rows.slice(0, MODULES).map((row) => entry(legend, () => colourOf(row.path, "", isDark()), [
			element("span", { title: safe(row.path) }, [shortened(row.name, 32)]), element("span", { className: "note" }, [` own ${percent(row.own / picture.total)}`])]));
		if (rows.length > MODULES)
			legend.append(element("button", { className: "link", onclick: () => choose({ view: "modules" }) }, [`${rows.length - MODULES} more`]));
		return paints;
	});
}

/** The colours of a second resource or of a comparison: fixed ones.
 *  @param {[colour: (dark: boolean) => string, text: string][]} rows */
export function fixedLegend(rows) {
	return legendOf((legend) => rows.map(([colour, text]) => entry(legend, () => colour(isDark()), [text])));
}
