// Everything works without this script: it only spares a step.
"use strict";

// A choice in a form that is marked is sent at once.
for (const form of document.querySelectorAll("form[data-sends-itself]")) {
  form.addEventListener("change", () => form.requestSubmit());
}

// A button is pressed once: a second press would send the form again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "1";
});
window.addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});
