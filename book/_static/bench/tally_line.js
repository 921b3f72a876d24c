// "Right in 43 of 50": a button, and what fifty tries have said, with what is changed and with everything on.

class TallyLine {
  constructor(bench) {
    this.bench = bench;
    this.button = make("button", { type: "button", textContent: bench.tallyAsks, onclick: () => this.count() });
    this.words = make("p", { className: "hint" });
    this.element = make("div", { className: "tally" }, this.button, this.words);
    this.counted = new Map(); // what was counted, by the changes
  }

  // What was counted with these changes is said at once; with other ones it may be counted anew.
  show() {
    this.turn = undefined;
    const found = this.counted.get(inText(this.bench.changes));
    this.words.textContent = found ? this.told(found) : "";
  }

  async count() {
    const { bench } = this;
    const turn = (this.turn = {});
    for (const changes of [noChanges(), bench.changes]) {
      const key = inText(changes);
      if (!this.counted.has(key)) this.counted.set(key, await this.through(tally(bench.model, bench.data, changes), turn));
      if (this.turn === turn) continue;
      if (!this.counted.get(key)) this.counted.delete(key); // something else was begun before its end
      return;
    }
    this.show();
    bench.say(this.words.textContent);
  }

  async through(counting, turn) {
    for (;;) {
      await pause(0);
      if (this.turn !== turn) return undefined;
      for (const until = performance.now() + SLICE; performance.now() < until; ) {
        const { done, value } = counting.next();
        if (done) return value;
        this.words.textContent = `Trying number ${value + 1} …`;
      }
    }
  }

  told(found) {
    const { bench } = this;
    const whole = this.counted.get(inText(noChanges()));
    const kept = bench.deeds.length && (bench.changes.hidden.size || bench.changes.carried.length);
    const left = kept ? " (What is hidden or carried belongs to the sentence above, and is left out here.)" : "";
    const [example] = found.examples;
    const wrong = example ? ` Wrong, for one: ${quoted(example.text)}, ${quoted(example.written)} for ${quoted(example.right)}.` : "";
    if (found.bits !== undefined) {
      const was = bench.deeds.length ? `; with everything on ${whole.bits.toFixed(2)}` : "";
      return `${found.bits.toFixed(2)} bits a byte, on the beginnings of ${found.of} held-out texts${was}.${left}`;
    }
    const was = bench.deeds.length ? `; with everything on in ${whole.right}` : "";
    return `Right in ${found.right} of ${found.of}${was}. ${found.rule}${wrong}${left}`;
  }
}
