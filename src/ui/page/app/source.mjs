// The source of a function, all of its file, beside its machine code: lines and instructions are linked in both directions.

import { ask, embeddedText, functionAt, nameFunctions, nameLines, readCode, shortName } from "./engine.mjs";
import { counted, element, nothing, percent, safe } from "./format.mjs";
import { Highlighter } from "./highlight.mjs";
import { Listing } from "./listing.mjs";
import { choices, choose, selection } from "./state.mjs";
import { addSearched } from "./tables.mjs";

const TAB = "    ";

/** The texts of source files by path.
 *  @type {Record<string, string[]>} */
let sources = {};

export async function readSources() {
	const text = await embeddedText("sources");
	sources = text ? JSON.parse(text) : {};
}

/** A line of a source file without its indent; "": the page does not contain it.
 *  @param {string} file @param {number} line */
export function lineText(file, line) {
	return safe((sources[file]?.[line - 1] ?? "").trim());
}

/** Whether the page contains the text of a file.
 *  @param {string} file */
export function hasSource(file) {
	return Boolean(sources[file]);
}

/** @param {Record<string, any>} request */
function entriesOf(request) {
	return ask({ ...selection(), by: null, threshold: "0", limit: 0, ...request }).results[0];
}

/** The figures of a row: a narrow bar, with the exact figures as a tooltip.
 *  @param {number} hits @param {number} fraction @param {number} error */
function share(hits, fraction, error) {
	if (!hits)
		return "";
	const filled = element("span", { className: "filled" });
	filled.style.width = `${Math.min(fraction, 1) * 100}%`;
	return element("span", { className: "bar", title: `${percent(fraction, error)}, ${counted(hits, "hit")}` }, [filled,
		element("span", { className: "bar-text" }, [percent(fraction)])]);
}

/** @param {any} entry of a report of lines or instructions */
function shares(entry) {
	return entry ? [share(entry.body_hits, entry.body_fraction, entry.body_error), share(entry.total_hits, entry.total_fraction, entry.total_error)] : ["", ""];
}

/** A column as wide as its longest text, in CSS.
 *  @param {number} letters */
function wide(letters) {
	return `${Math.min(letters, 2000) + 2}ch`;
}

const FIGURES = [{ name: "own", width: "66px", isNumber: true }, { name: "with callees", width: "78px", isNumber: true }];

/** The view of one function: its file on the left, its instructions on the right. */
class SourceView {
	/** The number of the line of each row.
	 *  @type {number[]} */
	numbers = [];
	/** The lines of the file that have hits, of all functions.
	 *  @type {Map<number, any>} */
	lines = new Map();
	source = new Listing({ label: "", heads: [], count: 0, cells: () => [], onPick: () => {}, onPoint: () => {} });
	/** @type {Listing | null} */
	code = null;

	constructor() {
		const [, file, line] = choices.line.match(/^(.*):(\d+)$/) ?? [];
		this.root = choices.root || this.functionAt(file ?? "", Number(line));
		/** The lines of the function, by file, or of the file where no function is chosen.
		 *  @type {any[]} */
		this.own = this.root ? entriesOf({ report: "source", root: this.root }).entries : [];
		this.files = [...new Set(this.own.filter((entry) => entry.line > 0).map((entry) => entry.file))];
		if (file)
			this.files = [...new Set([file, ...this.files])];
		this.file = file && this.files.includes(file) ? file : this.hottestFile();
		this.line = this.file === file ? Number(line) : 0;
		/** @type {any[]} */
		this.instructions = [];
		this.sourcePane = element("div", { className: "pane", hidden: !this.file });
		this.codePane = element("div", { className: "pane code-pane" }, [nothing("Reading the machine code…")]);
		this.element = element("section", { className: "panes" }, [this.sourcePane, ...(this.root ? [this.codePane] : [])]);
		if (this.root)
			nameFunctions(selection());
		if (this.file)
			this.showFile(this.file);
		if (this.root)
			readCode().then(() => this.fillCode()).catch((error) => this.codePane.replaceChildren(nothing(safe(error instanceof Error ? error.message : String(error)))));
	}

	/** @param {string} file @param {number} line */
	functionAt(file, line) {
		nameLines(selection());
		return functionAt(file, line);
	}

	/** The file with most hits of the function's lines. */
	hottestFile() {
		/** @type {Map<string, number>} */
		const hits = new Map();
		for (const entry of this.own)
			if (entry.line > 0)
				hits.set(entry.file, (hits.get(entry.file) ?? 0) + entry.body_hits + entry.total_hits / 1e6);
		return [...hits].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
	}

	// --- the source ---

