// Everything works without this script: it only keeps a form from being sent twice.
"use strict";

// A button is pressed once: a second press would send the form again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "1";
});
window.addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});
