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

// No place sees a later one: the keys and values of those before it are remembered, and stay as they are.
function selfAttention(model, name, inputs, { keys, values }) {
  const before = keys.length;
  const width = inputs[0].length;
  const all = linear(model, `${name}.project`, inputs);
  const part = (place) => all.map((vector) => vector.subarray(place * width, (place + 1) * width));
  keys.push(...part(1));
  values.push(...part(2));
  const joined = inHeads(model, name, part(0), keys, values, (i, j) => j <= before + i);
  return model.note(name, linear(model, `${name}.write`, joined));
}

// The residual stream is read twice, and added to twice.
function block(model, name, stream, memory) {
  const plus = (vectors, more) => vectors.map((vector, i) => added(vector, more[i]));
  const found = selfAttention(model, `${name}.attention`, layerNorm(model, `${name}.before_attention`, stream), memory);
  const between = plus(stream, found);
  const wide = linear(model, `${name}.widen`, layerNorm(model, `${name}.before_network`, between));
  return model.note(name, plus(between, linear(model, `${name}.narrow`, wide.map((vector) => vector.map(gelu)))));
}

class GPT extends Model {
  constructor(data) {
    super(data);
    this.context = data.context;
    this.remember(0);
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

  // Of what was read the first so many pieces, and no more.
  remember(count) {
    this.memories ??= Array.from({ length: this.layers }, () => ({ keys: [], values: [] }));
    for (const { keys, values } of this.memories) keys.length = values.length = count;
  }

  get remembered() {
    return this.memories[0].keys.length;
  }

  // Logits for the piece behind each of these but the first `known`. They stand behind those that are remembered.
  forward(ids, known = 0) {
    const pieces = this.note("pieces", ids.map((id) => this.weights["pieces.weight"][id]));
    const places = this.weights["places.weight"].slice(this.remembered, this.remembered + ids.length);
    this.note("places", places);
    let stream = pieces.map((vector, i) => added(vector, places[i]));
    for (const [i, memory] of this.memories.entries()) stream = block(this, `blocks.${i}`, stream, memory);
    // One table at both ends: a piece is likely where the stream points the way of its row.
    const table = this.weights["pieces.weight"];
    return linear(this, "logits", layerNorm(this, "norm", stream.slice(known)), table, new Float32Array(table.length));
  }
}

// ---- what a model expects, all along a text ----

const AT_ONCE = 4; // pieces: so many a phone reads in the time of a picture

// `chances[t]` are the model's for the piece behind the t-th; the 0th is the end of whatever came before. A text that
// begins as the last one did is not read anew. As far as the context reaches, each piece sees all before it. Farther
// on it sees half of the context and up to all of it: as in training, places begin anew every half of it.
class Reading {
  constructor(model, end) {
    Object.assign(this, { model, ids: [end], chances: [], from: 0 });
  }

  set(ids) {
    const now = [this.ids[0], ...ids];
    const different = now.findIndex((id, place) => id !== this.ids[place]);
    this.chances.length = Math.min(this.chances.length, different < 0 ? now.length : different);
    this.ids = now;
  }

  get behind() {
    return this.chances.length < this.ids.length;
  }

  // The first piece that the t-th one sees.
  seenFrom(t) {
    const half = this.model.context / 2;
    return Math.max(0, half * (Math.floor(t / half) - 1));
  }

  // A few pieces more.
  step() {
    const { model, ids, chances } = this;
    const from = this.seenFrom(chances.length);
    model.remember(from === this.from ? Math.min(model.remembered, chances.length - from) : 0);
    this.from = from;
    const start = from + model.remembered;
    let stop = Math.min(start + AT_ONCE, ids.length);
    while (this.seenFrom(stop - 1) > from && stop - 1 > chances.length) stop--;
    const known = Math.min(stop, chances.length) - start;
    for (const logits of model.forward(ids.slice(start, stop), known)) chances.push(softmax(logits));
  }

  // Of the t-th piece, how surprising it was where it stood.
  bits(t) {
    return -Math.log2(this.chances[t - 1][this.ids[t]]);
  }
}

// ---- drawing ----

// The numbers of the likeliest pieces, the likeliest first.
function likeliest(chances, count) {
  const best = [];
  for (let id = 0; id < chances.length; id++) {
    if (best.length === count && chances[id] <= chances[best[count - 1]]) continue;
    const place = best.findIndex((other) => chances[other] < chances[id]);
    best.splice(place < 0 ? best.length : place, 0, id);
    best.length = Math.min(best.length, count);
  }
  return best;
}

// What is drawn from, [id, share] each: at that temperature, the fewest likeliest that come to `topP` together.
function nucleus(chances, temperature, topP) {
  const largest = Math.max(...chances);
  const powers = Float64Array.from(chances, (chance) => (chance / largest) ** (1 / temperature));
  const total = powers.reduce((sum, power) => sum + power, 0);
  let before = 0;
  const ordered = [...powers.keys()].sort((a, b) => powers[b] - powers[a]);
  const kept = ordered.filter((id) => {
    before += powers[id];
    return before - powers[id] < topP * total; // what comes before it has not yet been enough
  });
  const left = kept.reduce((sum, id) => sum + powers[id], 0);
  return kept.map((id) => [id, powers[id] / left]);
}

// One of them, by a number from 0 to 1.
function drawn(options, number) {
  const [id] = options.find(([, share]) => (number -= share) < 0) ?? options.at(-1);
  return id;
}

// A die with numbers from 0 to 1, which fall the same again for the same seed (its author calls it mulberry32).
function die(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
