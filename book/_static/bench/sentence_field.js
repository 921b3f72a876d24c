// The field of a bench that reads sentences of words that it knows: what is typed, which words are offered, and what of
// it is not read, and why.

const MOST_TYPED = 24; // words
const MOST_OFFERED = 8;
const MOST_QUOTED = 10; // words
const MOST_STRANGE = 30; // of one that is strange
const MARKS = { "<padding>": "padding", "<start>": "start", "<end>": "end" };

const ending = (words) => (words.length > MOST_QUOTED ? ["…", ...words.slice(-MOST_QUOTED)] : words);
const shown = (word) => MARKS[word] ?? word;
const text = (words) => words.filter((word) => !(word in MARKS)).join(" ").replace(/ ('s|'|\.)(?= |$)/g, "$1");

// "The king’s dog." is the, king, 's, dog: the words as the models know them.
function wordsOf(sentence) {
  const plain = sentence.toLowerCase().replace(/[’‘]/g, "'").replace(/[,;:"“”()…–—]/g, " ");
  return plain.replace(/'s\b|'/g, " $& ").split(/\s+/).filter(Boolean);
}

// Sentences end with a full stop, or what does its work.
const sentencesOf = (typed) => typed.split(/[.!?]/).filter((sentence) => wordsOf(sentence).length);

class SentenceField {
  // `asks` is its label, `offered` are texts to try, each a `kind`; `written` are the words that the model answers in,
  // where they are others. `changed` is called when another text is to be read.
  constructor({ id, known, marks = [], asks, offered, kind, written = [], changed }) {
    Object.assign(this, { known, marks, offered, kind, written, changed, next: 0, words: [] });
    this.input = make("input", { type: "text", id: `${id}-text`, autocomplete: "off", spellcheck: false, autocapitalize: "off" });
    this.input.setAttribute("aria-describedby", `${id}-hint`);
    this.input.oninput = () => this.read();
    const another = make("button", { type: "button", textContent: "Another", onclick: () => this.offer() });
    another.setAttribute("aria-label", `Another ${kind}`);
    this.offers = make("div", { className: "offers" });
    this.hint = make("p", { className: "hint", id: `${id}-hint` });
    const label = make("label", { htmlFor: this.input.id, textContent: asks });
    // Tab leads from the field to the words that it offers.
    this.element = make("div", { className: "ask" }, label, this.input, make("div", {}, this.offers, this.hint), another);
  }

  // The words that may be typed: below the result, and folded.
  get list() {
    const plain = this.known.filter((word) => !word.startsWith("'"));
    const more = plain.length < this.known.length ? ", and the endings of king’s and kings’" : "";
    const rest = ` Its table has ${this.marks.length} rows more, for what nobody types: ${listed(this.marks)}.`;
    const summary = make("summary", {}, `The ${plain.length} words it knows`);
    return make("details", { className: "known" }, summary, make("p", { className: "hint" }, `${plain.join(" ")}${more}.${rest}`));
  }

  offer() {
    return this.put(this.offered[this.next++ % this.offered.length]);
  }

  put(words) {
    this.input.value = `${text(words.split(" "))} `;
    return this.read();
  }

  // Words are offered for the one that is being typed. One sentence is read, up to the first word that is unknown.
  read() {
    const typed = this.input.value;
    const [first = "", ...more] = sentencesOf(typed);
    const words = wordsOf(first);
    const last = /[^\s.!?]$/.test(typed) && !more.length ? words.at(-1) : undefined;
    const longer = this.known.filter((word) => last && word.startsWith(last) && word !== last);
    const unknown = words.filter((word) => !this.known.includes(word));
    this.words = words.slice(0, Math.min(MOST_TYPED, unknown.length ? words.indexOf(unknown[0]) : Infinity));
    this.half = longer.length && unknown[0] === last ? last : undefined; // it may still become a word
    this.unread = this.notRead(words, unknown[0] === this.half ? undefined : unknown[0], more);
    const chips = longer.slice(0, MOST_OFFERED).map((word) => this.chip(word));
    if (this.unread && !this.words.length) chips.push(this.example());
    this.offers.replaceChildren(...chips);
    this.hint.textContent = this.unread;
    this.hint.classList.toggle("unread", Boolean(this.unread));
    return this.changed();
  }

  // What of the typed text is left out, and why; nothing where all of it is read.
  notRead(words, strange, more) {
    if (strange) {
      const read = this.words.length ? `Only ${quoted(text(ending(this.words)))}` : "Nothing";
      const inShort = strange.length > MOST_STRANGE ? `${strange.slice(0, MOST_STRANGE)}…` : strange;
      if (this.written.includes(strange)) return `${read} is read. ${quoted(strange)} is Lingo, which the model writes; it reads English.`;
      const near = this.known.filter((word) => word[0] === strange[0]);
      const some = near.length ? `with ${strange[0]} it knows ${listed(near)}` : `it knows ${listed(this.known)}`;
      return `${read} is read. The model has not met ${quoted(inShort)}: ${some}.`;
    }
    if (words.length > MOST_TYPED) return `Only the first ${MOST_TYPED} words are read${this.known.includes("'s") ? " (’s is one)" : ""}.`;
    if (more.length) return "Only the first sentence is read.";
    const ends = this.kind === "beginning" && /[.!?]\s*$/.test(this.input.value);
    return ends ? "The full stop is not read: the model predicts it." : "";
  }

  // For whoever typed what can't be read at all.
  example() {
    const put = () => {
      this.input.focus();
      this.offer();
    };
    return make("button", { type: "button", textContent: this.offered[this.next % this.offered.length], onclick: put });
  }

  chip(word) {
    const put = () => {
      this.input.focus();
      this.put([...wordsOf(this.input.value).slice(0, -1), word].join(" "));
    };
    return make("button", { type: "button", textContent: word, onclick: put });
  }
}

// The words of a vocabulary that a reader may type: neither marks nor the full stop, the endings last.
function typeable(vocabulary) {
  const known = vocabulary.filter((word) => /^['a-z]/.test(word));
  return known.sort((a, b) => (a[0] === "'") - (b[0] === "'") || (a < b ? -1 : 1));
}
