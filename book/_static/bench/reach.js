// What “Reach in” counts and says, without a page: what can be carried from one sentence into another, which sentence
// to try, and which rows of weights there are.

const asSentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;
const oddsOf = (logits, [one, other]) => logits[one] - logits[other];

// ---- the parts ----

// All attentions, each with its stack and where it stands in that.
function attentionsOf(stacks) {
  return stacks.flatMap((stack) =>
    stack.layers.flatMap(({ parts }, layer) =>
      [...parts.keys()].filter((part) => parts[part].kind === "attention").map((part) => ({ stack, layer, part, ...parts[part] })),
    ),
  );
}

const headsFrom = ({ heads }) => Array.from({ length: heads }, (_, head) => head);

// Where the stream of a stack can be taken hold of: at its start, and after each part has added to it.
function stationsOf({ positions, layers }) {
  const after = (part, layer) => {
    const name = part.kind === "network" ? "network" : part.cross ? "looking across" : "attention";
    return { name: part.after, words: `after ${name} ${layer + 1}` };
  };
  const start = { name: positions, words: "word + position" };
  return [start, ...layers.flatMap(({ parts }, layer) => parts.map((part) => after(part, layer)))];
}

// What each head of a stack mixed, before the output matrix.
function headsOf(stack) {
  return attentionsOf([stack]).flatMap((attention) =>
    headsFrom(attention).map((head) => {
      const words = `layer ${attention.layer + 1}${attention.cross ? ", across" : ""}, head ${head + 1}`;
      return { name: attention.mixed, head, heads: attention.heads, words };
    }),
  );
}

// Of a vector all, or what belongs to one head.
const shareOf = (vector, { head, heads }) => (head === undefined ? vector : sliceOf(vector, head, heads));

// ---- two sentences ----

// For each place of the first sentence the one of the second that goes with it, or -1: what begins alike, what ends
// alike, and in between one after the other.
function pairedPlaces(first, second) {
  const shorter = Math.min(first.length, second.length);
  let [same, behind] = [0, 0];
  while (same < shorter && first[same] === second[same]) same++;
  while (behind < shorter - same && first.at(-1 - behind) === second.at(-1 - behind)) behind++;
  behind = Math.max(1, behind); // the last is where the answer is given
  return first.map((_, place) => {
    if (place < shorter - behind) return place;
    return first.length - place <= behind ? second.length - first.length + place : -1;
  });
}

// What stands at `from` in the second sentence's run, to be put at a place of the first's.
function carriedTo(place, from, station, stack, traces) {
  const { name, head } = station;
  return { stack, name, place, head, from, vector: shareOf(traces[stack][name][from], station).slice() };
}

const isSameSpot = (one, other) =>
  one.stack === other.stack && one.name === other.name && one.place === other.place && one.head === other.head;

function differs(one, other) {
  return one.some((number, i) => Math.abs(number - other[i]) > 1e-6);
}

// A sentence that differs from this one in one word: in the number of its subject where the model tells what comes
// next, in its subject where whole sentences are read. Where words have no plural: in what followed the last word
// when it stood there before.
function neighbourOf(words, known, whole) {
  const other = (word) => {
    if (known.includes(`${word}s`)) return `${word}s`;
    return word.endsWith("s") && known.includes(word.slice(0, -1)) ? word.slice(0, -1) : undefined;
  };
  const beside = (word) => {
    const place = known.indexOf(word);
    const near = [known[place + 1], known[place - 1]];
    return near.find((each) => each && other(each) && each.endsWith("s") === word.endsWith("s"));
  };
  const exchange = (place, word) => words.map((each, i) => (i === place ? word : each));
  const subject = words.findIndex(other);
  if (subject >= 0) return exchange(subject, (whole && beside(words[subject])) || other(words[subject]));
  const before = words.slice(0, -1).lastIndexOf(words.at(-1));
  const fresh = known.find((word) => !words.includes(word) && /^\w/.test(word));
  return words.length && fresh ? exchange(before + 1, fresh) : words;
}

// Where the difference stands: the last station that carries most of it at the place where the words differ, and the
// first that carries most of it where the answer is given. `shares` is [station][place], 1 where all of it is carried.
function whereCarried(shares, differing, answering) {
  const most = shares.map((row) => [row[differing] > 0.5, row[answering] > 0.5]);
  return [most.findLastIndex(([at]) => at), most.findIndex(([, at]) => at)];
}

// ---- weights ----

// Every matrix in which a row can be set: its name, its first row there, and what it is.
function matricesOf(model, stacks) {
  const found = [];
  const add = (name, words, more = {}) => {
    const rows = model.weights[name];
    if (rows && !found.some((each) => each.name === name && each.start === (more.start ?? 0)))
      found.push({ name, words, start: 0, count: rows.length, columns: rows[0].length, ...more });
  };
  for (const { name, embedding, layers } of stacks) {
    const which = { read: " that it reads", written: " that it writes" }[name] ?? "";
    add(`${embedding}.weight`, `the table of words${which}`, { table: name });
    for (const [layer, { parts }] of layers.entries()) {
      for (const part of parts) {
        const where = `layer ${layer + 1}, ${part.kind === "network" ? part.kind : lookingWords({ name }, part)}`;
        if (part.kind === "attention") {
          const count = model.weights[part.projection.rows].length / 3;
          for (const [third, projected] of ["queries", "keys", "values"].entries())
            add(part.projection.rows, `${where}: ${projected}`, { start: third * count, count });
          add(`${part.output}.weight`, `${where}: output`);
        } else {
          add(`${part.widen}.weight`, `${where}: widen`);
          add(`${part.narrow}.weight`, `${where}: narrow`);
        }
      }
    }
  }
  for (const { head } of stacks) add(`${head}.weight`, "from vector to words", { table: "said" });
  return found;
}

// The row as it is now: the stored one, with the numbers that were set.
function rowNow(model, { name }, row, numbers) {
  const now = model.weights[name][row].slice();
  for (const each of numbers) if (each.name === name && each.row === row) now[each.column] = each.value;
  return now;
}

// The row is to have these numbers: those that are as stored need no entry.
function setRow(model, changes, name, row, values) {
  changes.numbers = changes.numbers.filter((each) => each.name !== name || each.row !== row);
  const stored = model.weights[name][row];
  for (const [column, value] of values.entries())
    if (value !== stored[column]) changes.numbers.push({ name, row, column, value });
}

function deviationOf(rows) {
  let [count, sum, squares] = [0, 0, 0];
  for (const row of rows) for (const number of row) [count, sum, squares] = [count + 1, sum + number, squares + number * number];
  return Math.sqrt(squares / count - (sum / count) ** 2);
}
