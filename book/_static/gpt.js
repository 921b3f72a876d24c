// The book's GPT once more, in the order of attnlab.transformer, and the pieces that it reads, as attnlab.corpora.pieces
// cuts them. What a GPT and a Transformer are both made of is in transformer.js.

// ---- pieces ----

// What Python's \s is. Its \w are all letters and numbers, and its \d only the decimal digits.
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
// No merge crosses the border between two of these: a word with the space before it, up to three digits, what is
// neither, spaces. Of several spaces the last goes to the word behind them.
const CHUNK = new RegExp(
  ` ?[\\p{L}\\p{Nl}\\p{No}]+|\\p{Nd}{1,3}| ?[^\\p{L}\\p{N}${SPACE}]+|[${SPACE}]+(?![^${SPACE}])|[${SPACE}]+`,
  "gu",
);

class Pieces {
  // Each merge makes a new piece of two that stand side by side. The first pieces are the bytes, the last is the end.
  constructor(merges) {
    this.bytes = Array.from({ length: 256 }, (_, byte) => [byte]);
    this.rank = new Map();
    for (const [place, [left, right]] of merges.entries()) {
      if (!this.rank.has(this.key(left, right))) this.rank.set(this.key(left, right), place);
      this.bytes.push([...this.bytes[left], ...this.bytes[right]]);
    }
    this.end = this.bytes.length;
    this.bytes.push([]);
  }

  key(left, right) {
    return left * 65536 + right;
  }

  encode(text) {
    const chunks = text.match(CHUNK) ?? [];
    return chunks.flatMap((chunk) => this.merged([...new TextEncoder().encode(chunk)]));
  }

  // The earliest learned merge first, wherever it stands, as long as there is one.
  merged(ids) {
    for (;;) {
      const ranks = ids.slice(1).map((right, i) => this.rank.get(this.key(ids[i], right)) ?? Infinity);
      const first = ranks.reduce((least, rank) => Math.min(least, rank), Infinity);
      if (first === Infinity) return ids;
      const joined = [];
      for (let i = 0; i < ids.length; i++)
        // Two that become one are passed over together.
        joined.push(ranks[i] === first ? 256 + ranks[i++] : ids[i]);
      ids = joined;
    }
  }

  // Half a letter becomes the sign �.
  decode(ids) {
    const bytes = Uint8Array.from(ids.flatMap((id) => this.bytes[id]));
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }
}

// ---- the model ----

const gelu = (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));

// All queries, keys and values by one matrix.
function* selfAttention(run, name, inputs) {
  const width = inputs[0].length;
  const all = linear(run, `${name}.project`, inputs);
  const [queries] = ["queries", "keys", "values"].map((part, place) =>
    run.note(`${name}.${part}`, all.map((vector) => vector.subarray(place * width, (place + 1) * width))),
  );
  yield;
  const joined = yield* inHeads(run, name, queries, run.mask);
  return run.note(name, linear(run, `${name}.write`, joined));
}

// The residual stream is read twice, and added to twice.
function* block(run, name, stream) {
  const plus = (vectors, more) => vectors.map((vector, i) => added(vector, more[i]));
  const found = yield* selfAttention(run, `${name}.attention`, layerNorm(run, `${name}.before_attention`, stream));
  const between = run.note(`${name}.after_attention`, plus(stream, found));
  yield;
  const wide = linear(run, `${name}.widen`, layerNorm(run, `${name}.before_network`, between));
  yield;
  const more = linear(run, `${name}.narrow`, wide.map((vector) => vector.map(gelu)));
  yield;
  return run.note(name, plus(between, more));
}

class GPT extends Model {
  last = "logits";

  constructor(data) {
    super(data);
    this.context = data.context;
  }

  // A letter of a matrix tells how many steps from zero a number is, from 45 down to 45 up. How long a step is, each
  // row says for itself, in 16 bits; so stand the numbers of vectors.
  unpacking({ letters, numbers }) {
    const next = inTurn(float16s(numbers));
    let place = 0;
    const row = (columns, step) => {
      const vector = new Float32Array(columns);
      for (let i = 0; i < columns; i++) {
        const code = letters.charCodeAt(place++);
        vector[i] = (code - (code < 92 ? 80 : 81)) * step; // 92 is \, which is left out
      }
      return vector;
    };
    return (rows, columns) => (columns ? Array.from(next(rows), (step) => row(columns, step)) : next(rows));
  }

  // Logits for the piece behind each of these, which stand behind those that are remembered.
  *reading(run, ids) {
    const before = run.remembered;
    const table = run.weight("pieces.weight");
    const pieces = run.note("pieces", ids.map((id) => table[id]));
    const rows = ids.map((_, t) => tableRow(run.weight("places.weight"), before + t));
    const places = run.note("places", run.positions ? rows : rows.map(({ length }) => new Float32Array(length)));
    let stream = run.note("positions", pieces.map((vector, i) => added(vector, places[i])));
    for (let i = 0; i < this.layers; i++) stream = yield* block(run, `blocks.${i}`, stream);
    // One table at both ends: a piece is likely where the stream points the way of its row.
    const none = new Float32Array(table.length);
    const logits = [];
    for (const vector of layerNorm(run, "norm", stream)) {
      logits.push(...linear(run, "logits", [vector], table, none));
      yield;
    }
    return logits;
  }
}

// ---- what a model expects, all along a text ----

// `chances[t]` are the model's for the piece behind the t-th; the 0th is the end of whatever came before. A text that
// begins as the last one did is not read anew. As far as the context reaches, each piece sees all before it. Farther
// on it sees half of the context and up to all of it: as in training, places begin anew every half of it.
class Reading {
  constructor(model, end) {
    Object.assign(this, { model, ids: [end], chances: [], from: 0, run: new Run(model, { text: model.context }) });
    this.run.enter("text");
  }

  // What stays the same is not read anew; but without the mask what stands behind changes what comes before, too.
  set(ids) {
    const now = [this.ids[0], ...ids];
    const different = now.findIndex((id, place) => id !== this.ids[place]);
    const same = different < 0 ? now.length : different;
    if (same === now.length && same === this.ids.length) return;
    this.chances.length = this.run.mask ? Math.min(this.chances.length, same) : 0;
    Object.assign(this, { ids: now, going: undefined });
  }

  get behind() {
    return this.chances.length < this.ids.length;
  }

  // The first piece that the t-th one sees.
  seenFrom(t) {
    const half = this.model.context / 2;
    return Math.max(0, half * (Math.floor(t / half) - 1));
  }

  // A part of that, after which the page may answer.
  step() {
    this.going ??= this.further();
    if (this.going.next().done) this.going = undefined;
  }

  // A few pieces more. Without the mask all that see the same go through a layer together.
  *further() {
    const { model, run, ids, chances } = this;
    const from = this.seenFrom(chances.length);
    run.remember(from === this.from && run.mask ? Math.min(run.remembered, chances.length - from) : 0);
    this.from = from;
    const start = from + run.remembered;
    let stop = run.mask ? Math.min(start + AT_ONCE, ids.length) : ids.length;
    while (this.seenFrom(stop - 1) > from && stop - 1 > chances.length) stop--;
    const logits = yield* model.reading(run, ids.slice(start, stop));
    // Some are only read again, because what stood before them is not seen any more.
    for (const each of logits.slice(Math.max(0, chances.length - start))) chances.push(softmax(each));
  }

  // Of the t-th piece, how surprising it was where it stood.
  bits(t) {
    return -Math.log2(this.chances[t - 1][this.ids[t]]);
  }
}
