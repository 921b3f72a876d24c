// The two benches: one for a model that translates, one for a model that writes on. What they share is in workbench.js.

class TranslatorBench extends Workbench {
  asks = "A whole sentence in English";
  offered = "sentence";
  places = ["encoder.*.self_attention", "decoder.*.self_attention", "decoder.*.cross_attention"];

  answer() {
    this.translation = make("strong", { translate: false });
    this.change = make("p", { className: "change" });
    const says = make("p", { className: "says" }, "In Lingo: ", this.translation);
    return this.slim ? [says] : [says, this.change];
  }

  run() {
    const { model, data } = this;
    const source = [...this.words.map((word) => data.read.indexOf(word)), data.end];
    const translate = () => model.translate(source, data.start, data.end, data.longest).map((id) => data.written[id]);
    const before = this.whole(translate);
    this.written = this.off ? translate() : before;
    this.trace = { ...model.trace };
    const [now, then] = [text(this.written), text(before)];
    this.translation.textContent = now;
    this.change.textContent = this.changed(now, then);
    this.say(this.off ? this.change.textContent : `In Lingo: ${now}.`);
    this.show();
  }

  changed(now, then) {
    const whole = "It has learned whole sentences: what it makes of a beginning means little.";
    if (!this.off) return `All of it is on. ${whole} Switch a part off, and see what becomes of this.`;
    const newest = " Nothing stands behind the newest word; in training all words are there at once.";
    const why = this.model.switches.mask ? "" : newest;
    if (now === then) return `Without ${this.off}, the translation stays as it is.${why}`;
    return `Without ${this.off}, the translation becomes ${quoted(now)}; it was ${quoted(then)}.${why}`;
  }

  labels(place) {
    const read = [...this.words, "end"];
    const written = this.written.map(shown);
    if (place.startsWith("encoder")) return [read, read];
    return [written, place.endsWith("cross_attention") ? read : ["start", ...written.slice(0, -1)]];
  }
}

class LanguageModelBench extends Workbench {
  asks = "A sentence begins";
  offered = "beginning";
  places = ["layers.*.self_attention"];
  temperature = 1;

  answer() {
    const titles = ["next word", "bar: model, ring: grammar", "model", "grammar"].map((title) => make("th", {}, title));
    this.likely = make("tbody");
    const table = make("table", { className: "next" }, make("thead", {}, make("tr", {}, ...titles)), this.likely);
    this.change = make("p", { className: "change" });
    this.sample = make("p", { className: "sample" }, "“Write on” draws word after word by these chances.");
    return [table, this.change, this.drawing(), this.sample];
  }

  // How words are drawn: the temperature, and the button.
  drawing() {
    const id = `${this.id}-temperature`;
    const slider = make("input", { type: "range", id, min: 0.1, max: 2, step: 0.1, value: 1 });
    const value = make("span", {}, "1");
    slider.oninput = () => {
      this.temperature = Number(slider.value);
      value.textContent = slider.value;
      this.run();
    };
    const write = make("button", { type: "button", textContent: "Write on", onclick: () => this.write() });
    const label = make("label", { htmlFor: id, textContent: "temperature" });
    return make("div", { className: "draw" }, label, slider, value, write);
  }

  // How likely each word is to come after these.
  chances(words, temperature = 1) {
    const { start, read } = this.data;
    return softmax(this.model.forward([start, ...words.map((word) => read.indexOf(word))]).at(-1), temperature);
  }

  // The same in the grammar: a chance for each word that it allows, or what is wrong with the words before.
  allowed(words) {
    let state = 0;
    for (const [place, word] of words.entries()) {
      const options = this.data.grammar[state] ?? {};
      if (!(word in options)) return { fault: `word ${place + 1}, ${quoted(shown(word))}, can't stand there` };
      state = options[word][1];
    }
    const options = Object.entries(this.data.grammar[state] ?? {});
    return { chances: Object.fromEntries(options.map(([word, [chance]]) => [word, chance])) };
  }

