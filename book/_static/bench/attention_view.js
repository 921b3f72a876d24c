// The lines of one head: from each word to those that it looks at, with the weights, and what each of them brings for
// one word against another.

const MOST_LINED = 32; // places; of a longer text only those that matter are drawn
const MOST_NEAR = 12; // of them
const A_MARK = /^(start|end|padding|end of text|\(beginning\))$/;

// A bar to the right for the first of two words, to the left for the second.
function signedBar() {
  const middle = draw("path", { d: "M0 -1v12", class: "middle" });
  return stretched("-1 -1 2 12", { class: "signed" }, draw("rect", { y: 0, height: 10 }), middle);
}

function setBar(bar, number, largest) {
  const long = largest ? Math.max(-1, Math.min(1, number / largest)) : 0;
  bar.firstChild.setAttribute("x", Math.min(0, long));
  bar.firstChild.setAttribute("width", Math.abs(long));
}

// Elements stay the same ones, and keep the focus, as long as `words` do.
function stays(element, words, children) {
  const key = JSON.stringify(words);
  if (element.words !== key) element.replaceChildren(...children());
  element.words = key;
}

class AttentionView {
  constructor(bench) {
    Object.assign(this, { bench, slim: bench.slim });
    this.sentence = make("p", { className: "looks" });
    this.title = make("div");
    this.askers = make("ol", { className: "asking", ariaLabel: `Which ${bench.piece} to follow` });
    this.lines = stretched("0 0 100 1", {});
    this.found = make("ol", { className: "found" });
    this.titles = make("div");
    const parts = [this.title, make("div"), this.titles, this.askers, this.lines, this.found];
    this.picture = make("div", { className: "attention" }, ...parts);
    const hint = `Lines: the thicker, the more it looks. Choose a ${bench.piece} on the left to follow its lines.`;
    this.element = make("div", {}, this.sentence, this.picture, make("p", { className: "hint" }, hint));
  }

  // What is shown of the chosen head, at the chosen place.
  get shown() {
    const { stacks, choice, traces, changes } = this.bench;
    const stack = stacks.find(({ name }) => name === choice.stack);
    const part = stack.layers[choice.layer].parts[choice.part];
    const weights = traces[stack.name][part.weights][choice.head];
    const place = Math.min(choice.place, weights.length - 1); // “Reach in” may follow a word of a longer run
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
    this.showTitles(brings, shown.off);
    this.showAskers(askers, queries, place);
    this.showLines(weights, queries, keys, place);
    this.showFound(found, row, keys, brings, shown.off);
    this.sentence.textContent = this.inWords(shown, askers, found, brings);
  }

  showTitles(brings, off) {
    const { vocabulary, rivals } = this.bench;
    const titles = ["looks at", "weight"];
    if (brings) titles.push(`${off ? "would bring" : "brings"} for ${quoted(vocabulary[rivals[0]])}`);
    stays(this.titles, titles, () => titles.map((title) => make("span", {}, title)));
  }

  showAskers(askers, queries, place) {
    const words = queries.map((query) => [query, askers[query]]);
    const focused = this.askers.contains(document.activeElement);
    stays(this.askers, words, () => words.map((each) => make("li", {}, this.asker(...each))));
    for (const [i, query] of queries.entries()) this.askers.children[i].firstChild.ariaPressed = query === place;
    if (focused) this.askers.children[queries.indexOf(place)].firstChild.focus(); // it may be a new one
  }

  asker(place, word) {
    const choose = () => {
      this.bench.choose({ place });
      this.bench.say(this.sentence.textContent);
    };
    const button = make("button", { type: "button", textContent: word, title: word, onclick: choose });
    button.classList.toggle("mark", A_MARK.test(word));
    return button;
  }

