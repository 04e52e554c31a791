// The colours of boxes.

import { element } from "./format.mjs";

/** Whether the page is dark now; paper is not. */
export function isDark() {
	return matchMedia("screen and (prefers-color-scheme: dark)").matches;
}

/** A colour that depends on the module and the name only, so that it is the same in each picture.
 *  @param {string} module @param {string} name @param {boolean} dark */
export function colourOf(module, name, dark) {
	let hash = 0;
	for (const text of [module, name])
		for (let i = 0; i < text.length; i++)
			hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
	let hue = 0;
	for (let i = 0; i < module.length; i++)
		hue = Math.imul(hue ^ module.charCodeAt(i), 0x85ebca6b) >>> 0;
	// Dark enough under light text, and light enough under dark text, for a contrast of 4.5 with every hue.
	const lightness = dark ? 20 + (hash % 9) : 68 + (hash % 12);
	return `hsl(${(module ? 20 + (hue % 200) : 0)}, ${module ? (dark ? 45 : 62) : 0}%, ${lightness}%)`;
}

/** @typedef {{back: string, text: string, edge: string, found: string, dark: boolean}} Styles */

/** The colours of the page now, read once for a picture.
 *  @param {Element} element @returns {Styles} */
export function styles(element) {
	const style = getComputedStyle(element);
	return {
		back: style.getPropertyValue("--back"), text: style.getPropertyValue("--text"), edge: style.getPropertyValue("--edge"), found: style.getPropertyValue("--found"),
		dark: isDark(),
	};
}

/** Colours of CSS as pixels of a canvas, which the canvas itself converts. */
export class Paints {
	/** @param {number} labels */
	constructor(labels) {
		/** @type {Map<string, number>} */
		this.pixels = new Map();
		this.labels = new Uint32Array(labels); // 0: not known
		this.dark = false;
		const canvas = /** @type {HTMLCanvasElement} */ (element("canvas", { width: 1, height: 1 }));
		this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
	}

	/** Forgets the colours of labels when the colour scheme has changed.
	 *  @param {boolean} dark */
	forget(dark) {
		if (dark !== this.dark)
			this.labels.fill(0);
		this.dark = dark;
	}

	/** @param {string} colour */
	of(colour) {
		let pixel = this.pixels.get(colour);
		if (pixel === undefined) {
			this.context.fillStyle = colour;
			this.context.fillRect(0, 0, 1, 1);
			pixel = new Uint32Array(this.context.getImageData(0, 0, 1, 1).data.buffer)[0];
			this.pixels.set(colour, pixel);
		}
		return pixel;
	}

	/** @param {number} label @param {() => string} colour */
	ofLabel(label, colour) {
		if (!this.labels[label])
			this.labels[label] = this.of(colour());
		return this.labels[label];
	}
}
