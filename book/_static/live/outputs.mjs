// What a cell puts out, as the page's own build shows it (book/_ext: charts.py, drawings.py, figures.py).

import { chart } from "./charts.mjs";
import { Lines, located, many, written } from "./terminal.mjs";

const CLAIM = "application/vnd.attnlab.claim+json";
const DRAWING = "application/vnd.attnlab.drawing+json";
const CHART = "application/vnd.vegalite.v5+json";
const FIGURE = "image/svg+xml";
const MOST = 200; // outputs of a cell

// What scrolls can be reached from the keyboard, and nothing else: each stop costs a Tab.
const scrolling = new ResizeObserver((entries) => {
  for (const { target } of entries)
    if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
});

// make("p", { className: "says" }, "Yes.") is an element with these properties and children.
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// What a cell put out when the page was made, if it did; `told` has its metadata and the numbers of its chart.
export class Stored {
  constructor(element, told) {
    const rows = element?.querySelectorAll(".claim") ?? [];
    this.element = element;
    this.chart = told.chart && { element: element.querySelector(".chart"), spec: told.chart };
    const sentence = (row) => row.querySelector(".claim-sentence").textContent;
    this.claims = Array.from(rows, (row) => ({ row, id: row.id, sentence: sentence(row) }));
    this.alt = told.metadata.mystnb?.image?.alt;
  }
}

// What it puts out now, in its place.
export class Output {
  constructor(stored) {
    this.element = make("div", { className: "cell_output live-output" });
    this.stored = stored;
    this.clear();
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
    this.shown = new Map(); // by the name under which a display may be changed later
    Object.assign(this, { claims: [], text: undefined, count: 0, rest: undefined });
  }

  put(element) {
    this.text = undefined;
    this.count += 1;
    if (this.count > MOST) {
      this.rest ??= this.element.appendChild(make("p", { className: "live-cut" }));
      this.rest.textContent = `… ${many(this.count - MOST, "output")} more`;
      return element;
    }
    this.element.append(element);
    for (const pre of element.querySelectorAll("pre")) scrolling.observe(pre);
    return element;
  }

  // What follows on the same stream goes on in the same lines: a progress bar writes its line anew.
  stream({ name, text }) {
    if (this.text?.name !== name) {
      const pre = make("pre");
      const box = this.put(lines(pre, name === "stderr" ? "stream stderr" : "stream"));
      const about = box.appendChild(make("p", { className: "live-cut" }));
      this.text = { name, all: new Lines(), pre, box, about };
    }
    const { all, pre, box, about } = this.text;
    const isAtEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 1;
    all.add(text);
    pre.textContent = all.text;
    about.textContent = all.about;
    box.hidden = !pre.textContent.trim(); // a bar that has gone leaves nothing
    if (isAtEnd) pre.scrollTop = pre.scrollHeight; // whoever has scrolled back stays there
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
    if (data[FIGURE]) return figure(data[FIGURE], this.stored.alt);
    if (data["text/html"]) return this.html(data);
    for (const type of ["image/png", "image/jpeg"])
      if (data[type]) return picture(`data:${type};base64,${data[type]}`, data["text/plain"]);
    return lines(make("pre", { textContent: written(`${data["text/plain"] ?? ""}\n`) }), "text_plain");
  }

  html(data) {
    const element = make("div", { className: "output text_html", innerHTML: data["text/html"] });
    if (data[CLAIM]) {
      const taken = this.claims.map(({ stored }) => stored);
      const same = ({ sentence }) => sentence === data[CLAIM].sentence;
      const stored = this.stored.claims.find((claim) => same(claim) && !taken.includes(claim));
      this.claims.push({ row: element.firstElementChild, stored });
      this.lay();
    }
    return element;
  }

  chart(spec) {
    const box = make("div");
    if (chart(box, spec, this.stored.chart?.spec)) {
      this.box = box;
      this.lay();
    }
    return box;
  }

  // Show this output, or the stored one.
  show(isStored) {
    this.isStored = isStored;
    this.element.hidden = isStored;
    if (this.stored.element) this.stored.element.hidden = !isStored;
    this.lay();
  }

  // There is one chart for both outputs, with what the reader has set, and one row for each claim's address
  // (book/_ext/ledger.py): they go to the output that is shown.
  lay() {
    if (this.isStored === undefined) return;
    if (this.box) (this.isStored ? this.stored.element : this.box).append(this.stored.chart.element);
    for (const { row, stored } of this.claims) {
      if (!stored) continue;
      const [here, there] = this.isStored ? [stored.row, row] : [row, stored.row];
      there.removeAttribute("id");
      here.id = stored.id;
    }
  }
}

function lines(pre, kind) {
  return make("div", { className: `output ${kind}` }, make("div", { className: "highlight" }, pre));
}

// The last line says what went wrong; where, for those who ask.
function failure({ ename, evalue, traceback }) {
  const words = make("p", {}, make("strong", {}, ename), evalue ? `: ${written(located(ename, evalue))}` : "");
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
function figure(svg, alt) {
  const parsed = new DOMParser().parseFromString(svg, FIGURE).documentElement;
  const words = alt ?? parsed.querySelector("title")?.textContent;
  const element = picture(`data:${FIGURE};charset=utf-8,${encodeURIComponent(svg)}`, words);
  for (const side of ["width", "height"]) element[side] = pixels(parsed.getAttribute(side));
  return element;
}

// pixels("374.4pt") is 499: an SVG of Matplotlib's is as wide as on paper.
const pixels = (length) => Math.round(parseFloat(length) * (/pt$/.test(length) ? 4 / 3 : 1));

const picture = (src, alt = "") => make("img", { src, alt });
