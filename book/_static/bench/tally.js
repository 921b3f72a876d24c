// How often a model is right: the same fifty tries, which it has not learned from, with what is off, by the truth of
// truth.js. A tally is a generator, since fifty runs take longer than a page may wait: it yields after each piece of
// work, with the tries made so far, and what it returns can be told to the reader.

// A model of its own with the same weights: what is shown of the other stays as it is. Places and vectors that
// were chosen in the sentence that is shown mean nothing in others: of the changes only the rest is tried.
function besides(model, changes) {
  const own = Object.assign(Object.create(Object.getPrototypeOf(model)), model, { traces: {} });
  own.changes = { ...changes, hidden: new Set(), carried: [] };
  return own;
}

const likeliestOf = (logits, ids = [...logits.keys()]) =>
  ids.reduce((one, other) => (logits[other] > logits[one] ? other : one));

function* tally(model, data, changes) {
  const own = besides(model, changes);
  const [kind] = Object.keys(tallies).filter((name) => name in data);
  return yield* tallies[kind](own, data);
}

// What a tally of so many right ones says, with the first that are wrong.
function counted(right, of, rule, wrong) {
  return { right, of, rule, examples: wrong.slice(0, 3) };
}

const tallies = {
  // Whole sentences: right when every word is, and the end comes where it should.
  *truth(model, data) {
    const wrong = [];
    for (const [tried, text] of data.fifty.entries()) {
      yield tried;
      const words = text.split(" ");
      const ids = yield* runningOn(model, [...words.map((word) => data.read.indexOf(word)), data.end], tried);
      const written = ids.map((id) => data.written[id]);
      const { right, expected } = judged(data, words, written);
      if (right && ids.length === expected.length + 1) continue; // with the end, which must be there
      const said = written.filter((word) => word !== data.written[data.end]);
      wrong.push({ text: text.replaceAll(" '", "’"), written: said.join(" "), right: expected.join(" ") });
    }
    const rule = "A translation is right when every word is.";
    return counted(data.fifty.length - wrong.length, data.fifty.length, rule, wrong);
  },

  // Beginnings that stop before a verb: right when, of all forms of verbs, the likeliest agrees with the subject.
  *verbs(model, data) {
    const forms = Object.entries(data.verbs).flat();
    const ids = forms.map((form) => data.read.indexOf(form));
    const wrong = [];
    for (const [tried, text] of data.fifty.entries()) {
      yield tried;
      const words = text.split(" ");
      const logits = yield* runningOn(model, [data.start, ...words.map((word) => data.read.indexOf(word))], tried);
      const verb = data.read[likeliestOf(logits.at(-1), ids)];
      const [mark] = marked(data, [...words, verb]).marks.slice(-1);
      const other = forms[forms.indexOf(verb) ^ 1]; // they stand in pairs
      if (mark.wrong) wrong.push({ text, written: verb, right: other });
    }
    const rule = `It is right when, of the ${forms.length} forms of verbs, the likeliest agrees with the subject.`;
    return counted(data.fifty.length - wrong.length, data.fifty.length, rule, wrong);
  },

  // A few symbols again and again: from the second round on each can be foreseen, and right is the likeliest.
  *rounds(model, data) {
    let [right, of] = [0, 0];
    const wrong = [];
    for (const [tried, round] of data.rounds.entries()) {
      yield tried;
      const symbols = Array.from({ length: data.longest }, (_, place) => round[place % round.length]);
      const logits = yield* runningOn(model, symbols.map((symbol) => data.read.indexOf(symbol)), tried);
      for (let place = round.length; place < symbols.length - 1; place++) {
        const said = data.read[likeliestOf(logits[place])];
        of += 1;
        if (said === symbols[place + 1]) right += 1;
        else wrong.push({ text: symbols.slice(0, place + 1).join(""), written: said, right: symbols[place + 1] });
      }
    }
    return counted(right, of, "A symbol of a later round is right when it is the likeliest.", wrong);
  },

  // Beginnings of texts that were held out: what their bytes cost, in bits.
  *heldOut(model, { heldOut: { start, texts, bytes } }) {
    let bits = 0;
    for (const [tried, ids] of texts.entries()) {
      yield tried;
      const logits = yield* runningOn(model, [start, ...ids.slice(0, -1)], tried);
      for (const [place, id] of ids.entries()) bits -= Math.log2(softmax(logits[place])[id]);
    }
    const rule = "Fewer bits a byte are better: each byte alone would take 8.";
    return { bits: bits / bytes, of: texts.length, rule, examples: [] };
  },
};

// The result of a run; at each of its pauses the tally pauses, too.
function* runningOn(model, input, tried) {
  const run = model.running(input);
  for (;;) {
    const { done, value } = run.next();
    if (done) return value;
    yield tried;
  }
}
