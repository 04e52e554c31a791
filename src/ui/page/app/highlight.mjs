// Kinds of the words of source text: comments, texts, numbers and keywords, by a table of languages.

/** @typedef {{ends: string, words: string, line?: string[], blocks?: [string, string][], texts?: string[], longTexts?: string[]}} Language ends: of
 *  file names; line: what begins a comment to the end of the line; blocks: comments over lines; longTexts: texts over lines */
/** @typedef {"" | "comment" | "text" | "number" | "keyword"} Kind */
/** @typedef {{kind: Kind, text: string}} Part */
/** @typedef {{kind: Kind, end: string} | null} Open a comment or text that the next line continues */

const C_WORDS = "auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return short signed " +
	"sizeof static struct switch typedef union unsigned void volatile while bool true false NULL _Atomic _Bool";
const CHARACTER = "'(?:\\\\[^\\n]{1,10}?|[^'\\\\\\n])'"; // one; a quote in front of another letter is a lifetime of Rust, or no text
const SINGLE = "'(?:\\\\.|[^'\\\\\\n])*'?", DOUBLE = "\"(?:\\\\.|[^\"\\\\\\n])*\"?";

/** @type {Language[]} */
const LANGUAGES = [
	{ ends: "c h cc cpp cxx C H hh hpp hxx inl ipp tcc def m mm cu cuh ino", line: ["//"], blocks: [["/*", "*/"]], texts: [DOUBLE, CHARACTER],
		words: C_WORDS + " alignas alignof asm catch class concept consteval constexpr constinit const_cast co_await co_return co_yield decltype delete " +
			"dynamic_cast explicit export final friend import module mutable namespace new noexcept nullptr operator override private protected public " +
			"reinterpret_cast requires static_assert static_cast template this thread_local throw try typeid typename using virtual wchar_t" },
	{ ends: "rs", line: ["//"], blocks: [["/*", "*/"]], texts: [DOUBLE, CHARACTER], words: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop " +
		"match mod move mut pub ref return self Self static struct super trait true type unsafe use where while" },
	{ ends: "go", line: ["//"], blocks: [["/*", "*/"]], texts: [DOUBLE, CHARACTER], longTexts: ["`"], words: "break case chan const continue default defer else fallthrough false for func go goto if " +
		"import interface map nil package range return select struct switch true type var" },
	{ ends: "js mjs cjs jsx ts tsx", line: ["//"], blocks: [["/*", "*/"]], texts: [DOUBLE, SINGLE], longTexts: ["`"], words: "async await break case catch class const continue default delete do else export " +
		"extends false finally for from function get if import in instanceof interface let new null of return set static super switch this throw true try type typeof undefined var void while yield" },
	{ ends: "java kt kts scala cs swift d dart zig php proto", line: ["//"], blocks: [["/*", "*/"]], texts: [DOUBLE, CHARACTER], longTexts: ['"""'], words: C_WORDS + " abstract as boolean byte catch class " +
		"companion data def extends false final finally fn fun func implements import in instanceof interface internal is let match namespace new nil null object override package private protected " +
		"public pub sealed super synchronized this throw throws trait true try using val var virtual when with" },
	{ ends: "py pyx pxd pyi", line: ["#"], texts: [DOUBLE, SINGLE], longTexts: ['"""', "'''"], words: "False None True and as assert async await break case class cdef continue cpdef def del elif else except finally for from " +
		"global if import in is lambda match nonlocal not or pass raise return self try while with yield" },
	{ ends: "sh bash rb pl pm tcl awk r R jl ex exs nim mk toml yaml yml", line: ["#"], texts: [DOUBLE, SINGLE], words: "and begin break case class def do done elif else elsif elseif end esac exit false fi for foreach " +
		"func function if in last local module my next nil not or proc return self sub then true unless until use while yield" },
	{ ends: "lisp lsp cl el clj cljs scm ss rkt", line: [";"], blocks: [["#|", "|#"]], texts: [DOUBLE], words: "and case cond declare define defmacro defn defparameter defstruct defun defvar do dolist dotimes flet fn if labels lambda let " +
		"let* loop nil or progn quote recur setf setq t unless when" },
	{ ends: "lua", line: ["--"], blocks: [["--[[", "]]"]], texts: [DOUBLE, SINGLE], longTexts: [], words: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while" },
	{ ends: "hs elm ml mli", line: ["--"], blocks: [["{-", "-}"], ["(*", "*)"]], texts: [DOUBLE, CHARACTER], words: "and as begin case class data deriving do done else end fun function if import in instance let match module newtype of " +
		"open rec struct then type val when where with" },
	{ ends: "f f90 f95 f03 f08 F F90", line: ["!"], texts: [DOUBLE, SINGLE], words: "allocatable allocate call case character contains deallocate do else elseif end enddo endif exit function if implicit integer intent logical " +
		"module none only parameter program real return select subroutine then type use while" },
	{ ends: "s S asm", line: ["#", "//", ";"], blocks: [["/*", "*/"]], texts: [DOUBLE], words: "" },
];

/** @param {string} text */
function literally(text) {
	return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The pattern of the parts that are not plain; "open" is what goes on behind the end of the line.
 *  @param {Language} language */
function patternOf(language) {
	const { line = [], blocks = [], texts = [], longTexts = [] } = language;
	const groups = [
		["open", [...blocks.map(([begin]) => begin), ...longTexts].map(literally)], ["comment", line.map((begin) => literally(begin) + ".*")], ["text", texts],
		["number", ["\\b(?:0[xXbB][\\da-fA-F_']+|\\d[\\d_']*(?:\\.\\d+)?(?:[eEpP][+-]?\\d+)?)\\w*"]], ["word", ["[\\p{L}_][\\p{L}\\d_]*\\*?"]],
	];
	return new RegExp(groups.filter(([, each]) => each.length).map(([name, each]) => `(?<${name}>${/** @type {string[]} */ (each).join("|")})`).join("|"), "gu");
}

/** The words of a file, line by line. A language that the table lacks has plain text alone. */
export class Highlighter {
	/** @param {string} path @param {string[]} lines */
	constructor(path, lines) {
		const end = path.slice(path.lastIndexOf(".") + 1);
		this.lines = lines;
		this.language = LANGUAGES.find((each) => each.ends.split(" ").includes(end));
		this.pattern = this.language ? patternOf(this.language) : null;
		this.words = new Set(this.language?.words.split(" "));
		/** The comment or text that is open at the beginning of each line that was read.
		 *  @type {Open[]} */
		this.opened = [null];
	}

	/** @param {number} index of a line, counted from 0 @returns {Part[]} */
	parts(index) {
		for (let i = this.opened.length; i <= index; i++)
			this.opened[i] = this.read(this.lines[i - 1], this.opened[i - 1]).open;
		return this.read(this.lines[index], this.opened[index]).parts;
	}

	/** @param {string} line @param {Open} open @returns {{parts: Part[], open: Open}} */
	read(line, open) {
		/** @type {Part[]} */
		const parts = [];
		if (!this.pattern || !this.language)
			return { parts: [{ kind: "", text: line }], open: null };
		let done = 0;
		const add = (/** @type {Kind} */ kind, /** @type {number} */ to) => {
			if (to > done)
				parts.push({ kind, text: line.slice(done, to) });
			done = Math.max(to, done);
		};
		/** Adds what is open, to its end or to the end of the line. */
		const close = (/** @type {number} */ from) => {
			const end = open ? line.indexOf(open.end, from) : -1;
			add(open?.kind ?? "", end < 0 ? line.length : end + (open?.end.length ?? 0));
			open = end < 0 ? open : null;
		};
		if (open)
			close(0);
		while (!open && done < line.length) {
			this.pattern.lastIndex = done;
			const match = this.pattern.exec(line);
			if (!match)
				break;
			add("", match.index);
			const { groups = {} } = match, end = match.index + match[0].length;
			if (groups.open) {
				open = this.openedBy(match[0]);
				close(end);
			} else {
				add(groups.comment ? "comment" : groups.text ? "text" : groups.number ? "number" : this.words.has(match[0]) ? "keyword" : "", end);
			}
		}
		add("", line.length);
		return { parts, open };
	}

	/** @param {string} begin @returns {Open} */
	openedBy(begin) {
		const block = this.language?.blocks?.find((each) => each[0] === begin);
		return block ? { kind: "comment", end: block[1] } : { kind: "text", end: begin };
	}
}
