// The two benches that read sentences: one for a model that translates, one for a model that writes on. What all benches
// share is in workbench.js, what their fields do in bench/sentence_field.js.

class SentenceBench extends Workbench {
  form() {
    const { id, asks, data, kind } = this;
    const [known, offered] = [typeable([...data.read]), data.offered];
    this.field = new SentenceField({ id, known, asks, offered, kind, changed: () => this.readAnew() });
    return [this.field.element];
  }

  get words() {
    return this.field.words;
  }

  begins() {
    return this.field.offer();
  }

  showNothing() {
    super.showNothing();
    this.say(this.field.unread || EMPTY);
  }
}

const EMPTY = "Nothing is typed yet. Type a sentence, or press “Another”.";

class TranslatorBench extends SentenceBench {
  asks = "A whole sentence in English";
  kind = "sentence";

  answer() {
    this.translation = make("strong", { translate: false });
    this.verdict = make("p", { className: "verdict" });
    const says = make("p", { className: "says" }, "In Lingo: ", this.translation);
    if (!this.slim) return [make("div", { className: "answer" }, says, this.verdict, tallying(this)), this.field.list];
    return [make("div", { className: "answer" }, says, this.verdict, this.oneSwitch()), this.field.list];
  }

  // The one thing to do on the front page.
  oneSwitch() {
    this.places = make("button", { type: "button", textContent: "Take the positions away", ariaPressed: false });
    this.places.onclick = () => this.change((changes) => (changes.positions = !changes.positions), "Without positions");
    return make("p", {}, this.places);
  }

  get input() {
    const { data, words } = this;
    return words.length ? [...words.map((word) => data.read.indexOf(word)), data.end] : null;
  }

  get vocabulary() {
    return this.data.written.map(shown);
  }

  get written() {
    return this.result.map((id) => this.data.written[id]);
  }

  showAnswer() {
    if (this.input === null) {
      this.translation.textContent = "";
      this.verdict.textContent = this.field.unread ? "" : EMPTY;
      return;
    }
    const judged = judgement(this.data, this.words, this.written);
    this.translation.replaceChildren(...marked(judged.marks));
    const before = this.plainResult.map((id) => this.data.written[id]);
    const was = text(before) === text(this.written) ? "" : ` With all of it on it was ${quoted(text(before))}.`;
    this.verdict.textContent = `${judged.words}${was}`;
    if (this.places) this.places.ariaPressed = !this.changes.positions;
    this.say(this.field.unread || `In Lingo: ${text(this.written)}. ${this.verdict.textContent}`);
  }

  labels(stack) {
    const read = [...this.words, "end"];
    if (stack === "read") return read;
    return ["start", ...this.written.slice(0, -1).map(shown)];
  }

  asked(stack) {
    return stack === "read" ? this.labels(stack) : this.written.map(shown);
  }
}

class LanguageModelBench extends SentenceBench {
  asks = "A sentence begins";
  kind = "beginning";
  temperature = 1;

  answer() {
    const titles = ["next word", "bar: model, ring: grammar", "model", "grammar"].map((title) => make("th", {}, title));
    this.likely = make("tbody");
    const table = make("table", { className: "next" }, make("thead", {}, make("tr", {}, ...titles)), this.likely);
    this.typed = make("p", { className: "typed", translate: false });
    this.verdict = make("p", { className: "verdict" });
    this.sample = make("p", { className: "sample" }, "“Write on” draws word after word by these chances.");
    const answer = make("div", { className: "answer" }, this.typed, this.verdict, table, tallying(this));
    return [answer, this.drawing(), this.sample, this.field.list];
  }

  // How words are drawn: the temperature, and the button.
  drawing() {
    const id = `${this.id}-temperature`;
    this.slider = make("input", { type: "range", id, min: 0.1, max: 2, step: 0.1, value: 1 });
    this.warmth = make("span", {}, "1");
    this.slider.oninput = () => this.warm(Number(this.slider.value));
    const write = make("button", { type: "button", textContent: "Write on", onclick: () => this.write() });
    const label = make("label", { htmlFor: id, textContent: "temperature" });
    return make("div", { className: "draw" }, label, this.slider, this.warmth, write);
  }

  warm(temperature) {
    this.temperature = temperature;
    this.slider.value = this.warmth.textContent = temperature;
    return this.run();
  }

  get input() {
    const { start, read } = this.data;
    return [start, ...this.words.map((word) => read.indexOf(word))];
  }

  get vocabulary() {
    return this.data.read.map(shown);
  }

  labels() {
    return ["start", ...this.words];
  }

