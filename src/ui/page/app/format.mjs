// Figures and names as people read them.

/** "67.1 % ±1.8".
 *  @param {number} fraction @param {number} [error] 0 or undefined: exact */
export function percent(fraction, error) {
	const text = `${(fraction * 100).toFixed(1)} %`;
	return error ? `${text} ±${(error * 100).toFixed(1)}` : text;
}

/** "12,345".
 *  @param {number} number */
export function count(number) {
	return number.toLocaleString("en");
}

/** Makes a text of a name safe to look at: control characters, characters that change the direction of text and those that XML forbids
 *  become escapes.
 *  @param {string} name */
export function safe(name) {
	return name.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]/g,
		(character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** Shortens a text that is not a function's name (Picture.short, shortName) in its middle; less than three letters are nothing.
 *  @param {string} name @param {number} most */
export function shortened(name, most) {
	const shown = safe(name);
	if (most < 3)
		return shown.length <= most ? shown : "";
	return shown.length <= most ? shown : `${shown.slice(0, Math.ceil(most * 0.6))}…${shown.slice(shown.length - Math.floor(most * 0.4) + 1)}`;
}

/** Makes an element. Texts are never read as markup.
 *  @param {string} tag
 *  @param {Record<string, any>} [properties] @param {(Node | string)[]} [children] */
export function element(tag, properties = {}, children = []) {
	const made = document.createElement(tag);
	for (const [key, value] of Object.entries(properties)) {
		if (key.startsWith("on"))
			made.addEventListener(key.slice(2), value);
		else if (key in made && key !== "role")
			/** @type {any} */ (made)[key] = value;
		else
			made.setAttribute(key, String(value));
	}
	made.append(...children);
	return made;
}

/** "1 sample", "12 samples".
 *  @param {number} number @param {string} name */
export function counted(number, name) {
	return `${count(number)} ${name}${number === 1 ? "" : "s"}`;
}

/** A sentence in place of a picture, or below one.
 *  @param {string} text */
export function nothing(text) {
	return element("p", { className: "note" }, [text]);
}

const LETTER = 6.6; // mean width of a letter at 11 px, to begin with

/** Shortens a name to a width in pixels; fonts differ too much for a number of letters. Less than three letters are nothing.
 *  @param {CanvasRenderingContext2D} context @param {(letters: number) => string} shorten @param {number} width */
export function fitted(context, shorten, width) {
	let letters = lettersIn(width);
	let text = letters < 3 ? "" : shorten(letters);
	for (let is = context.measureText(text).width; is > width && letters > 0; is = context.measureText(text).width) {
		letters = Math.min(letters - 1, Math.floor(letters * width / is));
		text = letters < 3 ? "" : shorten(letters);
	}
	return text;
}

/** About how many letters fit into a width in pixels.
 *  @param {number} width */
export function lettersIn(width) {
	return Math.floor(width / LETTER);
}

const CANVAS_MOST = 32000; // in the screen's pixels; larger canvases remain empty in some browsers

/** The largest height of a canvas in CSS pixels. */
export function canvasMost() {
	return Math.floor(CANVAS_MOST / (devicePixelRatio || 1));
}

/** The drawings in the page, each with its element.
 *  @type {Map<HTMLElement, () => void>} */
const drawings = new Map();

function drawAll() {
	for (const [element, draw] of drawings)
		if (element.isConnected)
			draw();
		else
			drawings.delete(element);
}

addEventListener("beforeprint", drawAll);
addEventListener("afterprint", drawAll);
for (const query of ["(prefers-color-scheme: dark)", "print"])
	matchMedia(query).addEventListener("change", drawAll);

/** Calls `draw` when an element gets its width, whenever that changes, and when the page's colours do: on paper, or in the dark.
 *  @param {HTMLElement} element @param {() => void} draw */
export function onWidth(element, draw) {
	let width = 0;
	for (const each of drawings.keys())
		if (!each.isConnected && each !== element)
			drawings.delete(each);
	new ResizeObserver(() => {
		drawings.set(element, draw);
		if (element.clientWidth === width)
			return; // its own drawing changed the height
		width = element.clientWidth;
		requestAnimationFrame(draw);
	}).observe(element);
}
