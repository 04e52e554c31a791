// A flame graph as an SVG file, in the colours that the page shows.

import { styles } from "./colours.mjs";
import { CUT, ROW, describe, sideMark } from "./flame.mjs";
import { element } from "./format.mjs";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1200;
const NAME_WIDTH = 24;

/** @typedef {import("./flame.mjs").Flame} Flame */

/** @param {Element} parent @param {string} tag @param {Record<string, string | number>} attributes @param {string} [text] */
function add(parent, tag, attributes, text = "") {
	const made = document.createElementNS(SVG, tag);
	for (const [key, value] of Object.entries(attributes))
		made.setAttribute(key, String(value));
	made.textContent = text;
	parent.append(made);
	return made;
}

/** @param {Flame} flame @returns {string} */
export function svgOf(flame) {
	const { picture } = flame;
	const boxes = picture.boxes(flame.node, Math.floor(flame.from), Math.ceil(flame.to), flame.span / WIDTH / 2);
	const all = boxes.all();
	const height = (all.reduce((most, box) => Math.max(most, box.depth), 0) + 1) * ROW;
	const style = styles(flame.element);
	const root = document.createElementNS(SVG, "svg");
	for (const [key, value] of Object.entries({ viewBox: `0 0 ${WIDTH} ${height + (boxes.areCut ? ROW : 0)}`, "font-family": "sans-serif", "font-size": "11", fill: style.text }))
		root.setAttribute(key, value);
	add(root, "rect", { width: WIDTH, height, fill: style.back });
	if (boxes.areCut)
		add(root, "text", { x: 4, y: height + 13 }, CUT);
	for (const box of all) {
		const { left, right, top } = flame.placeOf(box, WIDTH, height);
		const group = add(root, "g", {});
		add(group, "title", {}, describe(picture, box));
		add(group, "rect", { x: left.toFixed(2), y: top, width: Math.max(right - left - 0.5, 0.5).toFixed(2), height: ROW - 1,
			fill: flame.colour(box, style) });
		if (right - left >= NAME_WIDTH)
			add(group, "text", { x: (left + 4).toFixed(2), y: top + 13 },
				(picture.compares && !box.joined ? sideMark(box) : "") + flame.shortName(box, right - left - 6));
	}
	return new XMLSerializer().serializeToString(root);
}

/** A button that saves a flame graph.
 *  @param {() => Flame} flame */
export function svgButton(flame) {
	return element("button", { onclick: () => {
		const blob = new Blob([svgOf(flame())], { type: "image/svg+xml" });
		const link = /** @type {HTMLAnchorElement} */ (element("a", { href: URL.createObjectURL(blob), download: "flame.svg" }));
		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 1000);
	} }, ["save as SVG"]);
}
