// The search page: sections of the book as one types, each with a sentence in which the words stand.
import { find, prepare } from "./search_sections.mjs";
import { words } from "./search_words.mjs";

const SHOWN = 15;
const LONG = 240; // characters of a sentence that are quoted
const input = document.querySelector("main input[type=search]");
const status = document.querySelector("main [role=status]");
const list = document.querySelector("#results");
let loading;

// The sections weigh more than the rest of this page, so they come with the first question.
function load() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${document.documentElement.dataset.content_root}_static/sections.js`;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  }).then(() => prepare(window.sections, window.sectionIndex, window.asked));
  return loading;
}

async function search() {
  const typed = input.value.trim();
  if (typed && !loading) status.textContent = "Searching …";
  try {
    const index = await load();
    if (typed !== input.value.trim()) return; // another question came while the sections did
    const answer = find(index, typed);
    list.replaceChildren(...answer.found.slice(0, SHOWN).map((found) => result(found, answer.isMatch)));
    status.textContent = typed && said(answer);
  } catch {
    status.textContent = "The search could not be started; reload the page to try again.";
  }
  // From a section one comes back to what was found. A browser may forbid a page from a folder to say so.
  try {
    history.replaceState(null, "", typed ? `?q=${encodeURIComponent(typed)}` : location.pathname);
  } catch {}
}

function said({ found, missing, similar }) {
  const quoted = (words) => words.map((word) => `“${word}”`).join(", ");
  const sentences = [];
  if (missing.length) sentences.push(`Nowhere in the book: ${quoted(missing)}.`);
  if (similar.length) sentences.push(`Nowhere as it is written, but much like words that are: ${quoted(similar)}.`);
  const count = found.length === 1 ? "1 section" : `${found.length} sections`;
  if (found.length) sentences.push(found.length > SHOWN ? `${count}, the best ${SHOWN} below.` : `${count}.`);
  return sentences.join(" ");
}

function result({ section, quote }, isMatch) {
  const place = make("a", ...marked(section.title, isMatch));
  place.href = section.address;
  const above = [section.page, section.within].filter(Boolean).map((title) => `${title} › `);
  if (above.length) place.prepend(make("small", ...above));
  const item = make("li", place);
  if (quote) {
    const sentence = marked(shortened(quote.text, isMatch), isMatch);
    const row = quote.address && Object.assign(make("a", ...sentence), { href: quote.address });
    item.append(make("p", quote.before ?? "", ...(row ? [row] : sentence)));
  }
  return item;
}

function make(name, ...inside) {
  const element = document.createElement(name);
  element.append(...inside);
  return element;
}

// The pieces of a text, those words in a <mark> that match.
function marked(text, isMatch) {
  const pieces = [];
  let end = 0;
  for (const { word, start } of words(text)) {
    if (!isMatch(word)) continue;
    pieces.push(text.slice(end, start), make("mark", word));
    end = start + word.length;
  }
  return [...pieces, text.slice(end)];
}

// A long sentence, cut at spaces around the first word that matches.
function shortened(text, isMatch) {
  if (text.length <= LONG) return text;
  const first = [...words(text)].find(({ word }) => isMatch(word))?.start ?? 0;
  const start = first < LONG / 2 ? 0 : text.indexOf(" ", first - LONG / 2) + 1;
  const end = text.length - start <= LONG ? text.length : text.lastIndexOf(" ", start + LONG);
  return (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
}

let waiting;
input.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(search, 100); // a screen reader need not hear what each letter found
});
input.form.addEventListener("submit", (event) => {
  event.preventDefault(); // the results are there already
});
input.value = new URLSearchParams(location.search).get("q") ?? "";
if (input.value) search();
