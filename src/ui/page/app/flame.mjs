// The flame graph: boxes on a canvas. The engine finds the boxes that are at least half a pixel wide, and joins narrower boxes.

import { BOX_CHANGED, BOX_DOUBLES, BOX_FIRST, BOX_MARKED, BOX_NUMBERS, NO_LABEL, Picture, amount } from "./engine.mjs";
import { Paints, colourOf, styles } from "./colours.mjs";
import { canvasMost, count, counted, element, fitted, lettersIn, onWidth, percent, safe, shortened } from "./format.mjs";
import { choices, choose, hasSamples, resource } from "./state.mjs";
import { canTransform, openMenu, transformByKey } from "./transforms.mjs";

/** @typedef {import("./engine.mjs").Box} Box */
/** @typedef {import("./engine.mjs").Boxes} Boxes */
/** @typedef {import("./colours.mjs").Styles} Styles */

export const ROW = 18;
const DEPTHS_MORE = 8; // levels below the window that are drawn
const NAME_WIDTH = 24; // in pixels: narrower boxes have no names
const FITTED_MOST = 20000;
const LINK_DELAY = 200; // ms from the last turn of the wheel to the change of the link
export const CUT = "Deeper levels do not fit into the picture: click a box to see those below it.";
const CRUMBS = 6; // of the innermost boxes, each by itself
const HINT = "Point at a box, or move with the arrow keys, to see its figures. ";

/** A flame graph in an element. */
export class Flame {
	/** @param {{slot: number, request: Record<string, any>, upwards?: boolean, onPick?: (picture: Picture, box: Box) => void,
	 *  label: string, click?: string, otherName?: string, node?: number, span?: string, onZoom?: (node: number, span: string) => void}} options
	 *  click: what a click does; otherName: of the second resource or profile; node: the box that fills the width; span: the part of it that does, as "FROM-TO" in hits */
	constructor(options) {
		this.options = options;
		this.hint = HINT + (options.click ?? "A click zooms.");
		this.picture = new Picture(options.slot, options.request);
		this.picture.otherName = options.otherName ?? "";
		this.node = 0;
		this.from = 0;
		this.to = 1;
		this.place(options.node ?? 0, options.span ?? "");
		this.turned = 0; // the timer of the link
		/** @type {Boxes} */
		this.boxes = this.picture.boxes(0, 0, 0, 1, 1);
		/** @type {number} */
		this.focused = -1;
		this.wanted = 0;
		this.onScroll = () => this.scrolled();
		addEventListener("scroll", this.onScroll, { passive: true });
		this.paints = new Paints(this.picture.labelCount);
		/** @type {ImageData | null} */
		this.image = null;
		/** @type {Map<number, string>} */
		this.fitted = new Map();
		this.canvas = /** @type {HTMLCanvasElement} */ (element("canvas", {
			tabIndex: 0, role: "application",
			"aria-label": `${options.label}. Arrow keys move, Enter zooms, Escape zooms out.`,
			onclick: (/** @type {MouseEvent} */ event) => this.click(event),
			onmousemove: (/** @type {MouseEvent} */ event) => this.hover(event),
			onmouseleave: () => this.point(-1),
			oncontextmenu: (/** @type {MouseEvent} */ event) => this.menu(event),
			onwheel: (/** @type {WheelEvent} */ event) => this.wheel(event),
			onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
		}));
		this.text = element("div", { className: "box-text", role: "status", "aria-live": "polite" }, [this.hint]);
		this.outline = element("div", { className: "outline", hidden: true });
		this.tip = element("div", { className: "tip", hidden: true, "aria-hidden": "true" });
		this.note = element("p", { className: "note", hidden: true }, [CUT]);
		this.crumbs = element("nav", { className: "crumbs", "aria-label": "zoomed path" });
		this.element = element("div", { className: "flame" }, [this.crumbs,
			element("div", { className: "boxes" }, [this.canvas, this.outline, this.tip]), this.note, this.text]);
		onWidth(this.element, () => this.draw());
	}

	/** Lets a box fill the width, or a part of it.
	 *  @param {number} node @param {string} span "FROM-TO" in hits; "": all of the box */
	place(node, span) {
		this.node = this.picture.box(node) ? node : 0;
		this.from = 0;
		this.to = this.picture.box(this.node)?.weight || 1;
		const [from, to] = span.split("-").map(Number);
		if (from >= 0 && to > from && to <= this.to)
			[this.from, this.to] = [from, to];
		this.focused = -1;
	}

