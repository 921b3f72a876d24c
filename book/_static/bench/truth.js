// What is right, by the grammar: whether an English sentence is one, what it is in Lingo, and which words of a
// translation are wrong; and where a text leaves the grammar of the language model. The grammars come as tables
// from Python, with the model: chapters/the_transformer/truth.py and playground.py say what is in them.

const either = (parts) => [parts.slice(0, -1).join(", "), ...parts.slice(-1)].filter(Boolean).join(" or ");
const named = (word) => quoted(word.replace("'", "’"));
const misplaced = (words, place) =>
  `Word ${place + 1}, ${named(words[place])}, can’t follow ${named(words[place - 1])}`;

// ---- English, for the translator ----

// "transitive verb plural" is a kind of word and the number that others must agree with.
const kindAlone = (kind) => kind.replace(/ (singular|plural)$/, "");

const kindOfWord = (truth, word) => Object.keys(truth.words).find((kind) => word in truth.words[kind]);

// Words may be told one by one where they are few; of nouns, verbs and adjectives there are many.
function inPlainWords(truth, options) {
  const some = Object.keys(options).map((kind) => {
    const many = kind.match(/noun|verb|adjective/)?.[0];
    if (many) return [`${many === "adjective" ? "an" : "a"} ${many}`];
    return kind === "end" ? ["the end"] : Object.keys(truth.words[kind]).map(named);
  });
  return either([...new Set(some.flat())]);
}

// The kinds of these words, one after the other; or what is wrong with them, and at which place.
function walked(truth, words) {
  if (!words.length) return { fault: "There is no word yet.", place: 0 };
  const kinds = [];
  let state = 0;
  for (const [place, word] of words.entries()) {
    const options = truth.states[state];
    const kind = kindOfWord(truth, word);
    if (!(kind in options)) return { fault: faultAt(truth, words, place, options), place };
    kinds.push(kind);
    state = options[kind];
  }
  const options = truth.states[state];
  if ("end" in options) return { kinds };
  const after = `after ${named(words.at(-1))} comes ${inPlainWords(truth, options)}`;
  return { fault: `This is only the beginning of a sentence: ${after}.`, place: words.length };
}

function faultAt(truth, words, place, options) {
  const word = words[place];
  const kind = kindOfWord(truth, word);
  if (!kind) return `${named(word)} is no word of this English.`;
  const fitting = Object.keys(options).find((other) => kindAlone(other) === kindAlone(kind));
  if (fitting) {
    // It is the number that is wrong. The same word in the other number stands at the same place of its list.
    const better = Object.keys(truth.words[fitting])[Object.keys(truth.words[kind]).indexOf(word)];
    return `${named(word)} does not fit ${named(agreeingWith(truth, words, place))}: ${named(better)} would.`;
  }
  const expected = inPlainWords(truth, options);
  if (!place) return `A sentence can’t begin with ${named(word)}: it begins with ${expected}.`;
  return `${misplaced(words, place)}: here may come ${expected}.`;
}

// What the word at this place must agree with: the last before it that is no adjective.
function agreeingWith(truth, words, place) {
  return words.slice(0, place).findLast((word) => kindOfWord(truth, word) !== "adjective");
}

// The one right translation of a sentence whose words are of these kinds, as the grammar of Lingo orders them.
function inLingo(truth, words, kinds) {
  const lingo = [];
  let [place, plural] = [0, false];
  const next = () => truth.words[kinds[place]][words[place++]];
  const is = (kind) => kinds[place]?.includes(kind);
  // Behind the noun its adjectives, the nearest first, and then its owner, which stands before it in English.
  const phrase = () => {
    let read = [];
    do {
      const owner = is("possessive") ? [next(), ...read] : [];
      const described = [];
      while (!is("noun")) described.push(next());
      const noun = next();
      const [ending] = noun.match(/[oa]s?$/);
      const endings = described.map((stem) => stem.replace("-", ending));
      const article = owner.length ? [] : endings.splice(0, 1);
      read = [...article, noun, ...endings.reverse(), ...owner];
      plural = ending.endsWith("s");
    } while (is("possessive"));
    return read;
  };
  while (place < words.length) {
    if (is("determiner")) lingo.push(...phrase());
    const future = is("will") && next() === "";
    if (is("verb")) lingo.push(...next().replace("-", `e${future ? "ra" : ""}${plural ? "n" : ""}`).split(" "));
    else if (place < words.length) lingo.push(next());
  }
  return lingo;
}

// ---- what was written beside what is right ----

