// The two benches that read sentences: one for a model that translates, one for a model that writes on. What all benches
// share is in workbench.js, what their fields do in bench/sentence_field.js.

class SentenceBench extends Workbench {
  form() {
    const { id, asks, data, kind } = this;
    const [known, offered] = [typeable([...data.read]), data.offered];
    const marks = data.read.filter((word) => !known.includes(word)).map(shown);
    const own = { known, marks, asks, offered, kind, written: data.written ?? [] };
    this.field = new SentenceField({ id, ...own, changed: () => this.readAnew() });
    return [this.field.element];
  }

  get words() {
    return this.field.words;
  }

  put(text) {
    return this.field.put(text);
  }

  get typedText() {
    return this.field.input.value.trim();
  }

  get input() {
    return this.words.length ? this.inputOf(this.words) : null;
  }

  inputOfText(text) {
    return this.inputOf(wordsOf(text).filter((word) => this.field.known.includes(word)));
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
    this.tally = new TallyLine(this);
    this.translation = make("strong", { translate: false });
    this.verdict = make("p", { className: "verdict" });
    this.says = make("p", { className: "says" }, "In Lingo: ", this.translation);
    if (!this.slim) return [make("div", { className: "outcome" }, this.says, this.verdict, this.tally.element), this.field.list];
    return [make("div", { className: "outcome" }, this.says, this.verdict, this.oneSwitch()), this.field.list];
  }

  // The one thing to do on the front page.
  oneSwitch() {
    this.places = make("button", { type: "button" });
    this.places.onclick = () => this.change((changes) => (changes.positions = !changes.positions), "the positions off");
    return make("p", {}, this.places);
  }

  inputOf(words) {
    return [...words.map((word) => this.data.read.indexOf(word)), this.data.end];
  }

  get vocabulary() {
    return this.data.written.map(shown);
  }

  get written() {
    return this.result.map((id) => this.data.written[id]);
  }

  showAnswer() {
    this.says.hidden = this.input === null;
    if (this.input === null) {
      this.verdict.textContent = this.field.unread ? "" : EMPTY;
      return;
    }
    const { known, right, fault, expected, marks, missing, words } = judged(this.data, this.words, this.written);
    const plain = this.written.filter((word) => !(word in MARKS)).map((word) => ({ word }));
    this.translation.replaceChildren(...markedUp(known ? marks : plain, missing));
    const why = this.field.unread ? "Only a part is read." : fault;
    const part = this.field.unread ? " So far as it is read." : "";
    const said = known ? `${right ? "✓" : "✗"} ${words}${part}` : `${why} What it makes of this means little.`;
    this.verdict.textContent = `${said}${this.before(expected)}`;
    this.tally.show();
    if (this.places) this.places.textContent = this.changes.positions ? "Take the positions away" : "Give the positions back";
    this.outcomeInWords = `In Lingo: ${text(this.written)}. ${this.verdict.textContent}`;
    this.say(this.field.unread || this.outcomeInWords);
  }