  telling(stack, weights) {
    return weights.length - 1; // what comes next is foretold from the last word
  }

  // One verb against its other form, where there is one: see against sees.
  likelyRivals(choice) {
    const { read } = this.data;
    const [first, second] = super.likelyRivals(choice);
    const other = read.indexOf(read[first].endsWith("s") ? read[first].slice(0, -1) : `${read[first]}s`);
    return [first, other < 0 ? second : other];
  }

  showAnswer() {
    const { read } = this.data;
    this.tally = { right: 0, all: 0 }; // of what is written with the same beginning, temperature and parts
    const now = softmax(this.logits.at(-1), this.temperature);
    const before = softmax(this.plainLogits.at(-1));
    const grammar = allowed(this.data, this.words);
    const likely = likeliest(now, MOST_OFFERED);
    const rows = likely.map((id) => [read[id], now[id], grammar.chances?.[read[id]] ?? 0]);
    const largest = Math.max(...rows.flatMap(([, ...shares]) => shares));
    this.likely.replaceChildren(...rows.map((row) => this.bar(...row, largest)));
    const judged = markedWords(this.data, this.words);
    this.typed.replaceChildren(...(judged.marks.some(({ wrong }) => wrong) ? marked(judged.marks) : []));
    this.verdict.textContent = this.told(now, before, grammar, judged);
    const three = rows.slice(0, 3).map(([word, share]) => `${shown(word)} ${percent(share)}`);
    this.say(this.field.unread || `Likeliest next: ${listed(three)}. ${this.verdict.textContent}`);
  }

  // What the changes and the temperature have done to the two rivals, and to all words that the grammar allows.
  told(now, before, grammar, judged) {
    const { read } = this.data;
    const moved = this.rivals.map((id) => `${quoted(shown(read[id]))} goes from ${percent(before[id])} to ${percent(now[id])}`);
    const cause = this.deeds.length > 0 || this.temperature !== 1;
    const effect = cause ? `${sentence(listed(moved))} ` : "";
    if (grammar.fault) return `${effect}${judged.words}`;
    const total = (chances) => percent([...read.keys()].reduce((sum, id) => sum + (read[id] in grammar.chances) * chances[id], 0));
    return `${effect}Words that the grammar allows here get ${total(now)} together${cause ? `; it was ${total(before)}` : ""}.`;
  }

  bar(word, share, chance, largest) {
    const put = async () => {
      await this.field.put(text([...this.words, word]));
      (this.likely.querySelector("button:enabled") ?? this.field.input).focus(); // it is a new one
    };
    const [fill, tick] = [make("i"), make("b")];
    fill.style.width = `${(100 * share) / largest}%`;
    tick.style.left = `${(100 * chance) / largest}%`;
    const disabled = word === this.data.read[this.data.end] || word in MARKS || this.words.length >= MOST_TYPED;
    const button = make("button", { type: "button", textContent: shown(word), onclick: put, disabled });
    const cells = [make("th", { scope: "row" }, button), make("td", { className: "bar" }, fill, tick)];
    return make("tr", {}, ...cells, ...[share, chance].map((number) => make("td", {}, percent(number))));
  }

  // Word after word is drawn by its chance at this temperature, until the sentence ends.
  async write() {
    const { read, start, end, longest } = this.data;
    const { half } = this.field;
    const unread = this.field.unread || (half && `${quoted(half)} is no word yet: type on, or choose one of those that are offered.`);
    if (unread) return this.tell(unread);
    const words = [...this.words];
    while (words.at(-1) !== read[end] && words.length < longest) {
      const run = await this.compute([start, ...words.map((word) => read.indexOf(word))], this.changes);
      if (!run) return undefined; // another text is being read
      const chances = softmax(run.logits.at(-1), this.temperature);
      words.push(read[drawn([...chances.entries()], Math.random())]);
    }
    const { fault } = allowed(this.data, words);
    this.tally.all += 1;
    this.tally.right += !fault;
    const verdict = fault ? `No sentence of the grammar: ${fault}.` : "✓ A sentence of the grammar.";
    const tally = this.tally.all > 1 ? ` So far ${this.tally.right} of ${this.tally.all} were, at temperature ${this.temperature}.` : "";
    return this.tell(`${quoted(text(words))} ${verdict}${tally}`);
  }

  tell(words) {
    this.sample.textContent = words;
    this.say(words);
  }
}

const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;

benches.Transformer = (playground, data) => new TranslatorBench(playground, data, new Transformer(data)).open();
benches.LanguageModel = (playground, data) => new LanguageModelBench(playground, data, new LanguageModel(data)).open();
