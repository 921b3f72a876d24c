// Two sentences side by side: what stands inside the model for the second is carried into its run of the first.

const MOST_COLUMNS = 16; // places of a map

class ReachCarry {
  constructor(view) {
    Object.assign(this, { view, second: null, effects: new ReachEffects(this) });
    this.field = this.secondField();
    this.verdict = make("p", { className: "reach-second" });
    this.kinds = view.bench.stacks.flatMap((stack) => {
      const of = { read: " of what is read", written: " of what is written" }[stack.name] ?? "";
      return [
        { stack, words: `the stream${of}`, rows: stationsOf(stack) },
        { stack, words: `one head’s output${of}`, rows: headsOf(stack) },
      ];
    });
    this.kind = this.kinds[0];
    this.what = reachSelect("what is carried over", (which) => {
      this.kind = this.kinds[which];
      this.show();
    });
    this.go = make("button", { type: "button", onclick: () => this.tryAll() });
    this.map = new ReachMap(this);
    this.found = make("p", { className: "reach-found" });
    this.heads = make("button", { type: "button", textContent: "Which head brings it there?", onclick: () => this.tryHeads() });
    const choice = make("div", { className: "reach-choice" }, make("span", {}, "Carry over ", this.what), this.go);
    const hint = "The second sentence differs in a word. Press a cell: what stands there for the second sentence is put in its place in the first, and all that follows is computed with it.";
    const parts = [this.field.element, this.verdict, choice, this.map.element, this.found, this.heads];
    this.element = reachTool(this, "Carry something over from another sentence", hint, ...parts);
  }

  // Where words are known the field is like the first; any other text has a plain one.
  secondField() {
    const { bench } = this.view;
    const common = { id: `${bench.id}-second`, asks: "The second sentence", offered: [""], changed: () => this.read() };
    if (!bench.field) return new ReachText(common);
    const { known, most } = bench.field;
    return new bench.field.constructor({ ...common, known, most, kind: "second sentence" });
  }

  // ---- the second sentence ----

  // An address may have brought a second sentence along.
  show() {
    const { bench } = this.view;
    const key = JSON.stringify(bench.input);
    if (key !== this.firstKey) {
      const given = this.firstKey === undefined && bench.otherText;
      this.firstKey = key;
      this.field.offered = this.neighbours();
      this.field.next = 0;
      if (given) return this.field.put(given);
      if (!this.own) return this.suggest();
    }
    if (this.second?.key !== this.key) return this.compute();
    return this.draw();
  }

  suggest() {
    this.suggesting = true;
    this.field.offer();
    this.suggesting = false;
  }

  neighbours() {
    const { field, stacks, data, typedText } = this.view.bench;
    if (!field) return [exchanged(typedText)];
    const near = neighbourOf(field.words, data.read, stacks.length > 1);
    return [field.most ? near.join("") : text(near), ...field.offered];
  }

  // What is typed stays when the first sentence changes; what was suggested does not.
  read() {
    this.own = !this.suggesting;
    return this.compute();
  }

  // What the model is given, or null where there is nothing.
  get input() {
    const { words, input } = this.field;
    const { bench } = this.view;
    if (!words) return bench.inputOfText(input.value);
    return words.length ? bench.inputOf(words) : null;
  }

  get key() {
    return JSON.stringify(this.input);
  }

  async compute() {
    const { bench } = this.view;
    const { input, key } = this;
    this.effects.stop();
    if (input === null) {
      this.second = null;
      return this.view.show();
    }
    const run = await bench.compute(input);
    if (!run || this.key !== key) return undefined; // another is being read
    this.second = { ...run, key, input };
    bench.otherText = this.field.input.value.trim();
    this.follow();
    return this.view.show();
  }

  // If the two sentences agree on what is followed, something is followed on which they differ: the first word that is
  // written otherwise, and of all words those two whose chances differ most.
  follow() {
    const { bench, voice } = this.view;
    const odds = (logits) => oddsOf(logits, bench.rivals);
    if (this.answer && odds(bench.plainLogits[this.view.place]) * odds(this.answer) < 0) return;
    const last = bench.plainLogits.length - 1;
    const place = bench.stacks.length > 1 ? bench.plainResult.findIndex((id, i) => id !== this.second.result[i]) : last;
    if (place < 0 || place > last) return;
    Object.assign(bench.choice, { stack: voice.name, place });
    if (!this.answer || !differs(this.answer, bench.plainLogits[place])) return;
    const [now, then] = [softmax(bench.plainLogits[place]), softmax(this.answer)];
    const most = (a, b) => likeliest(a.map((chance, id) => chance - b[id]), 1)[0];
    Object.assign(bench, { picked: true, rivals: [most(now, then), most(then, now)] });
  }

  // The words at the places of a run with everything on: of the first sentence, and of the second.
  labels(stack, { input, result }) {
    const { data, vocabulary } = this.view.bench;
    if (stack === "read") return input.map((id) => shown(data.read[id]));
    return (stack === "written" ? [data.start, ...result.slice(0, -1)] : input).map((id) => vocabulary[id]);
  }

  get first() {
    const { input, plainResult, plainTraces, plainLogits } = this.view.bench;
    return { input, result: plainResult, traces: plainTraces, logits: plainLogits };
  }

  // For each place of the first sentence the one of the second that goes with it.
  pairs(stack) {
    const { firstKey, second } = this;
    if (this.paired?.firstKey !== firstKey || this.paired.second !== second) this.paired = { firstKey, second };
    return (this.paired[stack] ??= pairedPlaces(this.labels(stack, this.first), this.labels(stack, second)));
  }

