// Tables that can be sorted, with one button for each header.

import { count, element, percent, safe } from "./format.mjs";
import { choices } from "./state.mjs";

const ROWS_FIRST = 200; // a browser needs long for thousands of rows

/** @typedef {{rows: any[], left: number}} Found the rows that have a text; left: how many more there are */
/** @typedef {{name: string, text: (row: any) => string | Node, value: (row: any) => number | string,
 *  order?: (row: any) => number, isText?: boolean}} Column order: what its rows are sorted by, if not `value` */

/** The tables in the page now: each takes a text, shows the rows whose first column contains it, and returns a note.
 *  @type {((wanted: string) => string)[]} */
export let tables = [];

export function forgetTables() {
	tables = [];
}

/** Adds what is searched beside tables.
 *  @param {(wanted: string) => string} find */
export function addSearched(find) {
	tables.push(find);
}

/** "not shown: 12 more".
 *  @param {number} left */
function leftOut(left) {
	return left > 0 ? `${count(left)} further entries are not shown; 'cpprof report --limit 0' prints them.` : "";
}

/** @param {{columns: Column[], rows: any[], sorted: number, caption: string, onPick?: (row: any) => void, canPick?: (row: any) => boolean,
 *  left?: number, find?: (wanted: string) => Found}} options left: the number of entries that `rows` does not contain; then `find` searches all */
export function table(options) {
	let { rows, left = 0 } = options;
	const all = rows.length + left;
	const note = element("p", { className: "note" });
	let sorted = options.sorted;
	let shown = ROWS_FIRST;
	/** @type {HTMLElement} */
	const more = element("button", { onclick: () => {
		shown = Infinity;
		fill();
	} });
	let wanted = "";
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
		return rows.filter((row) => String(value(row)).toLowerCase().includes(wanted));
	}

	function fill() {
		const { value, order = value } = options.columns[sorted];
		const sortedRows = matching().sort((a, b) => {
			const left = order(a), right = order(b);
			return (left < right ? -1 : left > right ? 1 : 0) * (descending ? -1 : 1);
		});
		heads.forEach((head, index) => head.setAttribute("aria-sort",
			index === sorted ? (descending ? "descending" : "ascending") : "none"));
		more.hidden = sortedRows.length <= shown;
		more.textContent = `show all ${count(sortedRows.length)} rows`;
		note.textContent = leftOut(left);
		note.hidden = left === 0;
		body.replaceChildren(...sortedRows.slice(0, shown).map((row) => element("tr", {}, options.columns.map((column, index) =>
			element(index === 0 ? "th" : "td", { className: column.isText ? "name" : "number", ...(index === 0 ? { scope: "row" } : {}) }, [
				index === 0 && options.onPick && (options.canPick?.(row) ?? true)
					? element("button", { className: "link", onclick: () => options.onPick?.(row) }, [column.text(row)])
					: column.text(row)])))));
	}

	/** @param {string} text */
	function search(text) {
		wanted = text.toLowerCase();
		if (options.find && (options.left ?? 0) > 0)
			({ rows, left } = text ? options.find(text) : { rows: options.rows, left: options.left ?? 0 });
		fill();
		return `${count(matching().length + left)} of ${count(all)} rows`;
	}

	search(choices.search);
	tables.push(search);
	return element("div", { className: "scroll", tabIndex: 0 }, [
		element("table", {}, [element("caption", {}, [options.caption]), element("thead", {}, [element("tr", {}, heads)]), body]), more, note,
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
