// The lines of one head: from each word to those that it looks at, with the weights, and what each of them brings for one
// word against another. How a head, an attention and a number are told in words is here, too.

const MOST_LINED = 32; // places; of a longer text only those that matter are drawn
const MOST_NEAR = 12; // of them
const LOOKS_BY = { read: "reading", written: "writing", text: "reading back" };
const A_MARK = /^(start|end|padding|end of text)$/;

const lookingWords = (stack, part) => (part.cross ? "looking across" : LOOKS_BY[stack.name]);
const layerWords = (stack, layer, part) => `layer ${layer + 1} (${lookingWords(stack, stack.layers[layer].parts[part])})`;
const headWords = (stack, { layer, part, head }) => `head ${head + 1} of ${layerWords(stack, layer, part)}`;
const allHeadsWords = (stack, { layer, part }) =>
  `all ${stack.layers[layer].parts[part].heads} heads of ${layerWords(stack, layer, part)}`;

// +3.12, −0.05: a real minus, and a sign before whatever is not zero.
function withSign(number, digits = 2) {
  const text = Math.abs(number).toFixed(digits);
  return `${Number(text) === 0 ? "" : number > 0 ? "+" : "−"}${text}`;
}

// A chance that is there, but rounds to nothing, is said to be small.
const chanceWords = (chance) => (chance < 0.0005 ? "<\u202f0.1\u00a0%" : percent(chance));

// A bar to the right for the first of two words, to the left for the second.
function signedBar(number, largest) {
  const long = largest ? Math.max(-1, Math.min(1, number / largest)) : 0;
  const bar = draw("rect", { x: Math.min(0, long), y: 0, width: Math.abs(long), height: 10 });
  const middle = draw("path", { d: "M0 -1v12", class: "middle" });
  return stretched("-1 -1 2 12", { class: "signed" }, bar, middle);
}

// Which place to show first: one that looks far away from its own, and hardly anywhere else.
function tellingPlace(weights) {
  const far = weights.map((row, i) => {
    const most = row.reduce((largest, weight) => Math.max(largest, weight), 0);
    return most ** 2 * Math.abs(row.indexOf(most) - i);
  });
  return far.indexOf(Math.max(...far));
}

class AttentionView {
  constructor(bench, slim = false) {
    Object.assign(this, { bench, slim });
    this.sentence = make("p", { className: "looks" });
    this.title = make("div");
    this.askers = make("ol", { className: "asking", ariaLabel: "Which word to follow" });
    this.lines = stretched("0 0 100 1", {});
    this.found = make("ol", { className: "found" });
    this.titles = make("div");
    const parts = [this.title, make("div"), this.titles, this.askers, this.lines, this.found];
    this.picture = make("div", { className: "attention" }, ...parts);
    const hint = make("p", { className: "hint" }, "Lines: the thicker, the more it looks. Choose a word on the left to follow its lines.");
    this.element = make("div", {}, this.sentence, this.picture, hint);
  }

  // What is shown of the chosen head, at the chosen place.
  get shown() {
    const { stacks, choice, traces, changes } = this.bench;
    const stack = stacks.find(({ name }) => name === choice.stack);
    const part = stack.layers[choice.layer].parts[choice.part];
    const weights = traces[stack.name][part.weights][choice.head];
    const place = Math.min(choice.place ?? tellingPlace(weights), weights.length - 1);
    const off = changes.off.has(`${part.attention} ${choice.head}`);
    return { stack, part, weights, place, off, head: choice.head };
  }

  // What each place brings, where the head writes to where words are said.
  get brings() {
    const { model, stacks, traces, rivals, choice } = this.bench;
    const { stack, place } = this.shown;
    if (this.slim || !stack.head || !rivals) return null;
    return brought(model, stacks, traces, place, rivals, choice);
  }

  show() {
    const shown = this.shown;
    const { stack, part, weights, place } = shown;
    const [askers, found] = [this.bench.asked(stack.name), this.bench.labels(part.memory)];
    const brings = this.brings;
    const queries = weights.length > MOST_LINED ? around(place, weights.length) : [...weights.keys()];
    const row = weights[place];
    const keys = row.length > MOST_LINED ? heaviest(row) : [...row.keys()];
    this.picture.classList.toggle("brings", Boolean(brings));
    this.title.textContent = stack.name === "written" ? "writes" : "reads";
    this.showTitles(brings);
    this.showAskers(askers, queries, place);
    this.showLines(weights, queries, keys, place);
    this.showFound(found, row, keys, brings, shown.off);
    this.sentence.textContent = this.inWords(shown, askers, found, brings);
  }

  showTitles(brings) {
    const { vocabulary, rivals } = this.bench;
    const cell = (...parts) => make("span", {}, ...parts);
    const titles = [cell("looks at"), cell("weight")];
    if (brings) titles.push(cell(`brings for ${quoted(vocabulary[rivals[0]])}`));
    this.titles.replaceChildren(...titles);
  }