	/** Shows what a link has, after the person went back.
	 *  @param {number} node @param {string} span */
	follow(node, span) {
		if (node === this.node && span === this.spanText())
			return;
		this.place(node, span);
		this.draw();
	}

	/** The part of the box that fills the width, as the link has it. */
	spanText() {
		const isWhole = this.span >= (this.picture.box(this.node)?.weight || 1);
		return isWhole ? "" : `${this.from.toFixed(3)}-${this.to.toFixed(3)}`;
	}

	/** Zooms to a box, or to a part of it.
	 *  @param {number} node @param {string} [span] */
	zoom(node, span = "") {
		if (!this.picture.box(node))
			return;
		this.place(node, span);
		clearTimeout(this.turned);
		this.options.onZoom?.(this.node, this.spanText());
		this.draw();
	}

	/** Zooms out: to all of the box, then to the box above. */
	zoomOut() {
		this.zoom(this.spanText() ? this.node : Math.max(this.picture.parent(this.node), 0));
	}

	/** Writes the part that fills the width into the link once the wheel rests: browsers refuse hundreds of changes of a link. */
	keepSpan() {
		clearTimeout(this.turned);
		this.turned = setTimeout(() => {
			if (this.element.isConnected)
				this.options.onZoom?.(this.node, this.spanText());
		}, LINK_DELAY);
	}

	/** The width of the canvas in hits. */
	get span() {
		return this.to - this.from;
	}