  // The logits of the second sentence where the answer is followed, as far as it is looked at.
  get answer() {
    if (!this.second || !this.element.open) return undefined;
    const { voice, place } = this.view;
    return this.second.logits[this.pairs(voice.name)[place]];
  }

  // ---- what is carried ----

  draw() {
    fillSelect(this.what, this.kinds.map(({ words }, which) => [which, words]), this.kinds.indexOf(this.kind));
    const { bench } = this.view;
    const known = this.second !== null;
    this.verdict.textContent = known ? this.inWords() : "Type a second sentence, or press “Another”.";
    for (const part of [this.go.parentElement, this.map.element, this.found, this.heads]) part.hidden = !known;
    if (!known) return;
    const { stack, rows } = this.kind;
    const columns = this.columns();
    this.effects.begin();
    const labels = this.labels(stack.name, this.first);
    // At all places a head's output can be carried where both sentences have as many.
    const all = rows[0].heads && this.labels(stack.name, this.second).length === labels.length;
    this.map.draw({ stack: stack.name, second: this.second.key, rows, columns, labels, all });
    this.found.textContent = columns.length ? this.effects.inWords(rows, columns, labels) : "Up to the answer that is followed, both are the same: there is nothing to carry.";
    this.go.hidden = !columns.length;
    this.heads.hidden = !this.found.textContent || rows[0].heads || !this.effects.moved;
    this.go.textContent = `Try all ${this.map.cells.length}: which carries the difference?`;
  }

  // What came of both sentences.
  inWords() {
    const { bench } = this.view;
    if (bench.stacks.length > 1) return `It becomes ${quoted(text(this.second.result.map((id) => bench.data.written[id])))}.`;
    const likely = (logits) => {
      const chances = softmax(logits);
      return listed(likeliest(chances, 2).map((id) => `${quoted(bench.vocabulary[id])} (${percent(chances[id])})`));
    };
    return `Likeliest next: ${likely(this.second.logits.at(-1))}; for the first sentence ${likely(bench.plainLogits.at(-1))}.`;
  }

  // The places at which something differs, up to the answer that is followed. In between many are left out.
  columns() {
    const { stack, rows } = this.kind;
    const pairs = this.pairs(stack.name);
    const last = stack === this.view.voice ? this.view.place : Infinity;
    const places = [...pairs.keys()].filter((place) => place <= last && pairs[place] >= 0);
    const different = places.filter((place) => rows.some((row) => this.differs(row, place, pairs[place])));
    if (different.length <= MOST_COLUMNS) return different;
    return [different[0], ...different.slice(1 - MOST_COLUMNS)];
  }

  differs(row, place, from) {
    const share = ({ traces }, place) => shareOf(traces[this.kind.stack.name][row.name][place], row);
    return differs(share(this.first, place), share(this.second, from));
  }

  // All that one press carries: from one place, or from all of them.
  spots(row, place) {
    const stack = this.kind.stack.name;
    const pairs = this.pairs(stack);
    const places = place === "all" ? [...pairs.keys()].filter((each) => pairs[each] >= 0) : [place];
    return places.map((each) => carriedTo(each, pairs[each], row, stack, this.second.traces));
  }

  isCarried(row, place) {
    const { carried } = this.view.bench.changes;
    if (!carried.length) return false;
    return this.spots(row, place).every((spot) => carried.some((each) => isSameSpot(each, spot) && !differs(each.vector, spot.vector)));
  }

  // Only into the sentence for which it was meant: another has other places.
  press(row, place) {
    const { bench } = this.view;
    const { firstKey } = this;
    const spots = this.spots(row, place);
    const put = !this.isCarried(row, place);
    const deed = (changes) => {
      if (JSON.stringify(bench.input) !== firstKey) return;
      changes.carried = changes.carried.filter((each) => !spots.some((spot) => isSameSpot(each, spot)));
      if (put) changes.carried.push(...spots);
    };
    return this.view.change(deed, `${this.map.spotInWords(row, place)} ${put ? "carried over" : "no longer carried over"}`);
  }

  // Pressed again, it stops.
  async tryAll() {
    if (this.effects.turn) return this.effects.stop();
    const { cells } = this.map;
    const done = await this.effects.all(cells, (count, cell) => {
      this.map.fill(cell);
      this.go.textContent = `Stop (${count} of ${cells.length})`;
    });
    this.draw();
    if (done) this.view.bench.say(this.found.textContent);
  }

  // From the stream to the heads that write into it.
  tryHeads() {
    this.kind = this.kinds[this.kinds.indexOf(this.kind) + 1];
    this.draw();
    this.go.focus(); // the button that was pressed is gone
    return this.tryAll();
  }
}

// A field for a text of any kind.
class ReachText {
  constructor({ id, asks, changed }) {
    Object.assign(this, { changed, offered: [""] });
    this.input = make("textarea", { id: `${id}-text`, rows: 2, maxLength: 1000, spellcheck: false, autocapitalize: "off" });
    this.input.oninput = changed;
    this.element = make("div", { className: "begins" }, make("label", { htmlFor: this.input.id, textContent: asks }), this.input);
  }

  offer() {
    return this.put(this.offered[0]);
  }

  put(text) {
    this.input.value = text;
    return this.changed();
  }
}

// In a docstring, a word with another in its place.
const EXCHANGES = [["number", "list"], ["list", "number"], ["x :", "G :"], ["error", "array"], ["numpy", "networkx"], ["the", "a"]];
const exchanged = (text) => text.replace(...(EXCHANGES.find(([one]) => text.includes(one)) ?? ["", ""]));
