// Every cell of the map tried, one after the other: what comes of the answer when this alone is carried over, with
// everything else as it was.

class ReachEffects {
  constructor(carry) {
    Object.assign(this, { carry, found: new Map(), turn: null });
  }

  // What was found counts for these two sentences, and for the answer that is followed.
  get key() {
    const { carry } = this;
    return JSON.stringify([carry.firstKey, carry.second.key, carry.view.place]);
  }

  spot({ name, head }, place) {
    return `${this.key} ${name} ${head} ${place}`;
  }

  // Null where other words were written before that place: its answer is to another question.
  logits(row, place) {
    return this.found.get(this.spot(row, place));
  }

  // From 0, nothing is changed, to 1, the second sentence's answer; before and after it, too.
  of(row, place) {
    const logits = this.logits(row, place);
    if (logits === undefined) return undefined;
    if (logits === null) return { short: "≠", words: "other words are written before it", share: 0 };
    const [before, after, other] = this.odds(logits);
    const share = Math.max(0, Math.min(1, (after - before) / (other - before) || 0));
    return { short: signedNumber(after), words: `${signedNumber(before)} becomes ${signedNumber(after)}`, share, after };
  }

  odds(logits) {
    const { bench, place } = this.carry.view;
    return [bench.plainLogits[place], logits, this.carry.answer].map((each) => oddsOf(each, bench.rivals));
  }

  async all(cells, told) {
    const turn = (this.turn = {});
    const { bench, place } = this.carry.view;
    const { input, result } = this.carry.first;
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

  // What the map shows, in a sentence: where the difference stands at first, and where in the end.
  inWords(rows, columns, labels) {
    const { view, kind } = this.carry;
    const effects = rows.map((row) => columns.map((place) => this.of(row, place)));
    const tried = effects.flat().filter((effect) => effect?.after !== undefined);
    if (!tried.length) return "";
    const shares = effects.map((row) => row.map((effect) => effect?.share ?? 0));
    const [last, first] = whereCarried(shares, 0, columns.length - 1);
    const answers = kind.stack === view.voice && columns.at(-1) === view.place && columns.length > 1;
    if (!answers || rows[0].heads || last < 0 || first <= last) return this.strongest(rows, columns);
    const name = ({ words }) => words.replace("after ", "");
    const until = last ? `up to ${name(rows[last])}` : "at the start";
    const [start, end] = [columns[0], columns.at(-1)].map((place) => quoted(labels[place]));
    return `At ${start} most of the difference stands ${until}; from ${name(rows[first])} on it stands at ${end}.`;
  }

  strongest(rows, columns) {
    const cells = rows.flatMap((row) => columns.map((place) => ({ row, place, effect: this.of(row, place) })));
    const known = cells.filter(({ effect }) => effect?.after !== undefined).sort((a, b) => b.effect.share - a.effect.share);
    const told = known.slice(0, 2).map(({ row, place, effect }) => `${this.carry.map.spotInWords(row, place)} (${effect.words})`);
    return `Most is carried by ${listed(told)}.`;
  }
}