	draw() {
		const width = this.element.clientWidth;
		if (!width)
			return;
		this.boxes = this.picture.boxes(this.node, Math.floor(this.from), Math.ceil(this.to), this.span / width / 2,
			this.depthsWanted());
		const height = Math.min(this.depths(), rowsMost()) * ROW;
		this.note.hidden = this.depths() <= rowsMost() && !this.boxes.areCut;
		this.point(-1);
		const scale = devicePixelRatio || 1;
		if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
			this.canvas.width = Math.round(width * scale);
			this.canvas.height = Math.round(height * scale);
			this.canvas.style.height = `${height}px`;
		}
		const context = this.canvas.getContext("2d", { alpha: false });
		if (!context)
			return;
		const style = styles(this.element);
		this.paintBoxes(context, scale, style);
		context.setTransform(scale, 0, 0, scale, 0, 0);
		this.paintNames(context, width, height, style);
		this.showCrumbs();
	}

	/** The number of levels to draw: as many as the window shows, and some more. Scrolling draws further levels. */
	depthsWanted() {
		if (this.options.upwards || matchMedia("print").matches)
			return rowsMost();
		const seen = Math.ceil((innerHeight - this.canvas.getBoundingClientRect().top) / ROW);
		this.wanted = Math.max(this.wanted, seen + DEPTHS_MORE, DEPTHS_MORE);
		return Math.min(this.wanted, rowsMost());
	}

	/** Draws further levels if the window shows the last levels. */
	scrolled() {
		if (!this.element.isConnected)
			removeEventListener("scroll", this.onScroll);
		else if (this.depths() > this.wanted && this.canvas.getBoundingClientRect().bottom < innerHeight + DEPTHS_MORE / 2 * ROW)
			this.draw();
	}

	/** The number of levels in the picture. */
	depths() {
		const { numbers, count } = this.boxes;
		let most = 0;
		for (let i = 0, n = BOX_FIRST + 2; i < count; i++, n += BOX_NUMBERS)
			most = Math.max(most, numbers[n]);
		return most + 1;
	}

	/** @param {Box} box @param {number} width @param {number} height */
	placeOf(box, width, height) {
		const left = (box.start - this.from) / this.span * width;
		const right = (box.start + box.weight - this.from) / this.span * width;
		const top = this.options.upwards ? height - (box.depth + 1) * ROW : box.depth * ROW;
		return { left: Math.max(left, 0), right: Math.min(right, width), top };
	}

	/** Paints all boxes as pixels: there can be tens of thousands, for which calls of the canvas would take longer than a frame.
	 *  @param {CanvasRenderingContext2D} context @param {number} scale @param {Styles} style */
	paintBoxes(context, scale, style) {
		const width = this.canvas.width, height = this.canvas.height;
		if (this.image?.width !== width || this.image.height !== height)
			this.image = context.createImageData(width, height);
		const pixels = new Uint32Array(this.image.data.buffer);
		const row = ROW * scale, filled = Math.max(Math.round((ROW - 1) * scale), 1);
		const { doubles, numbers, count } = this.boxes;
		const factor = width / this.span, from = this.from, upwards = this.options.upwards;
		/** @type {Set<number>} */
		const tops = new Set();
		this.paints.forget(style.dark);
		pixels.fill(this.paints.of(style.back));
		for (let i = 0, d = 0, n = BOX_FIRST; i < count; i++, d += BOX_DOUBLES, n += BOX_NUMBERS) {
			const depth = numbers[n + 2];
			const left = Math.max(Math.round((doubles[d] - from) * factor), 0);
			const end = Math.min(Math.round((doubles[d] + doubles[d + 1] - from) * factor), width);
			const right = end - left > 2 ? end - 1 : Math.max(end, left + 1); // wide boxes leave a line between each other
			const top = Math.round(upwards ? height - (depth + 1) * row : depth * row);
			if (top < 0 || top + filled > height)
				continue;
			const start = top * width, colour = this.paint(i, numbers[n + 1], numbers[n + 3], style);
			if (right - left > 8)
				pixels.fill(colour, start + left, start + right);
			else
				for (let x = start + left; x < start + right; x++)
					pixels[x] = colour;
			tops.add(top);
		}
		// The other lines of a row are copies of its first one.
		for (const top of tops)
			for (let copied = 1; copied < filled; copied *= 2)
				pixels.copyWithin((top + copied) * width, top * width, (top + Math.min(copied, filled - copied)) * width);
		context.putImageData(this.image, 0, 0);
	}

	/** @param {CanvasRenderingContext2D} context @param {number} width @param {number} height @param {Styles} style */
	paintNames(context, width, height, style) {
		context.font = "11px system-ui, sans-serif";
		context.textBaseline = "middle";
		context.fillStyle = style.text;
		const { doubles, count } = this.boxes;
		const least = NAME_WIDTH / width * this.span;
		for (let i = 0, d = 1; i < count; i++, d += BOX_DOUBLES) {
			if (doubles[d] < least && i !== this.focused)
				continue;
			const box = /** @type {Box} */ (this.boxes.get(i));
			const { left, right, top } = this.placeOf(box, width, height);
			if (i === this.focused) {
				context.strokeStyle = style.text;
				context.lineWidth = 2;
				context.strokeRect(left + 1, top + 1, Math.max(right - left - 2.5, 0.5), ROW - 3);
			}
			if (right - left >= NAME_WIDTH)
				context.fillText(this.fit(context, box, right - left - 6), left + 4, top + ROW / 2, right - left - 5);
		}
	}

	/** The name of a box, as it was shortened to this width before, or now.
	 *  @param {CanvasRenderingContext2D} context @param {Box} box @param {number} width */
	fit(context, box, width) {
		if (box.joined)
			return fitted(context, (letters) => shortened(nameOf(this.picture, box), letters), width);
		const mark = this.picture.compares ? sideMark(box) : "";
		if (mark)
			return mark + fitted(context, (letters) => safe(this.picture.short(box.label, letters)), width - context.measureText(mark).width);
		const key = box.label * 4096 + Math.min(Math.floor(width), 4095);
		let text = this.fitted.get(key);
		if (text === undefined) {
			if (this.fitted.size > FITTED_MOST)
				this.fitted.clear();
			text = fitted(context, (letters) => safe(this.picture.short(box.label, letters)), width);
			this.fitted.set(key, text);
		}
		return text;
	}

	/** The name of a box for a width, without a canvas.
	 *  @param {Box} box @param {number} width */
	shortName(box, width) {
		const letters = lettersIn(width);
		return box.joined ? shortened(nameOf(this.picture, box), letters) : safe(this.picture.short(box.label, letters));
	}

	/** The colour of a box as a pixel.
	 *  @param {number} index @param {number} label @param {number} flags @param {Styles} style */
	paint(index, label, flags, style) {
		const special = this.special(label, flags, () => /** @type {Box} */ (this.boxes.get(index)), style);
		return special ? this.paints.of(special) : this.paints.ofLabel(label, () => this.ownColour(label, style));
	}

	/** The colour of a box that does not have the colour of its label, or "".
	 *  @param {number} label @param {number} flags @param {() => Box} box @param {Styles} style */
	special(label, flags, box, style) {
		if (choices.search !== "")
			return flags & BOX_MARKED ? style.found : style.edge;
		if (label === NO_LABEL)
			return style.edge;
		if (this.picture.compares)
			return flags & BOX_CHANGED ? this.changeColour(box(), style) : style.edge;
		return this.picture.otherTotal ? this.ratioColour(box(), style) : "";
	}

	/** @param {number} label @param {Styles} style */
	ownColour(label, style) {
		return colourOf(this.picture.module(label), this.picture.name(label), style.dark);
	}

	/** The colour of a box as CSS.
	 *  @param {Box} box @param {Styles} style */
	colour(box, style) {
		return this.special(box.label, (box.marked ? BOX_MARKED : 0) | (box.changed ? BOX_CHANGED : 0), () => box, style) ||
			this.ownColour(box.label, style);
	}

	/** The colour of a change that is larger than chance: red where B has more and green where A has more; as strong as can be for what
	 *  one of them does not have.
	 *  @param {Box} box @param {Styles} style */
	changeColour(box, style) {
		const change = box.other - box.first;
		const strength = sideMark(box) ? 28 : Math.min(Math.abs(change) / this.picture.total * 300, 28);
		return `hsl(${change > 0 ? 5 : 145}, 65%, ${style.dark ? 18 + strength / 3 : 86 - strength}%)`;
	}

	/** From blue, where the box has none of the other resource, over grey, where it has as large a share of it, to red.
	 *  @param {Box} box @param {Styles} style */
	ratioColour(box, style) {
		const share = box.weight / this.picture.total, other = box.other / this.picture.otherTotal;
		return ratioColour(other / (share + other), style.dark);
	}

	/** The index of the box at a position, or -1.
	 *  @param {MouseEvent} event */
	at(event) {
		const bounds = this.canvas.getBoundingClientRect();
		const x = event.clientX - bounds.left, y = event.clientY - bounds.top;
		const depth = Math.floor((this.options.upwards ? bounds.height - y : y) / ROW);
		const hits = this.from + x / bounds.width * this.span;
		const { doubles, numbers, count } = this.boxes;
		for (let i = 0, d = 0, n = BOX_FIRST; i < count; i++, d += BOX_DOUBLES, n += BOX_NUMBERS)
			if (numbers[n + 2] === depth && doubles[d] <= hits && doubles[d] + doubles[d + 1] > hits)
				return i;
		return -1;
	}

	/** The index of the first box that fits, or -1; with `from`, of the last one before that index.
	 *  @param {(box: Box) => boolean} fits @param {number} [before] */
	find(fits, before) {
		const step = before === undefined ? 1 : -1;
		for (let i = before === undefined ? 0 : before - 1; i >= 0 && i < this.boxes.count; i += step)
			if (fits(/** @type {Box} */ (this.boxes.get(i))))
				return i;
		return -1;
	}

	/** @param {MouseEvent} event */
	click(event) {
		const box = this.boxes.get(this.at(event));
		if (box)
			this.pick(box);
	}

	/** The function of a box, for transforms; null: the box has none, or is of a comparison.
	 *  @param {Box | null} box */
	target(box) {
		return !box || box.joined || box.label === NO_LABEL || this.picture.compares || !canTransform() ? null
			: { name: this.picture.owner(box.label), path: this.picture.wholePath(box.node) };
	}

	/** Opens the menu of the box under the pointer.
	 *  @param {MouseEvent} event */
	menu(event) {
		const target = this.target(this.boxes.get(this.at(event)));
		if (!target)
			return;
		event.preventDefault();
		openMenu(target, event.clientX, event.clientY);
	}

	/** Transforms by a key. Returns whether it is one.
	 *  @param {string} key @param {Box} box */
	transform(key, box) {
		const target = this.target(box);
		if (target && key === "T") {
			const bounds = this.canvas.getBoundingClientRect();
			const { left, top } = this.placeOf(box, bounds.width, bounds.height);
			openMenu(target, bounds.left + left, bounds.top + top + ROW);
			return true;
		}
		return target !== null && transformByKey(key, target);
	}

	/** @param {Box} box */
	pick(box) {
		if (box.joined) // they become wide enough for boxes of their own
			return this.zoom(this.node, `${box.start}-${box.start + box.weight}`);
		this.options.onPick?.(this.picture, box);
		this.zoom(box.node === this.node && this.node !== 0 ? Math.max(this.picture.parent(this.node), 0) : box.node);
	}

	/** @param {MouseEvent} event */
	hover(event) {
		const index = this.at(event), bounds = this.canvas.getBoundingClientRect();
		this.point(index);
		if (index < 0)
			return;
		const x = event.clientX - bounds.left, y = event.clientY - bounds.top;
		this.tip.textContent = this.text.textContent;
		this.tip.hidden = false;
		const { width, height } = this.tip.getBoundingClientRect();
		this.tip.style.left = `${Math.max(Math.min(x + 12, bounds.width - width), 0)}px`;
		this.tip.style.top = `${event.clientY + 18 + height > innerHeight ? y - height - 6 : y + 18}px`;
	}

	/** Outlines and describes the box that a mouse points at; -1: none.
	 *  @param {number} index */
	point(index) {
		const box = this.boxes.get(index);
		this.outline.hidden = this.tip.hidden = true;
		if (box) {
			const { left, right, top } = this.placeOf(box, this.canvas.clientWidth, this.canvas.clientHeight);
			Object.assign(this.outline.style, { left: `${left}px`, top: `${top}px`, width: `${Math.max(right - left, 2)}px`, height: `${ROW - 1}px` });
			this.outline.hidden = false;
		}
		this.describe(index >= 0 ? index : this.focused);
	}

	/** Describes a box in the line below the canvas, which stays in the window.
	 *  @param {number} index */
	describe(index) {
		const box = this.boxes.get(index);
		const text = box ? describe(this.picture, box) : this.hint;
		if (this.text.textContent !== text) // screen readers read a change
			this.text.textContent = text;
	}

	/** @param {WheelEvent} event */
	wheel(event) {
		if (!event.ctrlKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY))
			return; // the page scrolls
		event.preventDefault();
		const whole = this.picture.box(this.node)?.weight ?? this.picture.total;
		const bounds = this.canvas.getBoundingClientRect();
		const at = this.from + (event.clientX - bounds.left) / bounds.width * this.span;
		const factor = event.ctrlKey ? Math.exp(event.deltaY / 200) : 1;
		const span = Math.min(Math.max(this.span * factor, 1), whole);
		let from = event.ctrlKey ? at - (at - this.from) / this.span * span
			: this.from + event.deltaX / bounds.width * this.span;
		from = Math.min(Math.max(from, 0), whole - span);
		this.from = from;
		this.to = from + span;
		this.keepSpan();
		this.draw();
	}

	/** @param {KeyboardEvent} event */
	key(event) {
		const box = this.boxes.get(this.focused);
		const last = this.boxes.count;
		const deeper = this.options.upwards ? "ArrowUp" : "ArrowDown";
		const higher = this.options.upwards ? "ArrowDown" : "ArrowUp";
		let next = -1;
		if (event.key === "Enter" && box)
			this.pick(box);
		else if (event.key === "Escape")
			this.zoomOut();
		else if (event.key === deeper)
			next = box ? this.widestBelow(box) : 0;
		else if (event.key === higher && box)
			next = this.find((other) => other.depth === box.depth - 1 && other.start <= box.start, last);
		else if (event.key === "ArrowRight" && box)
			next = this.find((other) => other.depth === box.depth && other.start > box.start);
		else if (event.key === "ArrowLeft" && box)
			next = this.find((other) => other.depth === box.depth && other.start < box.start, last);
		else if (!box || event.ctrlKey || event.altKey || event.metaKey || !this.transform(event.key, box))
			return;
		event.preventDefault();
		if (next >= 0) {
			this.focused = next;
			this.describe(next);
			this.draw();
		}
	}

	/** The index of the widest box of the level below a box, or -1.
	 *  @param {Box} box */
	widestBelow(box) {
		const { doubles, numbers, count } = this.boxes;
		let widest = -1, most = 0;
		for (let i = 0, d = 0, n = BOX_FIRST; i < count; i++, d += BOX_DOUBLES, n += BOX_NUMBERS)
			if (numbers[n + 2] === box.depth + 1 && doubles[d] >= box.start && doubles[d] < box.start + box.weight && doubles[d + 1] > most) {
				widest = i;
				most = doubles[d + 1];
			}
		return widest;
	}

	showCrumbs() {
		const path = this.picture.path(this.node);
		const link = (/** @type {string} */ name, /** @type {string} */ short, /** @type {number} */ node) =>
			element("button", { className: "crumb", title: safe(name), onclick: () => this.zoom(node) }, [safe(short)]);
		const left = path.length > CRUMBS + 1 ? path.slice(0, -CRUMBS) : [], above = left.at(-1);
		const names = left.map((box) => this.picture.name(box.label)).join(" › ");
		this.crumbs.replaceChildren(...(path.length ? [link("all", "all", 0)] : []), ...(above ? [" › ", link(names, `… ${left.length} more`, above.node)] : []),
			...path.slice(left.length).flatMap((box) =>
				[" › ", link(this.picture.name(box.label), this.picture.short(box.label, 28), box.node)]));
	}

	/** @param {string} wanted @returns {string} how much the search found */
	search(wanted) {
		const found = foundText(this.picture, wanted);
		this.draw();
		return found;
	}
}

