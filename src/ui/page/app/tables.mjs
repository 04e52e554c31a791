// Tables that can be sorted, with one button for each header.

import { count, element, percent, safe } from "./format.mjs";
import { choices } from "./state.mjs";

const ROWS_FIRST = 200; // a browser needs long for thousands of rows

/** @typedef {{name: string, text: (row: any) => string | Node, value: (row: any) => number | string, isText?: boolean}} Column */

/** The tables in the page now: each takes a text, shows the rows whose first column contains it, and returns a note.
 *  @type {((wanted: string) => string)[]} */
export let tables = [];

export function forgetTables() {
	tables = [];
}

/** @param {{columns: Column[], rows: any[], sorted: number, caption: string, onPick?: (row: any) => void, canPick?: (row: any) => boolean,
 *  note?: string}} options */
export function table(options) {
	let sorted = options.sorted;
	let shown = ROWS_FIRST;
	/** @type {HTMLElement} */
	const more = element("button", { onclick: () => {
		shown = Infinity;
		fill();
	} });
	let wanted = choices.search.toLowerCase();
	let descending = !options.columns[sorted].isText;
	const body = element("tbody");
	const heads = options.columns.map((column, index) => element("th", { scope: "col", className: column.isText ? "" : "number" }, [
		element("button", { onclick: () => sort(index) }, [column.name])]));

	/** @param {number} index */
	function sort(index) {
		descending = index === sorted ? !descending : !options.columns[index].isText;
		sorted = index;
		fill();
	}

	/** The rows whose first column contains the wanted text. */
	function matching() {
		const { value } = options.columns[0];
		return options.rows.filter((row) => String(value(row)).toLowerCase().includes(wanted));
	}

	function fill() {
		const { value } = options.columns[sorted];
		const rows = matching().sort((a, b) => {
			const left = value(a), right = value(b);
			return (left < right ? -1 : left > right ? 1 : 0) * (descending ? -1 : 1);
		});
		heads.forEach((head, index) => head.setAttribute("aria-sort",
			index === sorted ? (descending ? "descending" : "ascending") : "none"));
		more.hidden = rows.length <= shown;
		more.textContent = `show all ${count(rows.length)} rows`;
		body.replaceChildren(...rows.slice(0, shown).map((row) => element("tr", {}, options.columns.map((column, index) =>
			element(index === 0 ? "th" : "td", { className: column.isText ? "name" : "number", ...(index === 0 ? { scope: "row" } : {}) }, [
				index === 0 && options.onPick && (options.canPick?.(row) ?? true)
					? element("button", { className: "link", onclick: () => options.onPick?.(row) }, [column.text(row)])
					: column.text(row)])))));
	}

	fill();
	tables.push((text) => {
		wanted = text.toLowerCase();
		fill();
		return `${count(matching().length)} of ${count(options.rows.length)} rows`;
	});
	return element("div", { className: "scroll", tabIndex: 0 }, [
		element("table", {}, [element("caption", {}, [options.caption]), element("thead", {}, [element("tr", {}, heads)]), body]), more,
		...(options.note ? [element("p", { className: "note" }, [options.note])] : []),
	]);
}

/** A bar whose length is a fraction, with its text.
 *  @param {number} fraction @param {number} [error] */
export function bar(fraction, error) {
	const filled = element("span", { className: "filled" });
	filled.style.width = `${Math.min(fraction, 1) * 100}%`;
	return element("span", { className: "bar" }, [filled, element("span", { className: "bar-text" }, [percent(fraction, error)])]);
}

/** @param {string[]} path */
export function pathText(path) {
	return path.map(safe).join(" › ");
}
