// The bench of a GPT: a text that is being typed, in its pieces, what each cost, what may come next, and how it goes on.

const MOST_LETTERS = 1000; // typed
const MOST_GIVEN = 240; // letters of them, before what is written
const MOST_WRITTEN = 80; // pieces
const MOST_NEXT = 5;
const SHADES = [1, 3, 6, 9]; // bits: with each a piece is a shade darker
const PACE = 40; // milliseconds from one written piece to the next, for those who have nothing against movement
const QUIET = 800; // milliseconds without a key, before a screen reader is told what came out

const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
const inBits = (number) => `${number.toFixed(number < 9.95 ? 1 : 0)}\u00a0bits`;
const several = (count, word) => `${count}\u00a0${word}${count === 1 ? "" : "s"}`;
// Signs for what can't be seen.
const SIGNS = { " ": "·", "\n": "↵", "\t": "⇥" };

class GptBench extends Workbench {
  piece = "piece";

  constructor(playground, data, model) {
    super(playground, data, model);
    Object.assign(this, { typed: [], listed: [], written: [], pieces: new Pieces(data.merges) });
    this.plainReading = this.reading = new Reading(this.plainModel, this.pieces.end);
    this.vocabulary = Array.from({ length: this.pieces.end + 1 }, (_, id) => this.named(id));
  }

  tallyAsks = "How well does it foresee?";

  begins() {
    return this.put(this.data.offered[0]);
  }

  // Of several the last is told: whoever types is not talked to.
  say(words, quiet = 0) {
    clearTimeout(this.saying);
    this.saying = setTimeout(() => super.say(words), quiet);
  }

  // ---- what is typed, and read ----

  form() {
    const id = `${this.id}-text`;
    this.area = make("textarea", { id, rows: 3, maxLength: MOST_LETTERS, spellcheck: false, autocapitalize: "off" });
    this.area.oninput = () => this.read();
    const starts = this.data.offered.map((start) => {
      const textContent = start.trim().replace(/\s+/g, " ");
      return make("button", { type: "button", textContent, onclick: () => this.put(start) });
    });
    const offers = make("div", { className: "offers", role: "group", ariaLabel: "Starts to try" }, ...starts);
    const label = make("label", { htmlFor: id, textContent: "A docstring begins" });
    this.full = make("p", { className: "hint" });
    return [make("div", { className: "begins" }, label, this.area, this.full, offers)];
  }

  answer() {
    this.tally = new TallyLine(this);
    return [...this.text(), this.next(), ...this.writing(), this.tally.element];
  }

  get typedText() {
    return this.area.value;
  }

  get ownState() {
    return { temperature: Number(this.temperature.value), seed: Number(this.seed.value) };
  }

  restoreOwn({ temperature = 0.8, seed = 1 }) {
    this.temperature.value = temperature;
    this.temperature.oninput();
    this.seed.value = seed;
  }

  put(text) {
    this.area.value = text;
    return this.read();
  }

  // The pieces are there at once. What they cost takes a while, in which one may type on.
  read() {
    this.typed = this.pieces.encode(this.area.value);
    this.full.textContent = this.area.value.length < MOST_LETTERS ? "" : `No more than ${MOST_LETTERS} letters are read.`;
    this.showPieces();
    this.showWritten([], "“Write on” draws piece after piece, by what the model gives each at this temperature. “Keep it” puts them into the text above, with what each cost.");
    return this.readAnew();
  }

  async run() {
    const turn = this.begin();
    const changed = inText(this.changes);
    if (!this.deeds.length) this.reading = this.plainReading;
    else if (this.reading.changed !== changed) {
      const model = Object.assign(twin(this.model), { changes: this.changes });
      this.reading = Object.assign(new Reading(model, this.pieces.end), { changed });
    }
    const told = (read) => (this.summary.textContent = `Reading … ${read} of ${several(this.typed.length, "piece")}.`);
    this.playground.classList.add("computing");
    for (const reading of [this.reading, this.plainReading])
      if (!(await this.readThrough(reading, this.typed, turn, told))) return;
    this.playground.classList.remove("computing");
    this.showCosts();
    this.showNext();
    this.showDeeds();
    this.tally.show();
    const likely = this.options.slice(0, 3).map(([id, share]) => `${this.spoken(id)} ${percent(share)}`);
    this.outcomeInWords = `Likeliest next: ${listed(likely)}.`;
    this.say(`${this.summary.textContent} ${this.outcomeInWords}`, QUIET);
    await super.run();
  }

