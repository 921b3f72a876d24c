// The bench of a model that reads symbols, round after round: what it says comes next, and which symbols it foresaw where
// they stand. What is right here a rule says: what followed the same symbol the last time.

const FEWEST_COLUMNS = 8;
const UNSURE = 0.1; // of 64 symbols, a chance that is not much
const ALIKE = 0.6; // of the symbols, in a text that repeats itself

// Letters without spaces: each is a symbol.
class SymbolField {
  constructor({ id, known, most, asks, offered, changed }) {
    Object.assign(this, { known, most, offered, changed, next: 0, words: [], unread: "" });
    this.input = make("input", { type: "text", id: `${id}-text`, autocomplete: "off", spellcheck: false, autocapitalize: "off" });
    this.input.setAttribute("aria-describedby", `${id}-hint`);
    this.input.oninput = () => this.read();
    const another = make("button", { type: "button", textContent: "Another", ariaLabel: "Another text" });
    another.onclick = () => this.offer();
    this.hint = make("p", { className: "hint", id: `${id}-hint` });
    const label = make("label", { htmlFor: this.input.id, textContent: asks });
    this.element = make("div", { className: "ask" }, label, this.input, make("div", {}, this.hint), another);
  }

  offer() {
    return this.put(this.offered[this.next++ % this.offered.length]);
  }

  put(text) {
    this.input.value = text;
    return this.read();
  }

  read() {
    const symbols = [...this.input.value.replace(/\s/g, "")];
    const strange = symbols.findIndex((symbol) => !this.known.includes(symbol));
    this.words = symbols.slice(0, Math.min(this.most, strange < 0 ? Infinity : strange));
    this.unread = this.notRead(symbols, strange);
    this.hint.textContent = this.unread || `Capital and small letters differ, spaces are left out. ${this.most} symbols at most.`;
    return this.changed();
  }

  // What of the typed text is left out, and why; nothing where all of it is read.
  notRead(symbols, strange) {
    if (strange >= 0 && strange < this.most) {
      const read = strange ? `Only ${quoted(this.words.join(""))}` : "Nothing";
      return `${read} is read. The model has not met ${quoted(symbols[strange])}: it knows the letters a to z and A to Z, digits, + and =.`;
    }
    return symbols.length > this.most ? `Only the first ${this.most} symbols are read.` : "";
  }
}

// Where the symbol of this place stood the last time before, or -1: behind it stands what the rule expects.
const lastTime = (symbols, place) => (place > 0 ? symbols.lastIndexOf(symbols[place], place - 1) : -1);

// The length of a round, of symbols that mostly repeat themselves; 0 of others.
function roundOf(symbols) {
  const alike = (length) => {
    const behind = symbols.slice(length);
    return behind.length < 2 ? 0 : behind.filter((symbol, place) => symbol === symbols[place]).length / behind.length;
  };
  const shares = symbols.map((_, length) => (length ? alike(length) : 0));
  const most = Math.max(0, ...shares);
  return most >= ALIKE ? shares.indexOf(most) : 0;
}

class InductionBench extends SentenceBench {
  piece = "symbol";

  form() {
    const { read, longest, offered } = this.data;
    const asks = "A few letters, again and again";
    this.field = new SymbolField({ id: this.id, known: read, most: longest, asks, offered, changed: () => this.readAnew() });
    return [this.field.element];
  }

  answer() {
    this.likely = make("span", { translate: false });
    this.verdict = make("p", { className: "verdict" });
    this.rounds = make("ol", { className: "rounds", translate: false, ariaLabel: "The symbols, and what was foreseen" });
    const legend = "Below each symbol: the chance that it had there, in %. ✓ it could be known and was the likeliest, ✗ it was not.";
    const says = make("p", { className: "says" }, "Next comes: ", this.likely);
    this.tally = new TallyLine(this);
    return [make("div", { className: "outcome" }, says, this.verdict, this.rounds, make("p", { className: "hint" }, legend), this.tally.element)];
  }

  inputOf(words) {
    return words.map((symbol) => this.data.read.indexOf(symbol));
  }

  inputOfText(text) {
    return this.inputOf([...text].filter((symbol) => this.field.known.includes(symbol)).slice(0, this.data.longest));
  }

  get vocabulary() {
    return this.data.read;
  }

  labels() {
    return this.words;
  }

  telling(stack, weights) {
    return weights.length - 1; // what comes next is predicted from the last symbol
  }