	/** Shows a file in the left pane.
	 *  @param {string} file */
	showFile(file) {
		const text = sources[file], highlighter = new Highlighter(file, text ?? []);
		const lines = new Map(entriesOf({ report: "source", file }).entries.map((/** @type {any} */ entry) => [entry.line, entry]));
		this.file = file;
		this.lines = lines;
		this.numbers = text ? Array.from({ length: Math.max(text.length, ...lines.keys()) }, (_, i) => i + 1) : [...lines.keys()].sort((a, b) => a - b);
		const expanded = (/** @type {string} */ part) => safe(part.replaceAll("\t", TAB));
		const longest = (text ?? []).reduce((most, line) => Math.max(most, line.length + line.split("\t").length * (TAB.length - 1)), 0);
		this.source = new Listing({
			label: `Source ${safe(file)}`, count: this.numbers.length,
			heads: [...FIGURES, { name: "line", width: wide(String(this.numbers.at(-1) ?? 0).length + 2), isNumber: true, isName: true }, { name: "source", width: wide(longest) }],
			cells: (index) => {
				const number = this.numbers[index];
				const parts = index < (text?.length ?? 0) ? highlighter.parts(index) : [];
				return [...shares(lines.get(number)), String(number), element("code", {}, parts.map(({ kind, text }) =>
					kind ? element("span", { className: `word-${kind}` }, [expanded(text)]) : expanded(text)))];
			},
			className: (index) => (lines.has(this.numbers[index]) ? "" : "cold") + (this.hasCode.has(this.numbers[index]) ? " coded" : ""),
			onPick: (index) => this.pickLine(this.numbers[index]),
			onPoint: (index) => this.point(index < 0 ? "" : this.keyOf(this.file, this.numbers[index])),
		});
		const without = this.own.filter((entry) => entry.line === 0).reduce((sum, entry) => sum + entry.total_hits, 0);
		this.sourcePane.replaceChildren(this.sourceHead(Boolean(text)), this.source.element,
			...(without ? [nothing(`${counted(without, "hit")} of ${safe(this.root)} are in code whose lines are not known.`)] : []));
		if (this.instructions.length)
			this.markCoded();
		const hottest = this.own.filter((entry) => entry.file === file).sort((a, b) => b.body_hits - a.body_hits || b.total_hits - a.total_hits)[0]?.line ?? 0;
		this.markLine(this.line);
		requestAnimationFrame(() => this.source.show(this.numbers.indexOf(this.line || hottest), true));
	}

	/** @param {boolean} hasText */
	sourceHead(hasText) {
		const select = /** @type {HTMLSelectElement} */ (element("select", { "aria-label": "file", onchange: () => {
			this.line = 0;
			this.showFile(select.value);
		} }, this.files.map((file) => element("option", { value: file, selected: file === this.file }, [safe(file)]))));
		return element("div", { className: "pane-head" }, [this.files.length > 1 ? select : element("strong", { title: safe(this.file) }, [safe(this.file)]),
			element("span", { className: "note" }, [hasText ? "hits of all functions in the file" : "the page does not contain its text"])]);
	}

	/** @param {number} line */
	markLine(line) {
		const index = this.numbers.indexOf(line);
		this.source.current = index;
		this.source.set("marked", index < 0 ? [] : [index]);
	}

	/** A line was clicked: marks its instructions, or shows the function that has its code.
	 *  @param {number} line */
	pickLine(line) {
		this.line = line;
		const key = this.keyOf(this.file, line), instructions = this.byLine.get(key) ?? [];
		const owner = instructions.length || !this.lines.has(line) ? "" : this.functionAt(this.file, line);
		if (owner && owner !== this.root)
			return choose({ root: owner, line: key });
		choose({ line: key }, true);
		this.markLine(line);
		this.markInstructions(instructions);
	}

	// --- the machine code ---

	/** The indices of instructions by "FILE:LINE".
	 *  @type {Map<string, number[]>} */
	byLine = new Map();
	/** The lines of the shown file that have instructions of the function.
	 *  @type {Set<number>} */
	hasCode = new Set();

	/** @param {string} file @param {number} line */
	keyOf(file, line) {
		return line ? `${file}:${line}` : "";
	}

	fillCode() {
		const answer = entriesOf({ report: "asm", root: this.root });
		this.instructions = answer.entries;
		this.instructions.forEach((instruction, index) => {
			const key = this.keyOf(instruction.file, instruction.line), others = this.byLine.get(key);
			if (others)
				others.push(index);
			else if (key)
				this.byLine.set(key, [index]);
		});
		if (!this.instructions.length) {
			this.codePane.replaceChildren(nothing("No hits of the function are selected."));
			return;
		}
		this.code = this.codeListing();
		const missing = [answer.unplaced_hits ? `${counted(answer.unplaced_hits, "hit")} at addresses whose instructions the page does not have` : "",
			answer.obstacle ? `a part is missing: ${answer.obstacle}` : ""].filter(Boolean);
		this.codePane.replaceChildren(this.codeHead(), this.code.element, ...missing.map((text) => nothing(safe(text))));
		this.markCoded();
		this.markInstructions(this.byLine.get(this.keyOf(this.file, this.line)) ?? []);
		if (!this.code.marked.size)
			this.showHottest(this.instructions.map((_, index) => index));
	}