  // Whoever types, or presses a button below, ends what was going on.
  begin() {
    this.go.textContent = "Write on";
    return super.begin();
  }

  // Whether all was read before the next turn began. Between slices the page shows what was typed.
  async readThrough(reading, ids, turn, told = () => {}) {
    for (;;) {
      await pause(0);
      if (this.turn !== turn) return false;
      reading.set(ids);
      for (const until = performance.now() + SLICE; reading.behind && performance.now() < until; ) reading.step();
      if (!reading.behind) return true;
      told(reading.chances.length);
    }
  }

  // ---- for the views ----

  // What the last piece sees.
  get input() {
    const ids = [this.pieces.end, ...this.typed];
    return ids.slice(this.reading.seenFrom(this.typed.length));
  }

  inputOfText(text) {
    return [this.pieces.end, ...this.pieces.encode(text)].slice(-this.data.context);
  }

  labels() {
    // Behind the end of another text this one begins.
    return this.input.map((id, place) => (place || id !== this.pieces.end ? this.vocabulary[id] : "(beginning)"));
  }

  telling(stack, weights) {
    return weights.length - 1; // what comes next is predicted from the last piece
  }

  showAnswer() {} // it is shown piece by piece, as it is read

  // ---- how pieces are shown, and told ----

  named(id) {
    if (id === this.pieces.end) return "end of text";
    if (!this.isWhole(id)) return this.pieces.bytes[id].map((byte) => `‹${byte.toString(16)}›`).join("");
    return this.pieces.decode([id]).replace(/[ \n\t]/g, (letter) => SIGNS[letter]);
  }

  // Whether it holds whole letters, which can be typed.
  isWhole(id) {
    return id !== this.pieces.end && !this.pieces.decode([id]).includes("\ufffd");
  }

  spoken(id) {
    const text = this.isWhole(id) ? this.pieces.decode([id]) : this.named(id);
    return text.trim() || (text.includes("\n") ? "new line" : several(text.length, "space"));
  }

  // The same with the signs in elements of their own, to be faint.
  letters(id) {
    const parts = this.named(id).split(/([·↵⇥]+)/);
    return parts.map((part, place) => (place % 2 ? make("i", {}, part) : part));
  }

  // ---- the text in its pieces ----

  text() {
    this.list = make("ol", { className: "pieces", ariaLabel: "The text in its pieces" });
    const choose = ({ target }) => {
      const place = [...this.list.children].indexOf(target.closest("li"));
      if (place >= 0) this.point(place);
    };
    for (const event of ["mouseover", "focusin", "click"]) this.list.addEventListener(event, choose);
    this.list.onkeydown = (event) => this.move(event);
    const grades = [0, ...SHADES].map((bits, shade) => {
      const textContent = shade ? `from ${bits}` : `below ${SHADES[0]}`;
      return make("span", { className: `shade-${shade}`, textContent });
    });
    const legend = make("p", { className: "hint grades" }, "bits: ", ...grades);
    this.summary = make("p", { className: "change" });
    this.detail = make("p", { className: "looks", id: `${this.id}-detail` });
    const hint = "Press a piece, or point at it; the arrow keys lead to the next. What had the model expected there?";
    return [this.list, legend, this.summary, this.detail, make("p", { className: "hint" }, hint)];
  }

