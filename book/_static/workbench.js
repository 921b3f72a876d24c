// What a reader does with an opened model: type, see where each head looks, switch parts off and on again.
// The model itself is in transformer.js. A script of weights puts what it has into `stored`, by the model's name.

const stored = {};
const MOST_TYPED = 24; // words
const MOST_OFFERED = 8;
const MARKS = { "<padding>": "padding", "<start>": "start", "<end>": "end" };
// What each attention is for, by the end of its name.
const KINDS = { encoder: "reading", decoder: "writing", cross_attention: "looking across", layers: "reading back" };

// make("p", { className: "says" }, "Yes.") is an element with these properties and children.
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const percent = (share) => `${Number((100 * share).toFixed(share < 0.0995 ? 1 : 0))}\u00a0%`;
const quoted = (words) => `“${words}”`;
const listed = (parts) => [parts.slice(0, -1).join(", "), ...parts.slice(-1)].filter(Boolean).join(" and ");
// "the king's Dog." is the, king, 's, dog: the words as the models know them.
const wordsOf = (text) =>
  text.toLowerCase().replace(/[’‘]/g, "'").replace(/'s\b|'/g, " $& ").replace(/[.,!?;]/g, " ").split(/\s+/).filter(Boolean);

function kindOf(place) {
  const [stack, , part] = place.split(".");
  return KINDS[part] ?? KINDS[stack];
}

const placeOf = (place, head) => `head ${head + 1} of layer ${Number(place.split(".")[1]) + 1}`;
const nameOf = (place, head) => `${placeOf(place, head)}, ${kindOf(place)}`;

