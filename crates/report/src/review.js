
"use strict";
// Keys and clicks press the buttons of the form, one after the other, so that none is lost while an answer is under way.
let queue = Promise.resolve();

function say(words) {
  document.getElementById("message").textContent = words;
}

async function press(find) {
  const button = find();
  if (!button || button.disabled) return;
  const form = button.form;
  const answer = await fetch(form.action, {
    method: "POST",
    body: new URLSearchParams([[button.name, button.value]]),
  });
  const text = await answer.text();
  if (!answer.ok) {
    say(text);
    return;
  }
  // Without its head: style and script are here already. (No tag may stand in a script, even as text.)
  const page = new DOMParser().parseFromString(text.slice(text.indexOf("\x3cbody")), "text/html");
  const moved = answer.url !== location.href;
  document.title = page.body.dataset.title;
  document.body.replaceWith(page.body);
  history.replaceState(null, "", answer.url);
  if (moved) scrollTo(0, 0);
}

function later(find) {
  queue = queue.then(() => press(find)).catch(() => say("The server does not answer. What was judged before is kept."));
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const selector = `button[data-keys~="${CSS.escape(key)}"]`;
  if (!document.querySelector(selector)) return;
  event.preventDefault();
  if (!event.repeat) later(() => document.querySelector(selector));
});

addEventListener("click", (event) => {
  const button = event.target.closest("button[data-keys]");
  if (!button) return;
  event.preventDefault();
  const selector = `button[name="${button.name}"][data-keys="${CSS.escape(button.dataset.keys)}"]`;
  later(() => document.querySelector(selector));
});
