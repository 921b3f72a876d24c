// Two sentences side by side: what stands inside the model for the second is carried into its run of the first.

const MOST_COLUMNS = 16; // places of a map

class ReachCarry {
  constructor(view) {
    Object.assign(this, { view, second: new ReachSecond(view), effects: new ReachEffects(this) });
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
    const hint = "The stream is the row of numbers at each place, to which every part adds. Press a cell: what stands there for the second sentence is put in its place in the first, and all that follows is computed with it. To try them all means each alone, with everything else as it was.";
    const parts = [this.second.field.element, this.second.verdict, choice, this.map.element, this.found, this.heads];
    this.element = reachTool(this, "Carry something over from another sentence", hint, ...parts);
  }

  // The logits of the second sentence where the answer is followed, as far as it is looked at.
  get answer() {
    return this.element.open ? this.second.answer : undefined;
  }

  // What an address brought along: its sentence, and the kind of its vectors.
  inUse({ carried: [first] }) {
    if (!first) return false;
    const { otherText } = this.view.bench;
    const isIt = ({ name, head }) => name === first.name && head === first.head;
    this.kind = this.kinds.find(({ stack, rows }) => stack.name === first.stack && rows.some(isIt)) ?? this.kind;
    if (otherText) this.second.given = otherText;
    return true;
  }

  show() {
    this.second.show();
    this.draw();
  }

  draw() {
    fillSelect(this.what, this.kinds.map(({ words }, which) => [which, words]), this.kinds.indexOf(this.kind));
    const { second } = this;
    const known = second.run !== null;
    second.verdict.textContent = second.inWords();
    for (const part of [this.go.parentElement, this.map.element, this.found, this.heads]) part.hidden = !known;
    if (!known) return;
    const { stack, rows } = this.kind;
    const columns = this.columns();
    this.effects.begin();
    const labels = second.labels(stack.name, second.first);
    // At all places a head's output can be carried where both sentences have as many.
    const all = rows[0].heads && second.labels(stack.name, second.run).length === labels.length;
    this.map.draw({ stack: stack.name, second: second.run.key, rows, columns, labels, all });
    this.found.textContent = columns.length ? this.effects.inWords(rows, columns, labels) : "Where places of both go together, the same stands there: there is nothing to carry.";
    this.go.hidden = !columns.length;
    this.heads.hidden = !this.found.textContent || rows[0].heads || !this.effects.moved;
    this.go.textContent = `Try all ${this.map.cells.length}: which carries the difference?`;
  }

  // The places at which something differs, up to the answer that is followed. In between many are left out.
  columns() {
    const { stack, rows } = this.kind;
    const pairs = this.second.pairs(stack.name);
    const last = stack === this.view.voice ? this.view.place : Infinity;
    const places = [...pairs.keys()].filter((place) => place <= last && pairs[place] >= 0);
    const different = places.filter((place) => rows.some((row) => this.differs(row, place, pairs[place])));
    if (different.length <= MOST_COLUMNS) return different;
    return [different[0], ...different.slice(1 - MOST_COLUMNS)];
  }

  differs(row, place, from) {
    const share = ({ traces }, place) => shareOf(traces[this.kind.stack.name][row.name][place], row);
    return differs(share(this.second.first, place), share(this.second.run, from));
  }

  // All that one press carries: from one place, or from all of them.
  spots(row, place) {
    const stack = this.kind.stack.name;
    const pairs = this.second.pairs(stack);
    const places = place === "all" ? [...pairs.keys()].filter((each) => pairs[each] >= 0) : [place];
    return places.map((each) => carriedTo(each, pairs[each], row, stack, this.second.run.traces));
  }

  isCarried(row, place) {
    const { carried } = this.view.bench.changes;
    if (!carried.length) return false;
    return this.spots(row, place).every((spot) => carried.some((each) => isSameSpot(each, spot) && !differs(each.vector, spot.vector)));
  }

  // Only into the sentence for which it was meant: another has other places.
  press(row, place) {
    const { bench } = this.view;
    const { firstKey } = this.second;
    const spots = this.spots(row, place);
    const put = !this.isCarried(row, place);
    const deed = (changes) => {
      if (bench.given !== firstKey) return;
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
    if (!done) return;
    this.map.reveal();
    this.view.bench.say(this.found.textContent);
  }

  // From the stream to the heads that write into it.
  tryHeads() {
    this.kind = this.kinds[this.kinds.indexOf(this.kind) + 1];
    this.draw();
    this.go.focus(); // the button that was pressed is gone
    return this.tryAll();
  }
}
