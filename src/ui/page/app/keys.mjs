// The keys of the page, in a dialog.

import { element } from "./format.mjs";

/** @type {[string, string][]} */
const KEYS = [
	["Tab, Enter", "the first stop leads to the graph or table"],
	["/", "search"],
	["?", "this list"],
	["← →", "in the tabs: the next view; in a graph: the next box of the level"],
	["↑ ↓", "in source and instructions: the row above or below"],
	["↓", "the widest box of the next level (↑ where callers stand above)"],
	["↑", "the box that holds this one"],
	["Enter", "zoom to the chosen box"],
	["Escape", "zoom out"],
	["f p d m a c", "in a graph, for the chosen box: focus on the function, focus on its path, drop, merge, drop what is above, collapse recursion"],
	["T", "in a graph, for the chosen box: the menu of these transforms, as a right click on a box"],
	["+ −", "in Events and Stack chart: zoom in and out"],
	["Ctrl and wheel", "zoom at the pointer"],
	["Back, Forward", "the zoom or view before, and after"],
];

/** Shows the keys; Escape, Enter or the button closes the list. */
export function showKeys() {
	const dialog = /** @type {HTMLDialogElement} */ (element("dialog", { className: "keys", onclose: () => dialog.remove() }, [
		element("table", { className: "facts" }, [element("caption", {}, ["Keys"]), ...KEYS.map(([key, act]) =>
			element("tr", {}, [element("th", { scope: "row" }, [key]), element("td", {}, [act])]))]),
		element("button", { onclick: () => dialog.close() }, ["close"])]));
	document.body.append(dialog);
	dialog.showModal();
}