/** The colour of a box with this part of two shares: 0, it has none of the second resource; 1, it has nothing else.
 *  @param {number} part @param {boolean} dark */
export function ratioColour(part, dark) {
	return `hsl(${part < 0.5 ? 215 : 5}, ${Math.round(Math.abs(part - 0.5) * 140)}%, ${dark ? 34 : 74}%)`;
}

/** The largest number of levels that a canvas has room for. */
function rowsMost() {
	return Math.floor(canvasMost() / ROW);
}

/** Searches a picture: "matches 67.1 % ±1.8, 912 hits, 2 functions".
 *  @param {Picture} picture @param {string} wanted */
export function foundText(picture, wanted) {
	const { labels, hits } = picture.search(wanted);
	return `matches ${shareText(picture, hits)}, ${counted(hits, "hit")}, ${counted(labels, choices.by)}`;
}

/** The full name of a box: "sorts", or "others: 12 functions, 3.2 %" of those that are too narrow for boxes of their own.
 *  @param {Picture} picture @param {Box} box */
export function nameOf(picture, box) {
	return box.joined ? `others: ${counted(box.joined, choices.by)}, ${percent(box.weight / picture.total)}` : picture.name(box.label);
}

/** "67.1 % ±1.8": a share of a picture's hits, with the error that reports print.
 *  @param {Picture} picture @param {number} hits */
