// Long listings of lines or instructions: a table whose rows are made when they come into sight. All rows have one height.

import { element } from "./format.mjs";

const ROW = 18, CHUNK = 64; // pixels; rows that are made together
/** @typedef {"marked" | "pointed" | "found"} Kind */
/** @type {Kind[]} */
const KINDS = ["marked", "pointed", "found"];
const AHEAD = 600; // pixels beyond the visible part whose rows are made, too

/** @typedef {{name: string, width: string, isNumber?: boolean, isName?: boolean}} Head width: in CSS; isName: names the row */
/** @typedef {{label: string, heads: Head[], count: number, cells: (index: number) => (Node | string)[], className?: (index: number) => string,
 *  onPick: (index: number) => void, onPoint: (index: number) => void}} Options onPoint: the pointer is on a row, or leaves the listing (-1) */

export class Listing {
	/** @param {Options} options */
	constructor(options) {
		this.options = options;
		/** @type {Map<number, HTMLElement>} */
		this.rows = new Map();
		/** @type {Set<number>} */
		this.marked = new Set();
		/** @type {Set<number>} */
		this.pointed = new Set();
		/** @type {Set<number>} */
		this.found = new Set();
		this.current = -1;
		this.chunks = Array.from({ length: Math.ceil(options.count / CHUNK) }, (_, chunk) => {
			const room = element("tr");
			room.style.height = `${Math.min(CHUNK, options.count - chunk * CHUNK) * ROW}px`;
			return element("tbody", { "data-chunk": chunk }, [room]);
		});
		const width = options.heads.map((head) => head.width).join(" + ") || "0px";
		const table = element("table", {}, [element("caption", {}, [options.label]),
			element("colgroup", {}, options.heads.map((head, index) => {
				const column = element("col");
				if (index < options.heads.length - 1) // the last one has the rest
					column.style.width = head.width;
				return column;
			})),
			element("thead", {}, [element("tr", {}, options.heads.map((head) => element("th", { scope: "col", className: head.isNumber ? "number" : "" }, [head.name])))]),
			...this.chunks]);
		table.style.width = `max(100%, calc(${width}))`;
		this.element = element("div", {
			className: "listing", tabIndex: 0, role: "region", "aria-label": options.label,
			onclick: (/** @type {MouseEvent} */ event) => getSelection()?.isCollapsed !== false && this.pick(this.indexOf(event)), // or text is being selected
			onmouseover: (/** @type {MouseEvent} */ event) => options.onPoint(this.indexOf(event)),
			onmouseleave: () => options.onPoint(-1),
			onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
		}, [table]);
		const observer = new IntersectionObserver((entries) => {
			for (const entry of entries)
				if (entry.isIntersecting) {
					this.make(Number(/** @type {HTMLElement} */ (entry.target).dataset.chunk));
					observer.unobserve(entry.target);
				}
		}, { root: this.element, rootMargin: `${AHEAD}px 0px` });
		for (const chunk of this.chunks)
			observer.observe(chunk);
	}

	/** @param {Event} event */
	indexOf(event) {
		const row = event.target instanceof Element ? event.target.closest("tr") : null;
		return Number(row?.dataset.index ?? -1);
	}

	/** @param {number} index */
	pick(index) {
		if (index < 0 || index >= this.options.count)
			return;
		this.current = index;
		this.options.onPick(index);
	}

	/** Makes the rows of a chunk.
	 *  @param {number} chunk */
	make(chunk) {
		const first = chunk * CHUNK;
		if (!this.chunks[chunk] || this.rows.has(first))
			return;
		this.chunks[chunk].replaceChildren(...Array.from({ length: Math.min(CHUNK, this.options.count - first) }, (_, i) => {
			const row = element("tr", { "data-index": first + i }, this.options.cells(first + i).map((cell, column) =>
				this.cell(this.options.heads[column], cell)));
			this.rows.set(first + i, row);
			this.paint(first + i);
			return row;
		}));
	}

	/** @param {Head} head @param {Node | string} cell */
	cell({ isNumber, isName }, cell) {
		return element(isName ? "th" : "td", { className: isNumber ? "number" : "", ...(isName ? { scope: "row" } : {}) }, [cell]);
	}

	/** @param {number} index */
	paint(index) {
		const row = this.rows.get(index);
		if (row)
			row.className = [this.options.className?.(index) ?? "", ...KINDS.filter((kind) => this[kind].has(index))].join(" ").trim();
	}

	/** Paints all rows that are made: what className returns has changed. */
	repaint() {
		for (const index of this.rows.keys())
			this.paint(index);
	}

	/** @param {Kind} kind @param {Iterable<number>} indices */
	set(kind, indices) {
		const before = this[kind];
		this[kind] = new Set(indices);
		for (const index of [...before, ...this[kind]])
			this.paint(index);
	}

	/** Scrolls a row to the upper third, unless it is in sight.
	 *  @param {number} index @param {boolean} [always] */
	show(index, always = false) {
		if (index < 0 || index >= this.options.count)
			return;
		this.make(Math.floor(index / CHUNK));
		const view = this.element, top = index * ROW, head = ROW;
		if (always || top < view.scrollTop || top + 2 * ROW + head > view.scrollTop + view.clientHeight)
			view.scrollTop = Math.max(top - view.clientHeight / 3, 0);
	}

	/** @param {KeyboardEvent} event */
	key(event) {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (!step)
			return;
		event.preventDefault();
		const next = this.current < 0 ? Math.round(this.element.scrollTop / ROW) : this.current + step;
		this.pick(Math.min(Math.max(next, 0), this.options.count - 1));
		this.show(this.current);
	}
}
