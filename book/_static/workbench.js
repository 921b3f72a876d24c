// What a reader does with an opened model: type, see where each head looks, switch parts off and on again.
// The model itself is in transformer.js, what the page is made with in elements.js.

const MOST_TYPED = 24; // words
const MOST_OFFERED = 8;
const MOST_QUOTED = 10; // words
const MARKS = { "<padding>": "padding", "<start>": "start", "<end>": "end" };
// What each attention is for, by the end of its name.
const KINDS = { encoder: "reading", decoder: "writing", cross_attention: "looking across", layers: "reading back" };

const ending = (words) => (words.length > MOST_QUOTED ? ["…", ...words.slice(-MOST_QUOTED)] : words);
const text = (words) => words.filter((word) => !(word in MARKS)).join(" ");
const shown = (word) => MARKS[word] ?? word;

// "The king’s dog." is the, king, 's, dog: the words as the models know them.
function wordsOf(sentence) {
  const plain = sentence.toLowerCase().replace(/[’‘]/g, "'").replace(/[,;:"“”()…–—]/g, " ");
  return plain.replace(/'s\b|'/g, " $& ").split(/\s+/).filter(Boolean);
}

// Sentences end with a full stop, or what does its work.
const sentencesOf = (typed) => typed.split(/[.!?]/).filter((sentence) => wordsOf(sentence).length);

const isMark = (word) => Object.values(MARKS).includes(word);

function kindOf(place) {
  const [stack, , part] = place.split(".");
  return KINDS[part] ?? KINDS[stack];
}

const layerOf = (place) => `layer ${Number(place.split(".")[1]) + 1}`;
const placeOf = (place, head) => `head ${head + 1} of ${layerOf(place)}`;
const nameOf = (place, head) => `${placeOf(place, head)} (${kindOf(place)})`;

// What both benches (benches.js) share: the field, the heads, the lines of one of them, and the switches.
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
    const words = this.data.offered[this.next++ % this.data.offered.length];
    this.input.value = `${words} `;
    this.read();
    this.say(`${words}. ${this.status.textContent}`);
  }

  // Words are offered for the one that is being typed. One sentence is read, up to the first word that is unknown.
  read() {
    const typed = this.input.value;
    const [first = "", ...more] = sentencesOf(typed);
    const words = wordsOf(first);
    const last = /[^\s.!?]$/.test(typed) && !more.length ? words.at(-1) : undefined;
    const longer = this.known.filter((word) => last && word.startsWith(last) && word !== last);
    const unknown = words.filter((word) => !this.known.includes(word));
    this.words = words.slice(0, Math.min(MOST_TYPED, unknown.length ? words.indexOf(unknown[0]) : Infinity));
    this.half = longer.length && unknown[0] === last ? last : undefined; // it may still become a word
    this.unread = this.notRead(words, unknown[0] === this.half ? undefined : unknown[0], more);
    this.offers.replaceChildren(...longer.slice(0, MOST_OFFERED).map((word) => this.chip(word)));
    const known = longer.length ? "" : `It knows ${this.known.length} words: ${this.known.join(" ")}.`;
    this.hint.textContent = this.unread || known;
    this.asking = null;
    this.run();
    if (this.unread) this.say(this.unread);
  }

  // What of the typed text is left out, and why; nothing where all of it is read.
  notRead(words, strange, more) {
    if (strange) {
      const read = this.words.length ? `Only ${quoted(ending(this.words).join(" ").replace(/ '/g, "'"))}` : "Nothing";
      const near = this.known.filter((word) => word[0] === strange[0]);
      const some = near.length ? `with ${strange[0]} it knows ${listed(near)}` : `it knows ${listed(this.known)}`;
      return `${read} is read. The model has not met ${quoted(strange)}: ${some}.`;
    }
    if (words.length > MOST_TYPED) return `Only the first ${MOST_TYPED} words are read.`;
    return more.length ? "Only the first sentence is read." : "";
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
    const [mask, positions] = [this.tick("the mask"), this.tick("the positions")];
    this.box = { head: this.tick(""), layer: this.tick(""), mask, positions };
    for (const [box, heads] of [["head", () => [this.head]], ["layer", () => this.beside]])
      this.box[box].input.onchange = ({ target }) => {
        const { off } = this.model.switches;
        for (const head of heads()) off[target.checked ? "add" : "delete"](`${this.place} ${head}`);
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

  showSwitches() {
    this.box.head.text.textContent = nameOf(this.place, this.head);
    this.box.head.input.checked = this.isOff(this.place, this.head);
    this.box.layer.text.textContent = `all heads of ${layerOf(this.place)} (${kindOf(this.place)})`;
    this.box.layer.input.checked = this.beside.every((head) => this.isOff(this.place, head));
    for (const part of ["mask", "positions"]) this.box[part].input.checked = !this.model.switches[part];
    this.reset.classList.toggle("unneeded", !this.off);
  }

  // The heads of the layer that is shown, the shown one included.
  get beside() {
    return [...Array(this.data.heads).keys()];
  }

  isOff(place, head) {
    return this.model.switches.off.has(`${place} ${head}`);
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
        const title = row ? [] : [make("span", {}, `layer ${layer + 1}`)];
        return make("div", { className: "layer" }, ...title, ...buttons);
      });
      return make("div", { className: "kind" }, make("span", { textContent: kindOf(places) }), ...layers);
    });
    const group = make("div", { className: "heads", role: "group" }, ...rows);
    group.ariaLabel = "Which head to look at";
    const legend = "A square is a head: a row for each word that looks, a column for each that it may look at.";
    return make("div", {}, group, make("p", { className: "hint" }, `${legend} Choose one, and below it a word.`));
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
      const off = this.isOff(place, head);
      button.replaceChildren(stretched(box, {}, ...squares));
      button.classList.toggle("off", off);
      button.ariaPressed = place === this.place && head === this.head;
      button.ariaLabel = `${nameOf(place, head)}${off ? ", off" : ""}`;
    }
  }

  // ---- one head: who looks where, and what comes of it ----

  attention() {
    this.sentence = make("p", { className: "looks" });
    this.title = make("div");
    const titles = this.slim ? ["looks at"] : ["looks at", "weight", "its value"];
    this.askers = make("ol", { className: "asking", ariaLabel: "Which word to follow" });
    this.lines = stretched("0 0 100 1", {});
    this.found = make("ol", { className: "found" });
    const right = make("div", {}, ...titles.map((title) => make("span", {}, title)));
    const parts = [this.title, make("div"), right, this.askers, this.lines, this.found];
    const picture = make("div", { className: "attention" }, ...parts);
    const hint = make("p", { className: "hint" }, "Choose a word on the left to follow its lines.");
    return make("div", {}, this.sentence, picture, ...(this.slim ? [hint] : []));
  }

  // The weights of this attention in the run that is shown: [head][query][key].
  weights(place) {
    return this.trace[`${place}.weights`];
  }

  // Which word to show first: one that looks far away from its own place, and hardly anywhere else.
  telling(weights) {
    const far = weights.map((row, i) => {
      const most = Math.max(...row);
      return most ** 2 * Math.abs(row.indexOf(most) - i);
    });
    return far.indexOf(Math.max(...far));
  }

  show() {
    const weights = this.weights(this.place)[this.head];
    const [askers, found] = this.labels(this.place);
    this.asking = Math.min(this.asking ?? this.telling(weights), askers.length - 1);
    this.title.textContent = this.place.startsWith("decoder") ? "writes" : "reads";
    this.askers.replaceChildren(...askers.map((word, i) => make("li", {}, this.asker(word, i))));
    this.showLines(weights);
    this.showFound(found, weights[this.asking]);
    this.looks = this.sentence.textContent = this.inWords(askers[this.asking], found, weights[this.asking]);
    if (this.slim) return;
    this.showSwitches();
    this.showMaps();
  }

  asker(word, place) {
    const choose = () => {
      this.asking = place;
      this.show();
      this.askers.children[place].firstChild.focus(); // it is a new one
      this.say(this.looks);
    };
    const button = make("button", { type: "button", textContent: word, onclick: choose });
    button.ariaPressed = place === this.asking;
    button.classList.toggle("mark", isMark(word));
    return button;
  }

  // From each word to those that it looks at: the more, the thicker. The chosen word's lines lie on top.
  showLines(weights) {
    const height = Math.max(weights.length, weights[0].length);
    this.lines.setAttribute("viewBox", `0 0 100 ${height}`);
    this.lines.style.height = `calc(${height} * var(--row))`;
    const lines = weights.flatMap((row, i) => {
      const chosen = i === this.asking;
      const [faintest, more] = chosen ? [0.25, 0.75] : [0.05, 0.3];
      return [...row].map((weight, j) => ({
        d: `M0 ${i + 0.5}C50 ${i + 0.5} 50 ${j + 0.5} 100 ${j + 0.5}`,
        class: chosen ? "chosen" : "",
        "stroke-width": weight < 0.03 ? 0 : 1 + 5 * weight,
        "stroke-opacity": faintest + more * weight,
      }));
    });
    lines.sort((a, b) => a.class.length - b.class.length);
    const seen = lines.filter((line) => line["stroke-width"]);
    this.lines.replaceChildren(...seen.map((line) => draw("path", line)));
  }

  // The words that are looked at, with weights and values, and below them what comes out.
  showFound(found, weights) {
    const cell = (textContent, className = "") => make("span", { textContent, className });
    const names = found.map((word) => cell(word, isMark(word) ? "mark" : ""));
    if (this.slim) {
      const shares = [...weights].map((weight) => cell(weight < 0.03 ? "" : percent(weight)));
      this.found.replaceChildren(...names.map((name, j) => make("li", {}, name, shares[j])));
      return;
    }
    const values = this.share(`${this.place}.values`);
    const mix = this.share(`${this.place}.mixed`)[this.asking];
    const largest = Math.max(...values.flatMap((vector) => [...vector].map(Math.abs)));
    const rows = names.map((name, j) =>
      make("li", {}, name, cell(percent(weights[j])), bars(values[j], largest, weights[j])),
    );
    const last = make("li", { className: "mix" }, cell("the mix"), cell(""), bars(mix, largest, 1));
    this.found.replaceChildren(...rows, last);
  }

  inWords(asker, found, weights) {
    const most = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 2);
    const seen = most.filter((j, place) => place === 0 || weights[j] > 0.05);
    const shares = listed(seen.map((j) => `${quoted(found[j])} (${percent(weights[j])})`));
    const who = this.slim ? "one of its heads" : placeOf(this.place, this.head);
    const off = this.isOff(this.place, this.head) ? " It is off: what it finds is not used." : "";
    return `${this.when(quoted(asker))} ${who} looks at ${shares}.${off}`;
  }

  when(asker) {
    if (!this.place.startsWith("decoder")) return `While ${asker} is read,`;
    // Without the mask a place goes on looking when its word is written, and it is the last look that is shown.
    return this.model.switches.mask ? `While ${asker} is written,` : `When all is written, from the place of ${asker}`;
  }

  // Of each vector the numbers that belong to the chosen head.
  share(name) {
    const vectors = this.trace[name];
    const width = vectors[0].length / this.data.heads;
    return vectors.map((vector) => vector.subarray(this.head * width, (this.head + 1) * width));
  }
}

// The numbers of a vector, up from a line or down from it.
function bars(vector, largest, strength) {
  const each = [...vector].map((number, i) => {
    const long = Math.abs(number) / largest;
    return draw("rect", { x: i + 0.1, y: number > 0 ? -long : 0, width: 0.8, height: long });
  });
  return stretched(`0 -1 ${vector.length} 2`, { class: "vector", "fill-opacity": 0.2 + 0.8 * strength }, ...each);
}