	/** The functions that contain the code: the chosen one, or functions into which it was inlined. */
	codeHead() {
		const inlined = [...new Set(this.instructions.filter((each) => each.container !== each.function).map((each) => each.container))];
		const names = inlined.slice(0, 3).map((name) => shortName(name, 40)).join(", ") + (inlined.length > 3 ? ` and ${inlined.length - 3} more` : "");
		return element("div", { className: "pane-head" }, [element("strong", { title: safe(this.root) }, [safe(shortName(this.root, 60))]),
			element("span", { className: "note" }, [`${counted(this.instructions.length, "instruction")}${inlined.length ? `, inlined in ${safe(names)}` : ""}`])]);
	}

	codeListing() {
		const { instructions } = this;
		const textOf = (/** @type {any} */ each) => each.instruction + (each.callee ? `  <${each.callee}>` : "");
		const longest = instructions.reduce((most, each) => Math.max(most, textOf(each).length), 0);
		return new Listing({
			label: `Instructions of ${safe(this.root)}`, count: instructions.length,
			heads: [...FIGURES, { name: "line", width: "6ch", isNumber: true }, { name: "address", width: "14ch", isNumber: true, isName: true }, { name: "instruction", width: wide(longest) }],
			cells: (index) => {
				const each = instructions[index];
				const line = element("span", { title: safe(`${each.file}:${each.line}`) }, [each.line ? String(each.line) : ""]);
				return [...shares(each), line, (each.is_target ? "› " : "") + each.address.replace("0x", ""), element("code", {}, [safe(each.instruction),
					...(each.callee ? [element("span", { className: "word-comment" }, [safe(`  <${each.callee}>`)])] : [])])];
			},
			className: (index) => (instructions[index].total_hits ? "" : "cold") +
				(index > 0 && parseInt(instructions[index - 1].address) + instructions[index - 1].bytes !== parseInt(instructions[index].address) ? " gap" : ""),
			onPick: (index) => this.pickInstruction(instructions[index]),
			onPoint: (index) => this.point(index < 0 ? "" : this.keyOf(instructions[index].file, instructions[index].line)),
		});
	}

	/** Notes which lines of the file have instructions of the function. */
	markCoded() {
		this.hasCode = new Set(this.instructions.filter((each) => each.file === this.file).map((each) => each.line));
		this.source.repaint();
	}

	/** @param {number[]} indices @param {boolean} [stays] does not scroll to the hottest one */
	markInstructions(indices, stays = false) {
		this.code?.set("marked", indices);
		if (!stays)
			this.showHottest(indices);
	}

	/** @param {number[]} indices */
	showHottest(indices) {
		const hits = (/** @type {number} */ index) => this.instructions[index].body_hits + this.instructions[index].total_hits / 1e6;
		const hottest = indices.reduce((most, index) => most < 0 || hits(index) > hits(most) ? index : most, -1);
		requestAnimationFrame(() => this.code?.show(hottest));
	}

	/** An instruction was clicked: marks its line, and the other instructions of the line.
	 *  @param {any} instruction */
	pickInstruction({ file, line }) {
		if (!line)
			return;
		this.line = line;
		choose({ line: this.keyOf(file, line) }, true);
		if (file !== this.file) {
			this.files = [...new Set([...this.files, file])];
			this.showFile(file);
		}
		this.markLine(line);
		this.markInstructions(this.byLine.get(this.keyOf(file, line)) ?? [], true);
		this.source.show(this.numbers.indexOf(line));
	}

	/** The pointer is on a line, in either pane; "": it is on none.
	 *  @param {string} key */
	point(key) {
		const line = key.startsWith(`${this.file}:`) ? Number(key.slice(this.file.length + 1)) : 0;
		this.source.set("pointed", line ? [this.numbers.indexOf(line)] : []);
		this.code?.set("pointed", this.byLine.get(key) ?? []);
	}

	/** Marks the lines that contain a text, and shows the first one.
	 *  @param {string} wanted */
	search(wanted) {
		const text = sources[this.file] ?? [], low = wanted.toLowerCase();
		const found = wanted ? text.flatMap((line, i) => line.toLowerCase().includes(low) ? [i] : []) : [];
		this.source.set("found", found);
		if (found.length)
			requestAnimationFrame(() => this.source.show(found[0]));
		return `${counted(found.length, "line")} of ${text.length}`;
	}
}

export function showSource() {
	const view = new SourceView();
	addSearched((wanted) => view.search(wanted));
	if (choices.search)
		view.search(choices.search);
	if (!view.file)
		return element("section", {}, [nothing(`The lines of ${safe(choices.root)} are not known: its code has no debug information (build it with -g).`), view.element]);
	return view.element;
}