function shareText(picture, hits) {
	const error = !hasSamples(resource()) || picture.compares ? 0 : picture.error(hits);
	return percent(picture.total ? hits / picture.total : 0, error);
}

/** The mark of a changed box that only one of two profiles has: "+ " for one that is new in B, "− " for one that is gone.
 *  @param {Pick<Box, "changed" | "first" | "other">} box */
export function sideMark(box) {
	if (!box.changed || box.first > 0 && box.other > 0)
		return "";
	return box.other > 0 ? "+ " : "− ";
}

/** "sorts  280 ms in A, 4 ms in B: −276 ms (changed)".
 *  @param {Picture} picture @param {Box} box */
function describeChange(picture, box) {
	const { unit } = resource(), change = box.other - box.first;
	const word = box.first === 0 ? "new in B" : box.other === 0 ? "gone in B" : "changed";
	return `${safe(picture.name(box.label))}   ${amount(box.first, unit)} in A, ${amount(box.other, unit)} in B: ` +
		`${change > 0 ? "+" : change < 0 ? "−" : ""}${amount(Math.abs(change), unit)}${box.changed ? ` (${word})` : ""}`;
}

/** "sorts  67.1 % ±1.8  912 hits  0.91 s".
 *  @param {Picture} picture @param {Box} box */