  showNothing() {
    super.showNothing();
    this.say(this.field.unread || NO_SYMBOL);
  }

  showAnswer() {
    this.rounds.replaceChildren();
    this.likely.replaceChildren();
    this.verdict.textContent = this.field.unread ? "" : NO_SYMBOL;
    if (this.input === null) return;
    const { likely, marks } = this.foreseen(this.logits);
    const before = this.foreseen(this.plainLogits);
    const [first, ...others] = likely.map(({ symbol, share }) => [symbol, ` ${percent(share)}`]);
    this.likely.append(make("strong", {}, first[0]), first[1], `, then ${listed(others.map((each) => each.join("")))}`);
    this.verdict.textContent = this.told(likely[0], marks, before);
    this.showRounds(marks, likely[0]);
    this.tally.show();
    this.outcomeInWords = `Next comes: ${this.likely.textContent}. ${this.verdict.textContent}`;
    this.say(this.field.unread || this.outcomeInWords);
  }

  // What is likeliest behind the last symbol, and of each symbol what had been foreseen where it stands.
  foreseen(logits) {
    const { data, words } = this;
    const chances = logits.map((each) => softmax(each));
    const marks = words.map((symbol, place) => {
      if (!place) return { symbol };
      const before = lastTime(words, place - 1);
      const share = chances[place - 1][data.read.indexOf(symbol)];
      const right = share === Math.max(...chances[place - 1]);
      return { symbol, share, right, known: before >= 0 && words[before + 1] === symbol };
    });
    const likely = likeliest(chances.at(-1), 3).map((id) => ({ symbol: data.read[id], share: chances.at(-1)[id] }));
    return { chances, likely, marks };
  }

  // Whether the likeliest is right by the rule, and what the changes have done.
  told(best, marks, before) {
    const { data, words } = this;
    const known = marks.filter((mark) => mark.known);
    const right = (all) => all.filter((mark) => mark.known && mark.right).length;
    const was = (text) => (this.deeds.length ? ` (${text} with nothing changed)` : "");
    const had = (symbol) => percent(before.chances.at(-1)[data.read.indexOf(symbol)]);
    const place = lastTime(words, words.length - 1);
    const expected = words[place + 1];
    const rule = `the last time, at place ${place + 1}, ${words.at(-1)} was followed by ${expected}`;
    const parts = [`${words.at(-1)} has not stood before: what follows can’t be known${was(`${best.symbol} had ${had(best.symbol)}`)}.`];
    const sure = best.share < UNSURE ? "Right, though hardly surer than of any other" : "Right";
    if (place >= 0) parts[0] = `${best.symbol === expected ? sure : "Wrong"}: ${rule}${was(`${expected} had ${had(expected)}`)}.`;
    if (known.length) parts.push(`Foreseen: ${right(marks)} of the ${known.length} that could be known so${was(right(before.marks))}.`);
    return parts.join(" ");
  }

  // Rounds stand below each other, where there are any.
  showRounds(marks, best) {
    const round = roundOf(this.words);
    const columns = round && round * Math.ceil(FEWEST_COLUMNS / round);
    this.rounds.style.setProperty("--columns", columns || "auto-fill");
    this.rounds.classList.toggle("long", columns > 10);
    const next = { ...best, next: true };
    this.rounds.replaceChildren(...[...marks, next].map((mark) => this.cell(mark)));
  }

  cell({ symbol, share, right, known, next }) {
    const sign = known ? (right ? "✓" : "✗") : "";
    const words = [symbol, share === undefined ? "the first" : percent(share)];
    if (next) words.unshift("next");
    if (known) words.push(right ? "foreseen" : "could be known, not foreseen");
    const lines = [share === undefined ? "" : `${Math.round(100 * share)}`, next ? "?" : sign];
    const shown = make("span", { ariaHidden: "true" }, make("b", {}, symbol), ...lines.map((line) => make("i", {}, line)));
    const cell = make("li", { className: next ? "next-symbol" : "" }, shown, make("span", { className: "unseen" }, words.join(", ")));
    cell.style.setProperty("--share", `${Math.round(50 * (share ?? 0))}%`);
    return cell;
  }
}

const NO_SYMBOL = "Nothing is typed yet. Type a few letters and repeat them, or press “Another”.";

benches.Induction = (playground, data) => new InductionBench(playground, data, new LanguageModel(data)).open();