  // In five strengths, those of all words and, on top, those of the chosen one.
  showLines(weights, queries, keys, place) {
    const height = Math.max(queries.length, keys.length);
    this.lines.setAttribute("viewBox", `0 0 100 ${height}`);
    this.lines.style.height = `calc(${height} * var(--row))`;
    const paths = Array.from({ length: 10 }, () => "");
    for (const [i, query] of queries.entries())
      for (const [j, key] of keys.entries()) {
        const weight = weights[query][key];
        const strength = Math.min(4, Math.floor(5 * weight)) + (query === place ? 5 : 0);
        if (weight >= 0.03) paths[strength] += `M0 ${i + 0.5}C50 ${i + 0.5} 50 ${j + 0.5} 100 ${j + 0.5}`;
      }
    if (!this.lines.firstChild) this.lines.append(...paths.map((_, number) => strengthLine(number)));
    for (const [number, d] of paths.entries()) this.lines.children[number].setAttribute("d", d);
  }

  // The words that are looked at, each with its weight and what it brings. Below them all others, and all together.
  showFound(found, weights, keys, brings, off) {
    const others = [...weights.keys()].filter((key) => !keys.includes(key));
    const [groups, names] = [keys.map((key) => [key]), keys.map((key) => found[key])];
    const more = (places, name) => [groups.push(places), names.push(name)];
    if (others.length) more(others, `${others.length} others`);
    if (brings) more([...weights.keys()], off ? "it is off" : "together");
    const rows = () => names.map((name, row) => this.foundRow(name, row < keys.length, Boolean(brings)));
    stays(this.found, [names, Boolean(brings)], rows);
    const largest = brings && brings.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
    const sum = (each, places) => places.reduce((total, place) => total + each[place], 0);
    for (const [row, places] of groups.entries()) {
      const [, share, bar, number] = this.found.children[row].children;
      const isLast = brings && row === groups.length - 1;
      share.textContent = isLast ? "" : this.share(sum(weights, places));
      if (!brings) continue;
      const brought = isLast && off ? 0 : sum(brings, places);
      setBar(bar, brought, largest);
      number.textContent = inShort(brought);
    }
  }

  foundRow(name, isWord, brings) {
    const className = isWord && A_MARK.test(name) ? "mark" : "";
    const cells = [make("span", { textContent: name, title: name, className }), make("span")];
    if (brings) cells.push(signedBar(), make("span"));
    return make("li", { className: isWord ? "" : name.endsWith(" others") ? "others" : "mix" }, ...cells);
  }

  // A slim picture says only what its lines show.
  share(weight) {
    return this.slim && weight < 0.03 ? "" : percent(weight);
  }

  inWords({ stack, place, weights, off, head }, askers, found, brings) {
    const { choice, vocabulary, rivals } = this.bench;
    const row = weights[place];
    const asker = wordWords(askers, place);
    const most = heaviest(row, 2, false).filter((key, rank) => rank === 0 || row[key] > 0.05);
    if (!row.some((weight) => weight > 0)) return `${this.when(stack, asker)} it may look nowhere.`;
    const shares = listed(most.map((key) => wordWords(found, key, percent(row[key]))));
    const who = this.slim ? "one of its heads" : `head ${head + 1} of layer ${choice.layer + 1}`;
    const looks = `${this.when(stack, asker)} ${who} looks at ${shares}.`;
    if (off) return `${looks} It is off: what it finds is not used.`;
    if (!brings) return looks;
    const sum = most.reduce((total, key) => total + brings[key], 0);
    const [a, b] = rivals.map((id) => quoted(vocabulary[id]));
    return `${looks} ${most.length > 1 ? "These two bring" : "That brings"} ${withSign(sum)} for ${a} against ${b}.`;
  }

  when(stack, asker) {
    if (stack.name !== "written") return `While ${asker} is read,`;
    // Without the mask a place goes on looking when its word is written, and it is the last look that is shown.
    return this.bench.changes.mask ? `While ${asker} is written,` : `When all is written, from the place of ${asker}`;
  }
}

function strengthLine(number) {
  const weight = 0.1 + 0.2 * (number % 5);
  const [faintest, more] = number < 5 ? [0.05, 0.3] : [0.25, 0.75];
  const attributes = { "stroke-width": 1 + 5 * weight, "stroke-opacity": faintest + more * weight };
  return draw("path", { class: number < 5 ? "" : "chosen", ...attributes });
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
