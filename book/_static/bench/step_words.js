// What is said of each step (steps.js): one sentence with its numbers, and the arithmetic of the one number that is
// followed through all of them.

(() => {
  const { summed, lengthOf, largestOf, within } = stepping;


  // −0.42: with a real minus sign, and none before zero.
  function written(number, digits = 2) {
    const text = Math.abs(number).toFixed(digits);
    return number < 0 && Number(text) ? `−${text}` : text;
  }

  // "1.20 + 0.63 − 0.35"
  const sumOf = (terms) =>
    terms.map((term, i) => (i ? ` ${written(term).startsWith("−") ? "−" : "+"} ${written(Math.abs(term))}` : written(term))).join("");

  // The places of the largest numbers, the largest first.
  function largestFew(numbers, count) {
    if (count > 9) return [...numbers.keys()].sort((a, b) => numbers[b] - numbers[a]).slice(0, count);
    const few = [];
    for (let i = 0; i < numbers.length; i++) {
      if (few.length === count && numbers[i] <= numbers[few[count - 1]]) continue;
      const place = few.findIndex((other) => numbers[other] < numbers[i]);
      few.splice(place < 0 ? few.length : place, 0, i);
      few.length = Math.min(few.length, count);
    }
    return few;
  }

  const shareOf = (share) => (share > 0 && share < 0.0005 ? "under 0.1\u00a0%" : percent(share));
  const root = (width) => (Number.isInteger(Math.sqrt(width)) ? `${Math.sqrt(width)}` : written(Math.sqrt(width)));
  const ordinary = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  class StepWords {
    // `follow` is the place of the one number among all of a vector.
    constructor(bench, way, follow) {
      Object.assign(this, { bench, way, follow, word: this.wordAt.bind(this) });
    }

    // “the”, or, where there are several: “the” (place 3).
    wordAt(stack, place, more) {
      return wordWords(this.bench.labels(stack), place, more);
    }

    get who() {
      return this.wordAt(this.way.stack.name, this.way.place);
    }

    get unit() {
      return this.bench.piece;
    }

    named(id) {
      return quoted(this.bench.vocabulary[id]);
    }

    // The two words that are compared at the end: the reader's, or else the likeliest two.
    rivals(logits) {
      const { rivals } = this.bench;
      return rivals?.every((id) => within(id, logits.length)) ? rivals : largestFew(logits, 2);
    }

    // Among the numbers of one head, the followed one.
    inHead(step) {
      return this.follow % step.narrow;
    }

    sentence(step) {
      return [this[step.kind](step), step.off && this.offSaid(step), step.carried && CARRIED].filter(Boolean).join(" ");
    }

    offSaid({ kind, head }) {
      if (kind === "output") return "";
      return kind === "mix" ? "" : `(Head ${head + 1} is off: what it finds is not used.)`;
    }

    // ---- what goes in ----

    embedding({ rows, scale, numbers }) {
      const width = numbers.row.length;
      const loud = scale === 1 ? "" : `, times √${width} = ${root(width)}`;
      const table = `Each of ${rows} ${this.unit}s has a row of ${width} numbers in a table, all learned.`;
      return `${table} The way of ${this.who} begins with its row${loud}. ${this.endsWith}`;
    }

    get endsWith() {
      const { stack } = this.way;
      return stack.head ? "It ends with what comes next." : "It ends as what the writing side looks at.";
    }

    positions({ learned, numbers }) {
      if (numbers.position.every((number) => Math.abs(number) < 1e-6))
        return `Places are off: nothing is added, and nothing tells where ${this.who} stands.`;
      const kind = learned ? "learned like those of words" : "waves of different lengths";
      const own = `Place ${this.way.place + 1} has ${numbers.given.length} numbers of its own, ${kind}: they are added.`;
      return `So far ${this.who} is the same wherever it stands. ${own} From here on these numbers are its stream: every part reads them, and adds to them.`;
    }

    norm({ then, numbers }) {
      const { mean, deviation } = numbers;
      const ends = {
        attention: "This is what the heads read.",
        network: "This is what the neurons read.",
        logits: `These numbers are held against each ${this.unit}.`,
        memory: `Here the way of ${this.who} ends: this is what the other side looks at.`,
      };
      const taken = `To keep numbers in range, their mean, ${written(mean)}, is taken off each`;
      const divided = `and what is left is divided by their spread, ${written(deviation)}`;
      return `${taken}, ${divided}. Then each is multiplied by a gain of its own, and a bias is added: both were learned. ${ends[then]}`;
    }

    // ---- attention ----

    query(step) {
      const { head, narrow, memory, key, cross, numbers } = step;
      const other = this.wordAt(memory, key);
      const begins = cross ? "Now it looks across, at what was read. " : "";
      const same = !cross && key === this.way.place;
      const from = same ? "the same numbers" : `those of ${other}`;
      const query = `makes ${narrow} numbers out of ${numbers.given.length}: a query, for what ${this.who} seeks`;
      return `${begins}Head ${head + 1} ${query}. Out of ${from} it makes a key, for what ${other} can be found by.`;
    }

    score({ memory, key, narrow, numbers }) {
      const other = this.wordAt(memory, key);
      const sum = `Number by number they are multiplied, and all ${narrow} products added up: ${written(numbers.sum)}.`;
      const score = `Over √${narrow} = ${root(narrow)} that is the score: ${written(numbers.score)}.`;
      return `Does the key of ${other} fit the query of ${this.who}? ${sum} ${score}`;
    }

    softmax(step) {
      const { head, memory, numbers } = step;
      const { weights, visible } = numbers;
      const best = largestFew(weights, 2).filter((place, i) => !i || weights[place] > 0.05);
      if (!visible.some(Boolean)) return `Everything is hidden: head ${head + 1} has nothing to look at, and finds nothing.`;
      const shares = listed(best.map((place) => this.wordAt(memory, place, shareOf(weights[place]))));
      return `Scores become shares of one whole: e to the power of each, over the sum of all. Head ${head + 1} looks most at ${shares}.${this.unseen(step)}`;
    }

    unseen({ numbers, memory, causal }) {
      const { hidden } = this.way.model.changes ?? {};
      const places = [...numbers.visible.keys()].filter((place) => !numbers.visible[place]);
      const later = places.filter((place) => !hidden?.has(`${memory} ${place}`));
      const yours = places.length - later.length;
      const mine = yours ? ` You have hidden ${ordinary(yours, this.unit)}.` : "";
      const isLast = causal && this.way.place === numbers.visible.length - 1;
      const nothing = isLast ? ` The mask hides nothing here: no ${this.unit} comes later.` : "";
      return (later.length ? ` The mask hides ${ordinary(later.length, `later ${this.unit}`)}.` : nothing) + mine;
    }

    mix({ head, off, memory, narrow, numbers }) {
      if (off) return `Head ${head + 1} is off: in the place of what it finds stand zeros.`;
      const { weights } = numbers;
      const best = largestFew(weights, 2).filter((place, i) => !i || weights[place] > 0.05);
      // In tenths, of which all together are a hundred percent.
      const tenths = best.map((place) => Math.round(1000 * weights[place]));
      const taken = (tenth, from) => `${tenth / 10}\u00a0% from ${from}`;
      const parts = best.map((place, i) => taken(tenths[i], this.wordAt(memory, place)));
      const rest = 1000 - summed(tenths);
      if (rest >= 5) parts.push(taken(rest, "others"));
      const value = `Each ${this.unit} has a value, too: ${narrow} numbers, for what it has to give.`;
      return `${value} Head ${head + 1} takes ${listed(parts)}. Added up, that is what it found.`;
    }

    output({ heads, numbers }) {
      const lengths = numbers.heads.map(lengthOf);
      const most = largestOf(lengths);
      const width = numbers.given.length;
      return `What ${heads} heads found lies side by side. The output matrix makes ${width} numbers of each find, and all of them are added to the stream of ${this.who}. Head ${most + 1} adds most: a vector of length ${written(lengths[most])}, to a stream of length ${written(lengthOf(numbers.given))}.`;
    }

    // ---- the network ----

    widen({ hidden, activation, numbers }) {
      const fire = numbers.wide.filter((number) => number > 0).length;
      const [most] = largestFew(numbers.strengths, 1);
      const less = activation === "relu" ? "it stays silent (that is relu)" : "hardly anything is left of it (that is gelu)";
      return `Each of ${hidden} neurons weighs the ${numbers.given.length} numbers in its own way, and adds them up. Where that comes to less than 0, ${less}. ${fire} fire. The one that will add most is neuron ${most + 1}.`;
    }

    narrow({ numbers }) {
      const { strengths, given, more } = numbers;
      const half = summed(strengths) / 2;
      const order = largestFew(strengths, strengths.length);
      let [count, sum] = [0, 0];
      while (sum < half) sum += strengths[order[count++]];
      const few = count === 1 ? "One neuron does" : `${count} neurons do`;
      return `A neuron that fires adds ${given.length} numbers of its own, the stronger the more. ${few} half of it. All together add a vector of length ${written(lengthOf(more))} to the stream, whose length was ${written(lengthOf(given))}.`;
    }

    // ---- what comes out ----

    logits({ numbers }) {
      const { logits, given } = numbers;
      const [one, other] = this.rivals(logits);
      const table = this.way.tied ? "the table that the way began with" : "a last table";
      return `Each of ${logits.length} ${this.unit}s has a row in ${table}. Multiplied with these ${given.length} numbers and added up, it gives a logit, the score before the softmax: ${written(logits[one])} for ${this.named(one)}, ${written(logits[other])} for ${this.named(other)}.`;
    }

    chances({ numbers }) {
      const { chances, logits } = numbers;
      const [one, other] = this.rivals(logits);
      const best = largestOf(chances);
      const ends = best === one ? "" : ` Likeliest is ${this.named(best)}, with ${shareOf(chances[best])}.`;
      return `The same softmax as before: e to the power of each logit, over the sum of all. What comes next is ${this.named(one)} with ${shareOf(chances[one])}, ${this.named(other)} with ${shareOf(chances[other])}.${ends}`;
    }
  }

  const CARRIED = "What stands here was carried over: it did not come out of the numbers above.";

  Object.assign(stepping, { StepWords, written, sumOf, largestFew, shareOf, root, ordinary });
})();
