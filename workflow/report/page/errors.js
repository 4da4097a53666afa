"use strict";
// Narrowing of the two lists. Without it the page reads the same.

function browse(box) {
  const form = box.querySelector("form");
  const selects = [...form.querySelectorAll("select")];
  const words = form.querySelector("input[type=search]");
  const clear = form.querySelector("input[type=checkbox]");
  const status = form.querySelector("[role=status]");
  const articles = [...box.querySelectorAll("article")];
  let texts = null; // of the articles, read when the first word comes

  function fits(article, n, wanted) {
    const language = form.querySelector("[data-key=languages]")?.value;
    const sure = article.dataset.clear.split(" ").filter(Boolean);
    if (clear.checked && !(language ? sure.includes(language) : sure.length)) return false;
    if (!selects.every((one) => !one.value || article.dataset[one.dataset.key].split(" ").includes(one.value))) return false;
    return wanted.every((word) => texts[n].includes(word));
  }

  // Of a chosen language, its card and the source language's are enough.
  function show() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (wanted.length) texts ??= articles.map((article) => article.textContent.toLowerCase());
    const language = form.querySelector("[data-key=languages]")?.value;
    articles.forEach((article, n) => { article.hidden = !fits(article, n, wanted); });
    for (const card of box.querySelectorAll("[data-language]")) {
      card.hidden = Boolean(language) && card.dataset.language !== language && !("source" in card.dataset);
    }
    const shown = articles.filter((article) => !article.hidden).length;
    status.textContent = shown === articles.length ? `${shown} shown` : `${shown} of ${articles.length} shown`;
  }

  form.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show)); // once the fields are empty
  show();
}

document.querySelectorAll(".browsed").forEach(browse);