  // What it was before it was changed, if that was something else.
  before(expected) {
    const plain = text(this.plainResult.map((id) => this.data.written[id]));
    if (plain === text(this.written)) return "";
    return plain === expected?.join(" ") ? " With everything on it was right." : ` With everything on it was ${quoted(plain)}.`;
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
    this.tally = new TallyLine(this);
    const titles = ["next word", "bar: model, ring: grammar", "model", "grammar"].map((title) => make("th", {}, title));
    this.likely = make("tbody");
    const table = make("table", { className: "next" }, make("thead", {}, make("tr", {}, ...titles)), this.likely);
    this.typed = make("p", { className: "typed", translate: false });
    this.verdict = make("p", { className: "verdict" });
    this.sample = make("p", { className: "sample" }, "“Write on” draws word after word by these chances.");
    const answer = make("div", { className: "outcome" }, this.typed, this.verdict, table, this.tally.element);
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

  // The views know nothing of the temperature.
  get chancesAre() {
    return this.temperature === 1 ? "" : "at temperature 1";
  }

  inputOf(words) {
    const { start, read } = this.data;
    return [start, ...words.map((word) => read.indexOf(word))];
  }

  // A beginning may have no word yet.
  get input() {
    return this.inputOf(this.words);
  }

  get ownState() {
    return { temperature: this.temperature === 1 ? undefined : this.temperature };
  }

  restoreOwn({ temperature = 1 }) {
    this.temperature = Math.max(0.1, Math.min(2, temperature));
    this.slider.value = this.warmth.textContent = this.temperature;
  }

  get vocabulary() {
    return this.data.read.map(shown);
  }

  labels() {
    return ["start", ...this.words];
  }

  telling(stack, weights) {
    return weights.length - 1; // what comes next is predicted from the last word
  }

  // The likeliest word that has another form, against that one: see against sees.
  likelyRivals(choice) {
    const { read } = this.data;
    const likely = super.likelyRivals(choice, MOST_OFFERED);
    const other = (id) => read.indexOf(read[id].endsWith("s") ? read[id].slice(0, -1) : `${read[id]}s`);
    const first = likely.find((id) => other(id) >= 0);
    return first === undefined ? likely.slice(0, 2) : [first, other(first)];
  }

  showAnswer() {
    const { read } = this.data;
    this.drawn = { right: 0, all: 0 }; // of what is written with the same beginning, temperature and parts
    const now = softmax(this.logits.at(-1), this.temperature);
    const before = softmax(this.plainLogits.at(-1));
    const grammar = this.allowed(this.words);
    const likely = likeliest(now, MOST_OFFERED);
    const rows = likely.map((id) => [read[id], now[id], grammar[read[id]] ?? 0]);
    const largest = Math.max(...rows.flatMap(([, ...shares]) => shares));
    this.likely.replaceChildren(...rows.map((row) => this.bar(...row, largest)));
    const judged = marked(this.data, this.words);
    this.typed.replaceChildren(...(judged.right ? [] : markedUp(judged.marks)));
    this.tally.show();
    this.verdict.textContent = this.told(now, before, grammar, judged);
    const three = rows.slice(0, 3).map(([word, share]) => `${shown(word)} ${percent(share)}`);
    this.outcomeInWords = `Likeliest next: ${listed(three)}. ${this.verdict.textContent}`;
    this.say(this.field.unread || this.outcomeInWords);
  }

  // The chance in the grammar of each word that it allows behind these; none where they have no place in it.
  allowed(words) {
    let state = 0;
    for (const word of words) state = this.data.grammar[state]?.[word]?.[1];
    const options = Object.entries(this.data.grammar[state] ?? {});
    return Object.fromEntries(options.map(([word, [chance]]) => [word, chance]));
  }

  // What the changes and the temperature have done to the two rivals, and to all words that the grammar allows.
  told(now, before, grammar, judged) {
    const { read } = this.data;
    const last = this.likelyRivals({ stack: this.stacks.at(-1).name, place: Infinity });
    const moved = last.map((id) => `${quoted(shown(read[id]))} goes from ${chanceWords(before[id])} to ${chanceWords(now[id])}`);
    const cause = this.deeds.length > 0 || this.temperature !== 1;
    const effect = cause ? `${sentence(listed(moved))} ` : "";
    if (!judged.right) return `${effect}✗ ${judged.words}`;
    if (judged.ended) return `${effect}✓ ${judged.words}`;
    const total = (chances) => percent([...read.keys()].reduce((sum, id) => sum + (read[id] in grammar) * chances[id], 0));
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
    const { read, end, longest } = this.data;
    const { half } = this.field;
    const unread = this.field.unread || (half && `${quoted(half)} is no word yet: type on, or choose one of those that are offered.`);
    if (unread) return this.tell(unread);
    const words = [...this.words];
    while (words.at(-1) !== read[end] && words.length < longest) {
      const run = await this.compute(this.inputOf(words), this.changes);
      if (!run) return undefined; // another text is being read
      const chances = softmax(writable(run.logits.at(-1), read), this.temperature);
      words.push(read[drawn([...chances.entries()], Math.random())]);
    }
    const { right, words: why } = marked(this.data, words);
    this.drawn.all += 1;
    this.drawn.right += right;
    const { all, right: good } = this.drawn;
    const soFar = all > 1 ? ` So far ${good} of ${all} were, at temperature ${this.temperature}.` : "";
    const verdict = right ? "✓ A sentence of the grammar." : `✗ No sentence of the grammar: ${why}`;
    return this.tell(`${quoted(text(words))} ${verdict}${soFar}`);
  }

  tell(words) {
    this.sample.textContent = words;
    this.say(words);
  }
}

// Words of which those that are wrong are underlined, with what is right on demand, and a mark where some are missing.
function markedUp(marks, missing = []) {
  const parts = marks.map(({ word, wrong, note }) => {
    return wrong ? make("span", { className: "wrong", title: note }, shown(word)) : shown(word);
  });
  for (const { at, words } of [...missing].reverse())
    parts.splice(at, 0, make("span", { className: "wrong", title: `${listed(words)} is missing` }, "…"));
  return parts.flatMap((part, place) => (place ? [" ", part] : [part]));
}

const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;

benches.Transformer = (playground, data) => new TranslatorBench(playground, data, new Transformer(data)).open();
benches.LanguageModel = (playground, data) => new LanguageModelBench(playground, data, new LanguageModel(data)).open();