// What the two workbenches share: the field, the heads, the lines of one of them, and the switches.
class Workbench {
  constructor(playground, data, model) {
    Object.assign(this, { playground, data, model, slim: playground.dataset.form === "slim", asking: 0 });
    this.id = `${playground.dataset.model}-${[...document.querySelectorAll(".playground")].indexOf(playground)}`;
    [this.place, this.head] = data.shown;
    this.known = data.read.filter((word) => /^['a-z]/.test(word)); // neither marks nor the full stop
    this.known.sort((a, b) => (a[0] === "'") - (b[0] === "'") || (a < b ? -1 : 1));
    this.next = 0; // of the texts that are offered
    this.status = playground.querySelector("[role=status]");
  }

  open() {
    const { playground } = this;
    const parts = [this.field(), ...this.answer()];
    if (!this.slim) parts.push(this.switches(), this.heads());
    parts.push(this.attention());
    playground.replaceChildren(...parts, this.status);
    this.status.textContent = "";
    this.offer();
    this.input.focus();
    this.input.setSelectionRange(this.input.value.length, this.input.value.length);
  }

  say(words) {
    this.status.textContent = words;
  }

  // ---- the field, and the words that it knows ----

  field() {
    const id = `${this.id}-text`;
    this.input = make("input", { type: "text", id, autocomplete: "off", spellcheck: false, autocapitalize: "off" });
    this.input.setAttribute("aria-describedby", `${this.id}-hint`);
    this.input.oninput = () => this.read();
    const another = make("button", { type: "button", textContent: "Another", onclick: () => this.offer() });
    another.setAttribute("aria-label", `Another ${this.offered}`);
    this.offers = make("div", { className: "offers" });
    this.hint = make("p", { className: "hint", id: `${this.id}-hint` });
    const label = make("label", { htmlFor: id, textContent: this.asks });
    // Tab leads from the field to the words that it offers.
    return make("div", { className: "ask" }, label, this.input, make("div", {}, this.offers, this.hint), another);
  }

  offer() {
    this.input.value = `${this.data.offered[this.next++ % this.data.offered.length]} `;
    this.read();
  }

  // What is typed, if all of it is known; else the hint says what is not.
  read() {
    const words = wordsOf(this.input.value);
    const ended = /\s$/.test(this.input.value) || !words.length;
    const last = ended ? "" : words.at(-1);
    const beginning = last ? this.known.filter((word) => word.startsWith(last) && word !== last) : [];
    const offered = beginning.slice(0, MOST_OFFERED);
    this.offers.replaceChildren(...offered.map((word) => this.chip(word)));
    const strange = words.find((word) => !this.known.includes(word) && !(word === last && beginning.length));
    this.hint.textContent = "";
    if (strange) {
      const near = this.known.filter((word) => word[0] === strange[0]);
      const some = near.length ? `with ${strange[0]} it knows ${listed(near)}` : `it knows ${listed(this.known)}`;
      this.hint.textContent = `The model has not met ${quoted(strange)}: ${some}.`;
    } else if (words.length > MOST_TYPED) this.hint.textContent = `${MOST_TYPED} words are the most here.`;
    else if (!offered.length) this.hint.textContent = `It knows ${this.known.length} words: ${this.known.join(" ")}.`;
    if (this.hint.textContent && strange) this.say(this.hint.textContent);
    if (!words.every((word) => this.known.includes(word)) || words.length > MOST_TYPED) return;
    this.words = words;
    this.asking = null;
    this.run();
  }

  chip(word) {
    const put = () => {
      this.input.value = `${[...wordsOf(this.input.value).slice(0, -1), word].join(" ")} `;
      this.input.focus();
      this.read();
    };
    return make("button", { type: "button", textContent: word, onclick: put });
  }

  // ---- switches ----

  switches() {
    this.box = { head: this.tick(""), mask: this.tick("the mask"), positions: this.tick("the positions") };
    this.box.head.input.onchange = ({ target }) => {
      const { off } = this.model.switches;
      off[target.checked ? "add" : "delete"](`${this.place} ${this.head}`);
      this.run();
    };
    for (const part of ["mask", "positions"])
      this.box[part].input.onchange = ({ target }) => {
        this.model.switches[part] = !target.checked;
        this.run();
      };
    this.reset = make("button", { type: "button", textContent: "All on again" });
    this.reset.onclick = () => {
      Object.assign(this.model.switches, { off: new Set(), mask: true, positions: true });
      this.run();
      this.box.head.input.focus(); // the button that was pressed is gone
    };
    const boxes = Object.values(this.box).map(({ label }) => label);
    return make("fieldset", { className: "switches" }, make("legend", {}, "Without"), ...boxes, this.reset);
  }

  tick(words) {
    const input = make("input", { type: "checkbox" });
    const text = make("span", { textContent: words });
    return { input, text, label: make("label", {}, input, text) };
  }

  // "head 2 of layer 1, reading" and so on: what is off now.
  get off() {
    const { off, mask, positions } = this.model.switches;
    const heads = [...off].map((name) => nameOf(name.split(" ")[0], Number(name.split(" ")[1])));
    const parts = heads.length > 2 ? [`${heads.length} heads`] : heads;
    return listed([...parts, ...(mask ? [] : ["the mask"]), ...(positions ? [] : ["positions"])]);
  }

  // What `compute` gives with everything on.
  whole(compute) {
    const { switches } = this.model;
    this.model.switches = { off: new Set(), mask: true, positions: true };
    const result = compute();
    this.model.switches = switches;
    return result;
  }

  // ---- all heads, small ----

  heads() {
    this.maps = new Map();
    const rows = this.places.map((places, row) => {
      const layers = Array.from({ length: this.data.layers }, (_, layer) => {
        const place = places.replace("*", layer);
        const buttons = Array.from({ length: this.data.heads }, (_, head) => this.map(place, head));
        const title = row ? [] : [make("span", { textContent: `layer ${layer + 1}` })];
        return make("div", { className: "layer" }, ...title, ...buttons);
      });
      return make("div", { className: "kind" }, make("span", { textContent: kindOf(places) }), ...layers);
    });
    const group = make("div", { className: "heads", role: "group" }, ...rows);
    group.ariaLabel = "Which head to look at";
    return group;
  }

  map(place, head) {
    const button = make("button", { type: "button" });
    button.onclick = () => {
      Object.assign(this, { place, head, asking: null });
      this.show();
      this.say(this.looks);
    };
    this.maps.set(button, { place, head });
    return button;
  }

  // A square for each weight, in five strengths.
  showMaps() {
    for (const [button, { place, head }] of this.maps) {
      const weights = this.weights(place)[head];
      const strengths = [0.1, 0.3, 0.5, 0.7, 0.9];
      const paths = strengths.map(() => "");
      weights.forEach((row, i) =>
        row.forEach((weight, j) => {
          if (weight > 0.03) paths[Math.min(4, Math.floor(5 * weight))] += `M${j} ${i}h1v1h-1z`;
        }),
      );
      const squares = paths.map((d, strength) => draw("path", { d, "fill-opacity": strengths[strength] }));
      const box = `0 0 ${weights[0].length} ${weights.length}`;
      const off = this.model.switches.off.has(`${place} ${head}`);
      button.replaceChildren(draw("svg", { viewBox: box, preserveAspectRatio: "none", "aria-hidden": "true" }, ...squares));
      button.classList.toggle("off", off);
      button.ariaPressed = place === this.place && head === this.head;
      button.ariaLabel = `${nameOf(place, head)}${off ? ", off" : ""}`;
    }
  }

  // Which word to show first: one that looks far away from its own place, and hardly anywhere else.
  telling(weights) {
    const far = weights.map((row, i) => {
      const most = Math.max(...row);
      return most ** 2 * Math.abs(row.indexOf(most) - i);
    });
    return far.indexOf(Math.max(...far));
  }

  writes(place) {
    return place.startsWith("decoder");
  }

  // ---- one head: who looks where, and what comes of it ----

  attention() {
    this.askers = make("ol", { className: "asking" });
    this.lines = draw("svg", { preserveAspectRatio: "none", "aria-hidden": "true" });
    this.found = make("ol", { className: "found" });
    this.sentence = make("p", { className: "looks" });
    this.title = make("span");
    const titles = ["looks at", ...(this.slim ? [] : ["weight", "its value"])].map((title) => make("span", {}, title));
    const heads = [make("div", {}, this.title), make("div"), make("div", {}, ...titles)];
    const table = make("div", { className: "attention" }, ...heads, this.askers, this.lines, this.found);
    return make("div", {}, this.sentence, table);
  }

  // The weights of this attention, [head][query][key], as they were in the run that is shown.
  weights(place) {
    return this.trace[`${place}.weights`];
  }

  show() {
    const { place, head } = this;
    const weights = this.weights(place)[head];
    const [askers, found] = this.labels(place);
    const asking = (this.asking = Math.min(this.asking ?? this.telling(weights), askers.length - 1));
    const height = Math.max(weights.length, weights[0].length);
    this.askers.replaceChildren(
      ...askers.map((word, i) => {
        const choose = () => {
          this.asking = i;
          this.show();
          this.askers.children[i].firstChild.focus();
          this.say(this.looks);
        };
        const button = make("button", { type: "button", textContent: word, onclick: choose });
        button.ariaPressed = i === asking;
        button.classList.toggle("mark", Object.values(MARKS).includes(word));
        return make("li", {}, button);
      }),
    );
    const order = weights.map((_, i) => i).sort((a, b) => (a === asking) - (b === asking)); // the chosen on top
    this.lines.setAttribute("viewBox", `0 0 100 ${height}`);
    this.lines.style.height = `calc(${height} * var(--row))`;
    this.lines.replaceChildren(
      ...order.flatMap((i) =>
        [...weights[i]].map((weight, j) => {
          if (weight < 0.03) return "";
          const d = `M0 ${i + 0.5}C50 ${i + 0.5} 50 ${j + 0.5} 100 ${j + 0.5}`;
          const chosen = i === asking;
          const opacity = chosen ? 0.25 + 0.75 * weight : 0.05 + 0.3 * weight;
          return draw("path", { d, class: chosen ? "chosen" : "", "stroke-width": 1 + 5 * weight, "stroke-opacity": opacity });
        }),
      ),
    );
    const values = this.share(`${place}.values`);
    const mix = this.share(`${place}.mixed`)[asking];
    const largest = Math.max(...values.flatMap((vector) => [...vector].map(Math.abs)), 1e-9);
    const rows = found.map((word, j) => {
      const weight = weights[asking][j];
      const item = make("li", {}, make("span", { textContent: word, className: Object.values(MARKS).includes(word) ? "mark" : "" }));
      if (!this.slim) item.append(make("span", { textContent: percent(weight) }), bars(values[j], largest, weight));
      else if (weight > 0.03) item.append(make("span", { textContent: percent(weight) }));
      return item;
    });
    if (!this.slim) {
      const mixed = make("span", { textContent: "the mix" });
      rows.push(make("li", { className: "mix" }, mixed, make("span"), bars(mix, largest, 1)));
    }
    this.found.replaceChildren(...rows);
    const most = [...weights[asking]].map((weight, j) => [weight, quoted(found[j])]).sort(([a], [b]) => b - a);
    const seen = most.slice(0, 2).filter(([weight], i) => i === 0 || weight > 0.05);
    const off = this.model.switches.off.has(`${place} ${head}`) ? " It is off: nothing comes of that." : "";
    const doing = this.writes(place) ? "written" : "read";
    const shares = listed(seen.map(([weight, word]) => `${word} (${percent(weight)})`));
    const who = this.slim ? "the model" : placeOf(place, head);
    this.looks = `While ${quoted(askers[asking])} is ${doing}, ${who} looks at ${shares}.${off}`;
    this.sentence.textContent = this.looks;
    this.title.textContent = this.writes(place) ? "writes" : "reads";
    if (this.slim) return;
    this.box.head.text.textContent = `this head (${nameOf(place, head)})`;
    this.box.head.input.checked = Boolean(off);
    for (const part of ["mask", "positions"]) this.box[part].input.checked = !this.model.switches[part];
    this.reset.classList.toggle("unneeded", !this.off);
    this.showMaps();
  }

  // Of each vector the numbers that belong to the chosen head.
  share(name) {
    const [start, end] = [this.head, this.head + 1].map((head) => (head * this.trace[name][0].length) / this.data.heads);
    return this.trace[name].map((vector) => vector.subarray(start, end));
  }
}

// The numbers of a vector, up from a line or down from it.
function bars(vector, largest, strength) {
  const each = [...vector].map((number, i) => {
    const long = Math.abs(number) / largest;
    return draw("rect", { x: i + 0.1, y: number > 0 ? -long : 0, width: 0.8, height: long });
  });
  const box = { viewBox: `0 -1 ${vector.length} 2`, preserveAspectRatio: "none", "aria-hidden": "true" };
  return draw("svg", { ...box, class: "vector", "fill-opacity": 0.2 + 0.8 * strength }, ...each);
}

class TranslatorBench extends Workbench {
  asks = "A sentence in English";
  offered = "sentence";
  places = ["encoder.*.self_attention", "decoder.*.self_attention", "decoder.*.cross_attention"];

  answer() {
    this.translation = make("strong", { translate: false });
    this.change = make("p", { className: "change" });
    const says = make("p", { className: "says" }, "In Lingo: ", this.translation);
    return this.slim ? [says] : [says, this.change];
  }

  run() {
    const { model, data } = this;
    const source = [...this.words.map((word) => data.read.indexOf(word)), data.end];
    const translate = () => model.translate(source, data.start, data.end, data.longest).map((id) => data.written[id]);
    const before = this.whole(translate);
    this.written = this.off ? translate() : before;
    this.trace = { ...model.trace };
    const text = (words) => words.filter((word) => !(word in MARKS)).join(" ");
    const [now, then] = [text(this.written), text(before)];
    this.translation.textContent = now;
    const became = now === then ? "the translation stays as it is" : `the translation becomes ${quoted(now)}; it was ${quoted(then)}`;
    this.change.textContent = this.off ? `Without ${this.off}, ${became}.` : "All of it is on. Switch a part off, and see what becomes of this.";
    this.say(this.off ? this.change.textContent : `In Lingo: ${now}.`);
    this.show();
  }

  labels(place) {
    const name = (word) => MARKS[word] ?? word;
    const read = [...this.words, "end"];
    const written = this.written.map(name);
    if (place.startsWith("encoder")) return [read, read];
    return [written, place.endsWith("cross_attention") ? read : ["start", ...written.slice(0, -1)]];
  }
}

class LanguageModelBench extends Workbench {
  asks = "A sentence begins";
  offered = "beginning";
  places = ["layers.*.self_attention"];
  temperature = 1;
  tally = { right: 0, all: 0 };

  answer() {
    const titles = ["next word", "", "model", "grammar"].map((title) => make("th", { scope: "col", textContent: title }));
    this.likely = make("tbody");
    const table = make("table", { className: "next" }, make("thead", {}, make("tr", {}, ...titles)), this.likely);
    this.change = make("p", { className: "change" });
    const id = `${this.id}-temperature`;
    const slider = make("input", { type: "range", id, min: 0.1, max: 2, step: 0.1, value: 1 });
    const value = make("span", { textContent: "1" });
    slider.oninput = () => {
      this.temperature = Number(slider.value);
      value.textContent = slider.value;
      this.run();
    };
    const write = make("button", { type: "button", textContent: "Write on", onclick: () => this.write() });
    this.sample = make("p", { className: "sample", textContent: "“Write on” draws word after word by these chances." });
    const label = make("label", { htmlFor: id, textContent: "temperature" });
    return [table, this.change, make("div", { className: "draw" }, label, slider, value, write), this.sample];
  }

  logits(words) {
    const { start, read } = this.data;
    return this.model.forward([start, ...words.map((word) => read.indexOf(word))]).at(-1);
  }

  // The words that the grammar allows next, each with its chance; or what is wrong with the words before.
  allowed(words) {
    let state = 0;
    for (const [place, word] of words.entries()) {
      const options = this.data.grammar[state] ?? {};
      if (!(word in options)) return { fault: `word ${place + 1}, ${quoted(word)}, can't stand there` };
      state = options[word][1];
    }
    return { chances: Object.fromEntries(Object.entries(this.data.grammar[state] ?? {}).map(([word, [chance]]) => [word, chance])) };
  }

  run() {
    const { read } = this.data;
    const next = () => softmax(this.logits(this.words));
    const before = this.whole(next);
    const now = softmax(this.logits(this.words), this.temperature);
    this.trace = { ...this.model.trace };
    const { chances, fault } = this.allowed(this.words);
    const likeliest = [...now.keys()].sort((a, b) => now[b] - now[a]).slice(0, MOST_OFFERED);
    const largest = Math.max(...likeliest.map((id) => Math.max(now[id], chances?.[read[id]] ?? 0)));
    this.likely.replaceChildren(...likeliest.map((id) => this.bar(read[id], now[id], chances?.[read[id]] ?? 0, largest)));
    const total = (shares) => read.reduce((sum, word, id) => sum + (chances && word in chances ? shares[id] : 0), 0);
    const top = [...before.keys()].sort((a, b) => Math.abs(now[b] - before[b]) - Math.abs(now[a] - before[a]))[0];
    const parts = [
      this.off && `Without ${this.off}${this.temperature === 1 ? "" : `, at temperature ${this.temperature}`}, `,
      !this.off && this.temperature !== 1 && `At temperature ${this.temperature} `,
      (this.off || this.temperature !== 1) && `${quoted(read[top])} goes from ${percent(before[top])} to ${percent(now[top])}. `,
      fault
        ? `The grammar has no such beginning: ${fault}.`
        : `To words that the grammar allows here it gives ${percent(total(now))}${this.off || this.temperature !== 1 ? `, and before ${percent(total(before))}` : ""}.`,
    ];
    this.change.textContent = parts.filter(Boolean).join("");
    this.say(`Likeliest next: ${listed(likeliest.slice(0, 3).map((id) => `${read[id]} ${percent(now[id])}`))}. ${this.change.textContent}`);
    this.show();
  }

  bar(word, share, chance, largest) {
    const put = () => {
      if (word === this.data.read[this.data.end]) return;
      this.input.value = `${[...this.words, word].join(" ")} `;
      this.read();
      this.likely.querySelector("button").focus();
    };
    const fill = make("i");
    const tick = make("b");
    fill.style.width = `${(100 * share) / largest}%`;
    tick.style.left = `${(100 * chance) / largest}%`;
    const button = make("button", { type: "button", textContent: word, onclick: put, disabled: word === "." });
    const cells = [make("th", { scope: "row" }, button), make("td", { className: "bar" }, fill, tick)];
    const numbers = [share, chance].map((number) => make("td", { textContent: percent(number) }));
    return make("tr", {}, ...cells, ...numbers);
  }

  // Draw word after word, by their probabilities at this temperature, until the sentence ends.
  write() {
    const { read, end } = this.data;
    const words = [...this.words];
    while (words.at(-1) !== read[end] && words.length < this.data.longest) {
      const chances = softmax(this.logits(words), this.temperature);
      let left = Math.random();
      words.push(read[chances.findIndex((chance) => (left -= chance) < 0)] ?? read[end]);
    }
    const { fault } = this.allowed(words);
    this.tally.all += 1;
    this.tally.right += !fault;
    const verdict = fault ? `No sentence of the grammar: ${fault}.` : "✓ A sentence of the grammar.";
    const tally = this.tally.all > 1 ? ` So far ${this.tally.right} of ${this.tally.all} were.` : "";
    this.sample.textContent = `${quoted(words.join(" ").replace(/ \.$/, "."))} ${verdict}${tally}`;
    this.say(this.sample.textContent);
  }

  telling(weights) {
    return weights.length - 1; // what comes next is foretold from the last
  }

  labels() {
    const read = ["start", ...this.words];
    return [read, read];
  }
}

function openWorkbench(playground) {
  const data = stored[playground.dataset.model];
  const [Bench, Model] = { Transformer: [TranslatorBench, Transformer], LanguageModel: [LanguageModelBench, LanguageModel] }[data.kind];
  new Bench(playground, data, new Model(data)).open();
}