  run() {
    const { read } = this.data;
    this.tally = { right: 0, all: 0 }; // of what is written with the same beginning, temperature and parts
    const before = this.whole(() => this.chances(this.words));
    const now = this.chances(this.words, this.temperature);
    this.trace = { ...this.model.trace };
    const grammar = this.allowed(this.words);
    const likeliest = [...now.keys()].sort((a, b) => now[b] - now[a]).slice(0, MOST_OFFERED);
    const rows = likeliest.map((id) => [read[id], now[id], grammar.chances?.[read[id]] ?? 0]);
    const largest = Math.max(...rows.flatMap(([, ...shares]) => shares));
    this.likely.replaceChildren(...rows.map((row) => this.bar(...row, largest)));
    this.change.textContent = this.changed(now, before, grammar);
    const three = rows.slice(0, 3).map(([word, share]) => `${shown(word)} ${percent(share)}`);
    this.say(`Likeliest next: ${listed(three)}. ${this.change.textContent}`);
    this.show();
  }

  // What the switches and the temperature have done to the word that they changed most, and to all together.
  changed(now, before, grammar) {
    const { read } = this.data;
    const warmth = this.temperature === 1 ? "" : `at temperature ${this.temperature}`;
    const cause = listed([this.off && `without ${this.off}`, warmth].filter(Boolean));
    const [most] = [...now.keys()].sort((a, b) => Math.abs(now[b] - before[b]) - Math.abs(now[a] - before[a]));
    const moved = `${quoted(shown(read[most]))} goes from ${percent(before[most])} to ${percent(now[most])}`;
    const effect = cause && `${cause[0].toUpperCase()}${cause.slice(1)}, ${moved}. `;
    if (grammar.fault) return `${effect}The grammar has no such beginning: ${grammar.fault}.`;
    const allowed = [...read.keys()].filter((id) => read[id] in grammar.chances);
    const total = (chances) => percent(allowed.reduce((sum, id) => sum + chances[id], 0));
    const was = cause && `; it was ${total(before)}`;
    return `${effect}Words that the grammar allows here get ${total(now)} together${was}.`;
  }

  bar(word, share, chance, largest) {
    const put = () => {
      this.input.value = `${text([...this.words, word])} `;
      this.read();
      (this.likely.querySelector("button:enabled") ?? this.input).focus();
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
  write() {
    const { read, end, longest } = this.data;
    const half = this.half && `${quoted(this.half)} is no word yet: type on, or choose one of those that are offered.`;
    if (this.unread || half) {
      this.sample.textContent = this.unread || half;
      return this.say(this.sample.textContent);
    }
    const words = [...this.words];
    while (words.at(-1) !== read[end] && words.length < longest) {
      const chances = this.chances(words, this.temperature);
      let left = Math.random();
      words.push(read[chances.findIndex((chance) => (left -= chance) < 0)] ?? read[end]);
    }
    const { fault } = this.allowed(words);
    this.tally.all += 1;
    this.tally.right += !fault;
    const verdict = fault ? `No sentence of the grammar: ${fault}.` : "✓ A sentence of the grammar.";
    const tally = this.tally.all > 1 ? ` So far ${this.tally.right} of ${this.tally.all} were, at temperature ${this.temperature}.` : "";
    this.sample.textContent = `${quoted(words.map(shown).join(" ").replace(/ \.$/, "."))} ${verdict}${tally}`;
    this.say(this.sample.textContent);
  }

  telling(weights) {
    return weights.length - 1; // what comes next is foretold from the last word
  }

  labels() {
    const read = ["start", ...this.words];
    return [read, read];
  }
}

benches.Transformer = (playground, data) => new TranslatorBench(playground, data, new Transformer(data)).open();
benches.LanguageModel = (playground, data) => new LanguageModelBench(playground, data, new LanguageModel(data)).open();