  showAskers(askers, queries, place) {
    const items = queries.map((query) => make("li", {}, this.asker(askers[query], query, query === place)));
    const focused = this.askers.contains(document.activeElement);
    this.askers.replaceChildren(...items);
    if (focused) this.askers.children[queries.indexOf(place)].firstChild.focus(); // it is a new one
  }

  asker(word, place, chosen) {
    const choose = () => {
      this.bench.choose({ place });
      this.bench.say(this.sentence.textContent);
    };
    const button = make("button", { type: "button", textContent: word, onclick: choose, ariaPressed: chosen });
    button.classList.toggle("mark", A_MARK.test(word));
    return button;
  }

  // The chosen word's lines lie on top.
  showLines(weights, queries, keys, place) {
    const height = Math.max(queries.length, keys.length);
    this.lines.setAttribute("viewBox", `0 0 100 ${height}`);
    this.lines.style.height = `calc(${height} * var(--row))`;
    const lines = queries.flatMap((query, i) => {
      const chosen = query === place;
      const [faintest, more] = chosen ? [0.25, 0.75] : [0.05, 0.3];
      return keys.map((key, j) => ({
        d: `M0 ${i + 0.5}C50 ${i + 0.5} 50 ${j + 0.5} 100 ${j + 0.5}`,
        class: chosen ? "chosen" : "",
        "stroke-width": weights[query][key] < 0.03 ? 0 : 1 + 5 * weights[query][key],
        "stroke-opacity": faintest + more * weights[query][key],
      }));
    });
    lines.sort((a, b) => a.class.length - b.class.length);
    const seen = lines.filter((line) => line["stroke-width"]);
    this.lines.replaceChildren(...seen.map((line) => draw("path", line)));
  }

  // The words that are looked at, each with its weight and what it brings; what there are more, and all together, below.
  showFound(found, weights, keys, brings, off) {
    const largest = brings && Math.max(...brings.map(Math.abs));
    const row = (word, weight, brought, className = "") => {
      const cells = [make("span", { textContent: word, className: A_MARK.test(word) ? "mark" : "" }), make("span", {}, weight)];
      if (brings) cells.push(signedBar(brought, largest), make("span", {}, withSign(brought)));
      return make("li", { className }, ...cells);
    };
    const sum = (each, places) => places.reduce((sum, place) => sum + each[place], 0);
    const rows = keys.map((key) => row(found[key], this.share(weights[key]), brings?.[key] ?? 0));
    const others = [...weights.keys()].filter((key) => !keys.includes(key));
    if (others.length) rows.push(row(`${others.length} others`, this.share(sum(weights, others)), brings ? sum(brings, others) : 0, "others"));
    if (brings) {
      const total = sum(brings, [...weights.keys()]);
      const last = row(off ? "off: 0, not" : "together", "", total, "mix");
      rows.push(last);
    }
    this.found.replaceChildren(...rows);
  }

  // A slim picture says only what its lines show.
  share(weight) {
    return this.slim && weight < 0.03 ? "" : percent(weight);
  }

  inWords({ stack, place, weights, off, head }, askers, found, brings) {
    const { choice, vocabulary, rivals } = this.bench;
    const row = weights[place];
    const most = heaviest(row, 2, false).filter((key, rank) => rank === 0 || row[key] > 0.05);
    if (!row.some((weight) => weight > 0)) return `${this.when(stack, quoted(askers[place]))} it may look nowhere.`;
    const shares = listed(most.map((key) => `${quoted(found[key])} (${percent(row[key])})`));
    const who = this.slim ? "one of its heads" : `head ${head + 1} of layer ${choice.layer + 1}`;
    const looks = `${this.when(stack, quoted(askers[place]))} ${who} looks at ${shares}.`;
    if (off) return `${looks} It is off: what it finds is not used.`;
    if (!brings) return looks;
    const sum = most.reduce((total, key) => total + brings[key], 0);
    const [a, b] = rivals.map((id) => quoted(vocabulary[id]));
    return `${looks} ${most.length > 1 ? "Together they bring" : "That brings"} ${withSign(sum)} for ${a} against ${b}.`;
  }

  when(stack, asker) {
    if (stack.name !== "written") return `While ${asker} is read,`;
    // Without the mask a place goes on looking when its word is written, and it is the last look that is shown.
    return this.bench.changes.mask ? `While ${asker} is written,` : `When all is written, from the place of ${asker}`;
  }
}

// A few places before and behind one.
function around(place, count) {
  const start = Math.max(0, Math.min(place - MOST_NEAR / 2, count - MOST_NEAR));
  return Array.from({ length: MOST_NEAR }, (_, i) => start + i);
}

// The places that are looked at most, in their order in the text unless the heaviest shall come first.
function heaviest(weights, count = MOST_NEAR, inOrder = true) {
  const keys = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, count);
  return inOrder ? keys.sort((a, b) => a - b) : keys;
}
