// What is learned in the page: small tasks, drawn anew at every step from the chapters' own laws. Each says how many
// words it has and how many of them stand at a place (`facts`), among how many classes each of its answers is chosen,
// what guessing gets right (`chance`) and the loss that nobody can beat (`limit`, in nats). `draw(roll, rows, length)`
// gives ids, the right answers or -1 where nothing is asked, and, where it differs, which answers count as known.
// bookkit/training/tasks.py draws the same in Python.

function taskOf(properties) {
  return { facts: 1, answers: 1, limit: 0, chance: 1 / properties.classes, ...properties };
}

// For each sequence and place what `give` says: its ids, its answers and perhaps whether these could be known.
function sequences(rows, length, begin) {
  const [ids, targets, known] = [[], [], []];
  for (let row = 0; row < rows; row++) {
    const give = begin();
    for (let i = 0; i < length; i++) {
      const place = give(i);
      ids.push(...place.ids);
      targets.push(...place.answers);
      if (place.known !== undefined) known.push(place.known);
    }
  }
  return { ids: Int32Array.from(ids), targets: Int32Array.from(targets), known: known.length ? known : null, length };
}

// 0, 1, … in any order with equal chances.
function shuffled(roll, count) {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Exact.whole(roll, i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

const drawnWords = (roll, classes, count) => Array.from({ length: count }, () => Exact.whole(roll, classes));

const TASKS = {
  // A few random symbols, again and again: from the second round on, each is known to whoever looks up what followed
  // it the last time. What nobody can know is the first round, and how long it is.
  repeated({ classes, length, shortest, longest }) {
    const first = ((shortest + longest) / 2 - 1) * Exact.log(classes) + Exact.log(longest - shortest + 1);
    return taskOf({
      ...{ ids: classes, classes, limit: first / length },
      draw: (roll, rows, length) =>
        sequences(rows, length, () => {
          const period = shortest + Exact.whole(roll, longest - shortest + 1);
          const words = drawnWords(roll, classes, longest);
          return (i) => ({ ids: [words[i % period]], answers: [words[(i + 1) % period]], known: i >= period });
        }),
    });
  },

  // Six animals in a ring, each with a name, the name of the one that it chases, and the colour of its scarf. Asked
  // is the colour of the one that it chases.
  tag() {
    return taskOf({
      ...{ ids: 18, facts: 3, classes: 6 },
      draw: (roll, rows, length) =>
        sequences(rows, length, () => {
          const [names, ring] = [shuffled(roll, length), shuffled(roll, length)];
          const scarves = drawnWords(roll, 6, length);
          const chased = (i) => ring[(ring.indexOf(i) + 1) % length];
          return (i) => ({ ids: [names[i], 6 + names[chased(i)], 12 + scarves[i]], answers: [scarves[chased(i)]] });
        }),
    });
  },

  // The query of each place should fetch what the key of the same place holds.
  lookUp({ classes }) {
    return taskOf({
      ...{ ids: classes, classes },
      draw: (roll, rows, length) =>
        sequences(rows, length, () => {
          const held = drawnWords(roll, classes, length);
          return (i) => ({ ids: [held[i]], answers: [held[i]] });
        }),
    });
  },

  // Six words; behind each, one of two: the likely one in three cases of four. `shift` is how far the answer stands
  // from the word that is asked, 1 unless somebody made a mistake.
  sixWords({ length, likely, rare, shift = 1 }) {
    return taskOf({
      ...{ ids: 6 + length, facts: 2, classes: 6, limit: 2 * Exact.log(2) - 0.75 * Exact.log(3), chance: 0.75 },
      draw: (roll, rows, length) =>
        sequences(rows, length, () => {
          const text = [Exact.whole(roll, 6)];
          while (text.length <= length) text.push((roll() < 0.25 ? rare : likely)[text.at(-1)]);
          return (i) => ({ ids: [text[i], 6 + i], answers: [text[i + shift]] });
        }),
    });
  },

  // Guests around a table, each with a name and a seat. Asked are the names of those that sit so many seats away.
  guests({ asked }) {
    return taskOf({
      ...{ ids: 16, facts: 2, classes: 8, answers: asked.length },
      draw: (roll, rows, length) =>
        sequences(rows, length, () => {
          const names = drawnWords(roll, 8, length);
          const away = (i) => asked.map((far) => names[(i + far + length) % length]);
          return (i) => ({ ids: [names[i], 8 + i], answers: away(i) });
        }),
    });
  },

  // The symbol that stood `back` places before.
  copying({ classes, back }) {
    return taskOf({
      ...{ ids: classes, classes },
      draw: (roll, rows, length) =>
        sequences(rows, length, () => {
          const words = drawnWords(roll, classes, length);
          return (i) => ({ ids: [words[i]], answers: [words[i - back] ?? -1] });
        }),
    });
  },

  // Pairs of a key and a value, and then each key again, in another order, with a blank: which value came with it?
  recall({ keys, values }) {
    return taskOf({
      ...{ ids: keys + values + 1, facts: 2, classes: values },
      draw: (roll, rows, length) =>
        sequences(rows, length, () => {
          const pairs = length / 2;
          const [held, order] = [shuffled(roll, keys), shuffled(roll, pairs)];
          const given = drawnWords(roll, values, pairs);
          const told = (i) => ({ ids: [held[i], keys + given[i]], answers: [-1] });
          const asked = (i) => ({ ids: [held[i], keys + values], answers: [given[i]] });
          return (i) => (i < pairs ? told(i) : asked(order[i - pairs]));
        }),
    });
  },

  // The sequence from its end to its beginning.
  backwards({ classes }) {
    return taskOf({
      ...{ ids: classes, classes },
      draw: (roll, rows, length) =>
        sequences(rows, length, () => {
          const words = drawnWords(roll, classes, length);
          return (i) => ({ ids: [words[i]], answers: [words[length - 1 - i]] });
        }),
    });
  },

  // Sentences whose verb must agree with a noun far before it. Of each state the grammar has the words that may come
  // and, as a pair, how likely each is and the state behind it; -1 is the end. All sequences of a step are as long as
  // the longest of their sentences.
  agreement({ words, start, grammar, limit }) {
    const option = ([word, pair]) => [words.indexOf(word), ...pair];
    const states = grammar.map((row) => Object.entries(row).map(option));
    const chosen = (options, number) => options.find(([, chance]) => (number -= chance) < 0) ?? options.at(-1);
    return taskOf({
      ...{ ids: words.length, classes: words.length, limit },
      draw: (roll, rows) => {
        const texts = Array.from({ length: rows }, () => {
          const text = [start];
          for (let state = 0; state >= 0; ) {
            const [word, , behind] = chosen(states[state], roll());
            text.push(word);
            state = behind;
          }
          return text;
        });
        const longest = Math.max(...texts.map((text) => text.length - 1));
        return sequences(rows, longest, () => {
          const text = texts.shift();
          return (i) => ({ ids: [text[i] ?? 0], answers: [text[i + 1] ?? -1] });
        });
      },
    });
  },
};
