// The stack chart: who was on a thread's stack when, as the samples show it.

import { laneCounts, laneName, sampleLane, timeline } from "./engine.mjs";
import { selectedRange, showLanes, threadName, time } from "./events.mjs";
import { count, counted, element, nothing, safe } from "./format.mjs";
import { choices, periodOf, selection } from "./state.mjs";

/** @typedef {import("./events.mjs").Lane} Lane */
/** @typedef {import("./engine.mjs").LaneBox} LaneBox */

const DEPTHS_MOST = 200;

/** The threads with selected hits, busiest first.
 *  @returns {number[]} their indexes */
function busiest() {
	const hits = timeline(selection(), 1).rows.map(([all]) => all);
	return [...hits.keys()].filter((thread) => hits[thread] > 0).sort((a, b) => hits[b] - hits[a]);
}

/** @param {Lane} lane @param {LaneBox} box */
function describe(lane, box) {
	const name = safe(laneName(lane, box));
	const at = `at ${(box.start / 1e9).toFixed(6)} s in ${threadName(lane)}`;
	if (box.isMark)
		return `${box.count > 1 ? `${count(box.count)} samples, the first` : "sample"} in ${name} ${at}`;
	if (box.count > 1)
		return `${count(box.count)} narrow boxes, the first: ${name}   within ${time(box.end - box.start)} ${at}`;
	// A sample is at the end of the time that it stands for.
	return `${name}   ${time(box.end - box.start)} ${at}, depth ${box.depth}, ${counted(laneCounts(lane, box.start + 1, box.end + 1).marks, "sample")}`;
}

/** How to read the chart, and how exact it is.
 *  @param {number} detail ns within which samples are joined, or 0 */
function detailText(detail) {
	const step = periodOf();
	const faded = "Faded: there the thread has no samples; it waited or another one ran. Grey: boxes too narrow to be drawn.";
	if (!step && !detail)
		return `A box: one sample after the other has the same functions down to it. A sample stands for the time up to it. ${faded}`;
	return `Lower detail: a box has the functions that more than half of the samples of ${time(Math.max(step, detail))} share. ${step
		? "This page has so many samples that it contains their times in such steps." : "Select a range above to see each sample."} ${faded}`;
}

export function showStacks() {
	const threads = busiest();
	if (!threads.length)
		return nothing("No hits with a time and a thread are selected.");
	const { lanes, end, detail } = sampleLane(selection(), threads[0], periodOf());
	const [lane, covered] = lanes;
	const shown = { ...lane, ...laneCounts(lane, 0, end + 1) };
	if (!shown.calls)
		return nothing("The selected samples have no stacks.");
	return element("div", {}, [
		...(threads.length > 1 ? [nothing(`The busiest of ${count(threads.length)} threads${choices.from || choices.to ? " in the selected range" : ""}; choose another above.`)] : []),
		showLanes([shown], selectedRange(end), { end, depths: DEPTHS_MOST, describe, covered, listed: "What stayed longest on the stack",
			head: (lane) => counted(lane.marks, "sample") }),
		nothing(detailText(detail))]);
}
