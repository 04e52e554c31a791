// Runs before the data of the page: reports a file whose end is missing, with which the script of the page is.

addEventListener("DOMContentLoaded", () => {
	if (document.documentElement.dataset.started !== undefined)
		return;
	const title = document.createElement("h1"), text = document.createElement("p");
	const box = document.createElement("div");
	title.textContent = "This file is incomplete";
	text.textContent = "Its end is missing, so the profile cannot be shown. Copy or download the file again, or write it again with 'cpprof html'.";
	box.className = "failure";
	box.setAttribute("role", "alert");
	box.append(title, text);
	document.body.replaceChildren(box);
	document.title = "incomplete · cpprof";
});
