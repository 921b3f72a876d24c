// The second sentence: what is suggested or typed, what the model makes of it with everything on, and which of its places
// goes with which of the first's.

const MOST_ALONE = 4; // places that are named

class ReachSecond {
  constructor(view) {
    Object.assign(this, { view, run: null });
    this.field = this.secondField();
    this.verdict = make("p", { className: "reach-second" });
  }

  // Where words are known the field is like the first; any other text has a plain one.
  secondField() {
    const { bench } = this.view;
    const common = { id: `${bench.id}-second`, asks: "The second sentence", offered: [""], changed: () => this.read() };
    if (!bench.field) return new ReachText(common);
    const { known, most } = bench.field;
    return new bench.field.constructor({ ...common, known, most, kind: "second sentence" });
  }

  // An address may have brought a second sentence along, and what is followed.
  show() {
    const { view: { bench }, given } = this;
    const isNew = bench.given !== this.firstKey;
    if (isNew) {
      this.firstKey = bench.given;
      this.field.offered = this.neighbours();
      this.field.next = 0;
    }
    if (given) {
      this.given = undefined;
      const done = this.field.put(given);
      this.keep = this.key;
      return done;
    }
    if (isNew) {
      if (!this.own) return this.suggest();
    }
    return this.isRead || this.input === null ? undefined : this.compute();
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

  // Whether what stands in the field is what was run.
  get isRead() {
    return this.run?.key === this.key;
  }

  get key() {
    return JSON.stringify(this.input);
  }

  async compute() {
    const { bench } = this.view;
    const { input, key } = this;
    if (input === null) {
      this.run = null;
      return this.view.show();
    }
    bench.otherText = this.field.input.value.trim();
    const run = await bench.compute(input);
    if (!run || this.key !== key) return undefined; // another is being read
    this.run = { ...run, key, input };
    if (this.keep !== key) this.follow();
    return this.view.show();
  }

  // If the two sentences agree on what is followed, something is followed on which they differ: the first word that is
  // written otherwise, and of all words those two whose chances differ most.
  follow() {
    const { bench, voice } = this.view;
    const odds = (logits) => oddsOf(logits, bench.rivals);
    if (this.answer && odds(bench.plainLogits[this.view.place]) * odds(this.answer) < 0) return;
    const last = bench.plainLogits.length - 1;
    const place = bench.stacks.length > 1 ? bench.plainResult.findIndex((id, i) => id !== this.run.result[i]) : last;
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
    const { firstKey, run } = this;
    if (this.paired?.firstKey !== firstKey || this.paired.run !== run) this.paired = { firstKey, run };
    return (this.paired[stack] ??= pairedPlaces(this.labels(stack, this.first), this.labels(stack, run)));
  }

  // Its logits where the answer is followed.
  get answer() {
    if (!this.run) return undefined;
    const { voice, place } = this.view;
    return this.run.logits[this.pairs(voice.name)[place]];
  }

  // What came of both sentences.
  inWords() {
    const { bench } = this.view;
    if (!this.run) return this.input ? "" : "There is no second sentence yet: type one that differs in a word, or press “Another”.";
    return `${this.becomes()}${this.unpaired()}`;
  }

  // Of two sentences that are not of the same length some places stand alone.
  unpaired() {
    const { name } = this.view.bench.stacks[0];
    const pairs = this.pairs(name);
    const alone = (run, isAlone, which) => {
      const labels = this.labels(name, run);
      const places = [...labels.keys()].filter(isAlone);
      const named = places.length > MOST_ALONE ? [`${places.length} places`] : places.map((place) => placeWords(labels[place], place));
      return places.length ? ` Places go together from both ends; alone in the ${which} sentence: ${listed(named)}.` : "";
    };
    return alone(this.first, (place) => pairs[place] < 0, "first") + alone(this.run, (place) => !pairs.includes(place), "second");
  }

  becomes() {
    const { bench } = this.view;
    if (bench.stacks.length > 1) return `It becomes ${quoted(text(this.run.result.map((id) => bench.data.written[id])))}.`;
    const likely = (logits) => {
      const chances = softmax(logits);
      return listed(likeliest(chances, 2).map((id) => `${quoted(bench.vocabulary[id])} (${percent(chances[id])})`));
    };
    return `Likeliest next: ${likely(this.run.logits.at(-1))}; for the first sentence ${likely(bench.plainLogits.at(-1))}.`;
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