  // Tab leads to one of the pieces. From there the arrows lead to the others.
  move(event) {
    const last = this.typed.length - 1;
    const place = { ArrowLeft: this.chosen - 1, ArrowRight: this.chosen + 1, Home: 0, End: last }[event.key];
    if (place === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.list.children[Math.max(0, Math.min(last, place))].firstChild.focus();
  }

  // Those that have stayed the same, at the start, are left as they are.
  showPieces() {
    const different = this.typed.findIndex((id, place) => this.listed[place] !== id);
    const same = different < 0 ? this.typed.length : different;
    for (const item of [...this.list.children].slice(same)) item.remove();
    this.listed = this.typed;
    for (const id of this.typed.slice(same)) {
      const button = make("button", { type: "button", tabIndex: -1, ariaPressed: false }, ...this.letters(id));
      const item = make("li", {}, button);
      if (this.pieces.bytes[id].includes(10)) item.append(make("br")); // a new line
      this.list.append(item);
    }
    this.list.scrollTop = this.list.scrollHeight; // where one mostly types
  }

  showCosts() {
    const { reading, typed } = this;
    const costs = typed.map((_, place) => reading.bits(place + 1)); // the 0th is the end of another text
    const from = Math.max(0, reading.seenFrom(typed.length) - 1);
    for (const [place, item] of [...this.list.children].entries()) {
      if (item.bits !== costs[place]) {
        item.bits = costs[place]; // with a part off they are others
        item.className = `shade-${SHADES.filter((bits) => costs[place] >= bits).length}`;
        item.firstChild.ariaLabel = `${this.spoken(typed[place])}, ${inBits(costs[place])}`;
      }
      item.classList.toggle("unseen-now", place < from);
    }
    const bytes = total(typed.map((id) => this.pieces.bytes[id].length));
    const plain = typed.map((_, place) => this.plainReading.bits(place + 1));
    const was = this.deeds.length ? ` It was ${(total(plain) / bytes).toFixed(2)}.` : "";
    const size = `${several(typed.length, "piece")}, ${several(bytes, "byte")}: ${(total(costs) / bytes).toFixed(2)} bits a byte.${was}`;
    const sees = `For what comes next the model still sees the last ${typed.length - from}; dashed are those before.`;
    this.summary.textContent = typed.length ? `${size}${from ? ` ${sees}` : ""}` : "Nothing is typed.";
    this.detail.textContent = "";
    if (typed.length) this.point(costs.indexOf(Math.max(...costs)));
  }

  // What had been expected where this piece stands.
  point(place) {
    const chances = this.reading.chances[place];
    if (!chances) return; // it is still being read
    const mark = (button, chosen) => {
      Object.assign(button, { ariaPressed: chosen, tabIndex: chosen ? 0 : -1 });
      if (chosen) button.setAttribute("aria-describedby", this.detail.id);
      else button.removeAttribute("aria-describedby");
    };
    if (this.list.children[this.chosen]) mark(this.list.children[this.chosen].firstChild, false);
    mark(this.list.children[place].firstChild, true);
    this.chosen = place;
    const id = this.typed[place];
    const best = likeliest(chances, 3).map((id) => `${quoted(this.named(id))} (${percent(chances[id])})`);
    const cost = `${quoted(this.named(id))} cost ${inBits(this.reading.bits(place + 1))}: its chance was ${chances[id] < 0.001 ? "less than 0.1\u00a0%" : percent(chances[id])}.`;
    this.detail.textContent = `${cost} Likeliest there: ${listed(best)}.`;
  }

  // ---- what may come next ----

  next() {
    const title = (words) => make("th", { scope: "col" }, words);
    const titles = make("tr", {}, title("next piece"), make("td", { className: "bar" }), title("chance"));
    this.likely = make("tbody");
    return make("table", { className: "next" }, make("thead", {}, titles), this.likely);
  }

  showNext() {
    const chances = this.reading.chances.at(-1);
    this.options = likeliest(chances, MOST_NEXT).map((id) => [id, chances[id]]);
    this.likely.replaceChildren(...this.options.map(([id, share]) => this.option(id, share)));
  }

  option(id, share) {
    const longer = this.area.value + this.pieces.decode([id]);
    const put = async () => {
      await this.put(longer);
      (this.likely.querySelector("button:enabled") ?? this.area).focus(); // it is a new one
    };
    const disabled = !this.isWhole(id) || longer.length > MOST_LETTERS;
    const button = make("button", { type: "button", onclick: put, disabled, ariaLabel: this.spoken(id) }, ...this.letters(id));
    const fill = make("i");
    fill.style.width = `${(100 * share) / this.options[0][1]}%`;
    const bar = make("td", { className: "bar" }, fill);
    return make("tr", {}, make("th", { scope: "row" }, button), bar, make("td", {}, percent(share)));
  }

  // ---- how it goes on ----

  writing() {
    this.temperature = this.setting("temperature", { type: "range", min: 0.1, max: 2, step: 0.1, value: 0.8 });
    this.topP = this.setting("top-p", { type: "range", min: 0.05, max: 1, step: 0.05, value: 0.9 });
    this.seed = this.setting("seed", { type: "number", min: 1, max: 9999, step: 1, value: 1 });
    const button = (textContent, onclick) => make("button", { type: "button", textContent, onclick });
    this.go = button("Write on", () => (this.go.textContent === "Stop" ? this.stop("stopped") : this.write()));
    const another = button("Another", () => {
      this.seed.value = Number(this.seed.value) + 1;
      this.write();
    });
    this.keep = button("Keep it", () => {
      this.go.focus(); // the button that was pressed is of no use now
      this.put(this.longer.slice(0, MOST_LETTERS));
    });
    const settings = [this.temperature, this.topP, this.seed].map((input) => input.parentElement);
    this.sample = make("p", { className: "sample" });
    this.verdict = make("p", { className: "hint" });
    const buttons = make("div", {}, this.go, another, this.keep);
    return [make("div", { className: "draw" }, ...settings, buttons), this.sample, this.verdict];
  }

  setting(name, properties) {
    const id = `${this.id}-${name}`;
    const input = Object.assign(make("input", { id }), properties);
    const parts = [make("label", { htmlFor: id, textContent: name }), input];
    if (input.type === "range") {
      const value = make("span", {}, input.value);
      input.oninput = () => (value.textContent = input.value);
      parts.push(value);
    }
    make("div", {}, ...parts);
    return input;
  }

  // Piece after piece is drawn, until the text ends. The same seed draws the same again.
  async write() {
    const turn = this.begin();
    this.go.textContent = "Stop";
    const [temperature, topP, seed] = [this.temperature, this.topP, this.seed].map(({ value }) => Number(value));
    const number = die(seed);
    const pace = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : PACE;
    const written = [];
    this.settings = `Seed ${seed}, temperature ${temperature}, top-p ${topP}`;
    this.showWritten(written, `${this.settings}.`);
    while (written.length < MOST_WRITTEN) {
      if (!(await this.readThrough(this.reading, [...this.typed, ...written], turn))) return;
      const id = drawn(nucleus(this.reading.chances.at(-1), temperature, topP), number());
      if (id === this.pieces.end) return this.stop("then the text ended");
      written.push(id);
      this.showWritten(written, `${this.settings}.`);
      await pause(pace);
      if (this.turn !== turn) return;
    }
    this.stop("the most that are written here");
  }

  // What was typed may have been on its way through the model when the button was pressed: that goes on now.
  stop(why) {
    this.begin();
    this.showWritten(this.written, `${this.settings}: ${several(this.written.length, "piece")}, ${why}.`);
    this.say(`${this.pieces.decode(this.written)} ${this.verdict.textContent}`);
    if (this.playground.classList.contains("computing")) this.run();
  }

  get longer() {
    return this.area.value + this.pieces.decode(this.written);
  }

  showWritten(written, verdict) {
    this.written = written;
    const given = this.area.value;
    const shown = given.length > MOST_GIVEN ? `…${given.slice(-MOST_GIVEN)}` : given;
    this.sample.replaceChildren(...(written.length ? [shown, make("strong", {}, this.pieces.decode(written))] : []));
    this.verdict.textContent = verdict;
    this.keep.disabled = !written.length;
  }
}

benches.GPT = (playground, data) => new GptBench(playground, data, new GPT(data)).open();