// The fewest changes that lead from the one to the other: pairs [written, right], of which one may be missing.
// A word stands rather beside one that begins like it.
function aligned(written, right) {
  const differs = (a, b) => (a === b ? 0 : a.slice(0, 2) === b.slice(0, 2) ? 1 : 1.5);
  const costs = [...Array(written.length + 1)].map(() => Array(right.length + 1).fill(0));
  const ways = (i, j) => [
    i && j ? [costs[i - 1][j - 1] + differs(written[i - 1], right[j - 1]), 1, 1] : [Infinity],
    i ? [costs[i - 1][j] + 1, 1, 0] : [Infinity],
    j ? [costs[i][j - 1] + 1, 0, 1] : [Infinity],
  ];
  const best = (i, j) => ways(i, j).reduce((one, other) => (other[0] < one[0] ? other : one));
  costs.forEach((row, i) => row.forEach((_, j) => (row[j] = i || j ? best(i, j)[0] : 0)));
  const pairs = [];
  for (let [i, j] = [written.length, right.length]; i || j; ) {
    const [, up, left] = best(i, j);
    pairs.unshift([up ? written[i - 1] : undefined, left ? right[j - 1] : undefined]);
    [i, j] = [i - up, j - left];
  }
  return pairs;
}

// What the grammar says of a translation: the wrong words, and those that are missing before the word `at`.
// Of what is no English sentence nothing is known, and `fault` says why.
function judged(data, words, written) {
  const { fault, place, kinds } = walked(data.truth, words);
  if (fault) return { known: false, fault, place };
  const expected = inLingo(data.truth, words, kinds);
  const marks = [];
  const missing = [];
  for (const [word, right] of aligned(written.filter((each) => each !== data.written[data.end]), expected)) {
    if (word === undefined) {
      if (missing.at(-1)?.at !== marks.length) missing.push({ at: marks.length, words: [] });
      missing.at(-1).words.push(right);
    } else {
      const note = right === undefined ? "should not be there" : `should be ${named(right)}`;
      marks.push(word === right ? { word, wrong: false } : { word, wrong: true, note });
    }
  }
  const right = !missing.length && marks.every(({ wrong }) => !wrong);
  return { known: true, right, expected, marks, missing, words: verdict(marks, missing, expected) };
}

function verdict(marks, missing, expected) {
  const wrong = marks.filter((mark) => mark.wrong).length;
  const lost = missing.flatMap(({ words }) => words).length;
  if (!wrong && !lost) return "Right, in every word.";
  const counted = (number, what) => (number ? [`${number} ${number === 1 ? "word is" : "words are"} ${what}`] : []);
  const faults = [...counted(wrong, "wrong"), ...counted(lost, "missing")].join(", ");
  return `Not right: ${faults}. It should be ${quoted(expected.join(" "))}.`;
}

// ---- the grammar of the language model ----

// Which words the grammar allows where they stand. Behind a verb in the wrong number all goes on as if it were the
// right one. Behind any other fault nothing is judged: no state of the grammar is then the true one.
function marked(data, words) {
  const { grammar, verbs } = data;
  const numbers = { ...verbs, ...Object.fromEntries(Object.entries(verbs).map(([one, other]) => [other, one])) };
  const faults = [];
  let state = 0; // -1 behind the full stop, and undefined behind a fault
  const marks = words.map((word, place) => {
    if (state === undefined) return { word, judged: false, wrong: false };
    const options = grammar[state] ?? {};
    const better = word in options ? word : numbers[word];
    state = options[better]?.[1];
    if (better === word && state !== undefined) return { word, judged: true, wrong: false };
    const note = noteOn(data, words, place, options, better in options ? better : undefined);
    faults.push(note);
    return { word, judged: true, wrong: true, note, allowed: Object.keys(options) };
  });
  const begun = "So far all is as the grammar has it; the sentence is not at its end.";
  const ended = state === -1 ? "A sentence of the grammar." : begun;
  const rest = state === undefined ? " What follows is not judged." : "";
  const sentence = !words.length ? "There is no word yet." : faults.length ? `${faults.join(" ")}${rest}` : ended;
  return { marks, right: !faults.length, ended: state === -1, words: sentence };
}

function noteOn(data, words, place, options, better) {
  const word = named(words[place]);
  if (better) {
    // In "that the cats follow" the noun is the last word; any other verb belongs to the sentence's first noun.
    const subject = words[place - 3] === "that" ? words[place - 1] : words[1];
    return `${word} does not fit ${named(subject)}: ${named(better)} would.`;
  }
  const start = place ? misplaced(words, place) : `No sentence begins with ${word}`;
  if (!Object.keys(options).length) return `${start}: the sentence has ended.`;
  const nouns = data.grammar[data.grammar[0].the[1]];
  const verbs = [...Object.keys(data.verbs), ...Object.values(data.verbs)];
  const kindOf = (option) => (option in nouns ? "a noun" : verbs.includes(option) ? "a verb" : named(option));
  const some = Object.keys(options).map(kindOf);
  return `${start}: ${place ? "here may come" : "first comes"} ${either([...new Set(some)])}.`;
}
