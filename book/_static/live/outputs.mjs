// What a cell puts out, as the page's own build shows it (book/_ext: charts.py, drawings.py, figures.py).

import { chart } from "./charts.mjs";

const CLAIM = "application/vnd.attnlab.claim+json";
const DRAWING = "application/vnd.attnlab.drawing+json";
const CHART = "application/vnd.vegalite.v5+json";
const FIGURE = "image/svg+xml";
const COLOURS = /\x1b\[[0-9;?]*[A-Za-z]/g; // of a terminal

// make("p", { className: "says" }, "Yes.") is an element with these properties and children.
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export class Output {
  // `stored` is the cell's output as the page came, or nothing; `told` has the cell's metadata and its stored chart.
  constructor(stored, told) {
    this.element = make("div", { className: "cell_output live-output" });
    this.stored = stored;
    this.told = told;
    this.rows = [...(stored?.querySelectorAll(".claim") ?? [])]; // whose addresses go to the same rows
    this.shown = new Map(); // by the name under which a display may be changed later
    this.claims = 0;
  }

  // One message of the kernel's.
  add(type, content) {
    if (type === "clear_output") this.clear();
    else if (type === "stream") this.stream(content);
    else if (type === "error") this.put(failure(content));
    else if (type === "update_display_data") this.update(content);
    else if (content.data) this.display(content);
  }

  clear() {
    this.element.replaceChildren();
    this.shown.clear();
    this.claims = 0;
    this.text = undefined;
  }

  put(element) {
    this.text = undefined;
    this.element.append(element);
    return element;
  }

  // What follows on the same stream goes on in the same lines: a progress bar writes its line anew.
  stream({ name, text }) {
    if (this.text?.name !== name) {
      const pre = make("pre");
      this.text = { name, all: "", pre, box: this.put(lines(pre, name === "stderr" ? "stream stderr" : "stream")) };
      this.text.name = name;
    }
    this.text.all += text;
    this.text.pre.textContent = written(this.text.all);
    this.text.box.hidden = !this.text.pre.textContent.trim(); // a bar that has gone leaves nothing
  }

  display({ data, transient = {} }) {
    const element = this.put(this.rendered(data));
    if (transient.display_id) this.shown.set(transient.display_id, element);
  }

  update({ data, transient = {} }) {
    const old = this.shown.get(transient.display_id);
    if (!old) return;
    const element = this.rendered(data);
    old.replaceWith(element);
    this.shown.set(transient.display_id, element);
  }

  rendered(data) {
    if (data[DRAWING]) return drawing(data[DRAWING]);
    if (data[CHART]) return this.chart(data[CHART]);
    if (data[FIGURE]) return figure(data[FIGURE], this.told);
    if (data[CLAIM]) this.claims += 1;
    if (data["text/html"]) return this.html(data);
    for (const type of ["image/png", "image/jpeg"])
      if (data[type]) return picture(`data:${type};base64,${data[type]}`, data["text/plain"]);
    return lines(make("pre", { textContent: `${data["text/plain"] ?? ""}\n` }), "text_plain");
  }

  html(data) {
    const element = make("div", { className: "output text_html", innerHTML: data["text/html"] });
    const row = element.querySelector(":scope > .claim");
    if (row) row.id = this.address(data[CLAIM]?.sentence);
    return element;
  }

  // The chart that the page has is moved to wherever it is to be seen, with what the reader has set.
  chart(spec) {
    const box = make("div");
    const its = this.stored?.querySelector(".chart") ?? this.moved?.chart;
    if (chart(box, spec, its && this.told.chart)) this.moved = { chart: its, box };
    return box;
  }

  // Show the output as it came with the page, or what has come since.
  show(stored) {
    this.element.hidden = stored;
    if (this.stored) this.stored.hidden = !stored;
    if (this.moved) (stored ? this.stored : this.moved.box).append(this.moved.chart);
  }

  // A claim keeps its address as long as its sentence stays (book/_ext/ledger.py).
  address(sentence) {
    const place = this.rows.findIndex((row) => row.querySelector(".claim-sentence").textContent === sentence);
    if (place < 0) return "";
    return this.rows.splice(place, 1)[0].id;
  }
}

function lines(pre, kind) {
  return make("div", { className: `output ${kind}` }, make("div", { className: "highlight" }, pre));
}

// written("1 %\r2 %") is "2 %": what a terminal would show.
export function written(text) {
  return text.replace(COLOURS, "").split("\n").map(overwritten).join("\n");
}

function overwritten(line) {
  let shown = "";
  for (const part of line.split("\r")) shown = part + shown.slice(part.length);
  return shown;
}

// The last line says what went wrong; where, for those who ask.
function failure({ ename, evalue, traceback }) {
  const words = make("p", {}, make("strong", {}, ename), evalue ? `: ${evalue}` : "");
  const where = make("pre", { textContent: written(traceback.join("\n")) });
  const fold = make("details", {}, make("summary", {}, "Where it happened"), where);
  return make("div", { className: "output live-error" }, words, fold);
}

function drawing({ description, ...screens }) {
  const element = make("div", { className: "drawing", innerHTML: screens.wide + screens.narrow });
  for (const [place, screen] of ["wide", "narrow"].entries()) {
    const svg = element.children[place];
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", description);
    svg.dataset.screen = screen;
  }
  return element;
}

// An image of its own, in which the reader's colours are the viewer's, with the words that the build takes.
function figure(svg, { metadata = {} }) {
  const parsed = new DOMParser().parseFromString(svg, FIGURE).documentElement;
  const alt = metadata.mystnb?.image?.alt ?? parsed.querySelector("title")?.textContent ?? "";
  const element = picture(`data:${FIGURE};charset=utf-8,${encodeURIComponent(svg)}`, alt);
  for (const side of ["width", "height"]) element[side] = pixels(parsed.getAttribute(side));
  return element;
}

// pixels("374.4pt") is 499: an SVG of Matplotlib's is as wide as on paper.
const pixels = (length) => Math.round(parseFloat(length) * (/pt$/.test(length) ? 4 / 3 : 1));

const picture = (src, alt = "") => make("img", { src, alt });