export function describe(picture, box) {
	const row = resource();
	if (box.joined)
		return describeJoined(picture, box);
	if (picture.compares)
		return describeChange(picture, box);
	const isAll = box.node === 0 && box.weight === picture.total; // by definition: such a share has no error
	const own = box.own > 0 ? `, own ${shareText(picture, box.own)}` : "";
	const other = picture.otherTotal ? `   ${picture.otherName}: ${percent(box.other / picture.otherTotal)}` : "";
	const tail = box.isTail ? " (tail call)" : "";
	return `${safe(picture.name(box.label))}${tail}   ${isAll ? percent(1) : shareText(picture, box.weight)}${own}   ${count(box.weight)} hits   ` +
		`${amount(box.weight * row.interval, row.unit)}${other}`;
}

/** The weights of a comparison are gticks, all others hits.
 *  @param {Picture} picture @param {Box} box */
function describeJoined(picture, box) {
	const { unit, interval } = resource();
	const size = picture.compares ? amount(box.weight, unit)
		: `${shareText(picture, box.weight)}   ${count(box.weight)} hits   ${amount(box.weight * interval, unit)}`;
	return `others: ${counted(box.joined, choices.by)}, too narrow for boxes of their own   ${size}   A click shows them.`;
}

/** Remembers the picked path, for the what-if view and the strip.
 *  @param {Picture} picture @param {Box} box */
export function remember(picture, box) {
	const whole = canTransform() ? picture.wholePath(box.node) : "";
	choose({ path: picture.foldedPath(box.node), part: whole && `path=${whole}` }, true);
}
