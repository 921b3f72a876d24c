// Every cell of the map tried, one after the other: what comes of the answer when this alone is carried over, with
// everything else as it was.

class ReachEffects {
  constructor(carry) {
    Object.assign(this, { carry, found: new Map(), turn: null });
  }

  // What was found counts for these two sentences, and for the place where the answer is followed.
  begin() {
    const { second, view } = this.carry;
    const key = [second.firstKey, second.run, view.place];
    if (this.key?.every((each, i) => each === key[i])) return;
    Object.assign(this, { key, found: new Map() });
    this.stop();
  }

  spot({ name, head }, place) {
    return `${name} ${head} ${place}`;
  }

  // From 0, nothing is changed, to 1, the second sentence's answer; before and after it, too.
  of(row, place) {
    const logits = this.found.get(this.spot(row, place)); // null: of another question
    if (logits === undefined) return undefined;
    if (logits === null) return { short: "≠", words: "other words are written before it", share: 0 };
    const [before, after, other] = this.odds(logits);
    const share = Math.max(0, Math.min(1, (after - before) / (other - before) || 0));
    return { short: withSign(after, 1), words: `${withSign(before, 1)} becomes ${withSign(after, 1)}`, share, after };
  }

  odds(logits) {
    const { bench, place } = this.carry.view;
    return [bench.plainLogits[place], logits, this.carry.second.answer].map((each) => oddsOf(each, bench.rivals));
  }

  async all(cells, told) {
    const turn = (this.turn = {});
    const { bench, place } = this.carry.view;
    const { input, result } = this.carry.second.first;
    for (const [count, cell] of cells.entries()) {
      const changes = { ...noChanges(), carried: this.carry.spots(cell.row, cell.place) };
      const spot = this.spot(cell.row, cell.place);
      const run = this.found.has(spot) ? {} : await bench.compute(input, changes);
      // Where the reader has gone on to something else, this ends.
      if (!run || this.turn !== turn) return this.stop();
      if (run.logits) {
        const asBefore = bench.stacks.length < 2 || result.slice(0, place).every((id, i) => run.result[i] === id);
        this.found.set(spot, (asBefore && run.logits[place]) || null);
      }
      told(count + 1, cell);
    }
    this.stop();
    return true;
  }

  stop() {
    this.turn = null;
  }

  // What the map shows, in a sentence: of the stream, where the difference stands at first, and where in the end.
  inWords(rows, columns, labels) {
    const effects = rows.map((row) => columns.map((place) => this.of(row, place)));
    if (!effects.flat().some((effect) => effect?.after !== undefined)) return "";
    return (!rows[0].heads && this.wayInWords(rows, columns, labels, effects)) || this.strongest(rows, columns);
  }

  wayInWords(rows, columns, labels, effects) {
    const { view, kind } = this.carry;
    const pairs = this.carry.second.pairs(kind.stack.name);
    const differing = columns.findIndex((place) => this.carry.differs(rows[0], place, pairs[place]));
    const answering = kind.stack === view.voice ? columns.indexOf(view.place) : -1;
    const shares = effects.map((row) => row.map((effect) => effect?.share ?? 0));
    const [last, first] = whereCarried(shares, differing, answering);
    const name = ({ words }) => words.replace("after ", "");
    const at = (column) => placeWords(labels[columns[column]], columns[column]);
    const until = last === rows.length - 1 ? "all the way up" : last > 0 ? `up to ${name(rows[last])}` : "at the start";
    const told = [];
    if (last >= 0) told.push(`at ${at(differing)} most of the difference stands ${until}`);
    this.moved = answering !== differing && first > 0;
    if (this.moved) told.push(`from ${name(rows[first])} on it stands at ${at(answering)}`);
    return told.length && asSentence(told.join("; "));
  }

  // The two that carry most, if they carry anything to speak of.
  strongest(rows, columns) {
    const cells = rows.flatMap((row) => columns.map((place) => ({ row, place, effect: this.of(row, place) })));
    const known = cells.filter(({ effect }) => effect?.share > 0.05).sort((a, b) => b.effect.share - a.effect.share);
    const told = known.slice(0, 2).map(({ row, place, effect }) => `${this.carry.map.spotInWords(row, place)} (${effect.words})`);
    return told.length ? `Most is carried by ${listed(told)}.` : "None of these carries much of it alone.";
  }
}
