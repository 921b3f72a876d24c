// The book's Transformer and its LanguageModel once more, in the order of attnlab, from nothing but arithmetic.
// (Its GPT is in gpt.js, made of the same parts; what a model is, and a run of it, in model.js.)
//
// Each part is told its name, `encoder.0.feed_forward` say, finds its weights by it, and notes under it what comes out.
// The larger ones are generators: where they yield, the page may do something else.

const added = (a, b) => a.map((number, i) => number + b[i]);

// Two sums at a time, of which neither waits for the other: vectors have an even number of numbers.
function product(a, b) {
  let [even, odd] = [0, 0];
  for (let i = 0; i < a.length; i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  return even + odd;
}

function linear(run, name, vectors, rows = run.weight(`${name}.weight`), biases = run.weight(`${name}.bias`)) {
  const outputs = vectors.map((vector) => {
    const output = new Float32Array(rows.length);
    for (let i = 0; i < rows.length; i++) output[i] = biases[i] + product(rows[i], vector);
    return output;
  });
  return run.note(name, outputs);
}

// ---- what goes in ----

// Rows of a table, times √d_model.
function embed(run, name, ids) {
  const table = run.weight(`${name}.weight`);
  return run.note(name, ids.map((id) => table[id].map((number) => number * Math.sqrt(table[id].length))));
}

// To the word at place t the row t of the table: a learned one, or else sines and cosines.
function addPositions(run, name, vectors) {
  const table = run.weight(`${name}.table`);
  const before = run.remembered - vectors.length;
  const row = (t, width) => (table ? tableRow(table, t) : sinusoidal(t, width));
  return run.note(name, vectors.map((vector, t) => (run.positions ? added(vector, row(before + t, vector.length)) : vector)));
}

function tableRow(table, t) {
  if (t >= table.length) throw new Error(`There are ${table.length} places, and no more.`);
  return table[t];
}

// Of t / 10000^(2i / d_model) the sine and the cosine.
function sinusoidal(t, width) {
  return Float32Array.from({ length: width }, (_, column) => {
    const angle = t / 10000 ** ((column - (column % 2)) / width);
    return column % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

// ---- attention ----

// The largest number is taken off first: its power is 1, and none is infinite.
function softmax(scores, temperature = 1) {
  const shares = new Float32Array(scores.length);
  const largest = scores.reduce((one, other) => (other > one ? other : one));
  if (largest === -Infinity) return shares; // there is nothing to be seen
  let total = 0;
  for (let i = 0; i < scores.length; i++) total += shares[i] = Math.exp((scores[i] - largest) / temperature);
  for (let i = 0; i < scores.length; i++) shares[i] /= total;
  return shares;
}

// For each query the values, mixed by how well its keys match. `visible(i, j)` is whether query i may see key j.
function attend(queries, keys, values, visible) {
  const weights = queries.map((query, i) => {
    const scores = keys.map((key, j) => {
      if (!visible(i, j)) return -Infinity;
      return product(query, key) / Math.sqrt(query.length);
    });
    return softmax(Float32Array.from(scores));
  });
  const mixed = weights.map((row) => {
    const mix = new Float32Array(values[0].length);
    for (const [j, weight] of row.entries()) {
      const value = values[j];
      for (let k = 0; k < mix.length; k++) mix[k] += weight * value[k];
    }
    return mix;
  });
  return { mixed, weights };
}

// Queries, keys and values by one matrix each; a last one joins what the heads found. They look at places of the same
// stack, or of another one, `memory`, whose keys and values stay the same while words are written.
function* multiHeadAttention(run, name, inputs, causal, memory) {
  const rows = run.weight(`${name}.in_proj_weight`);
  const biases = run.weight(`${name}.in_proj_bias`);
  const width = rows.length / 3;
  const project = (part, place, vectors) => {
    const [start, end] = [place * width, (place + 1) * width];
    return linear(run, `${name}.${part}`, vectors, rows.slice(start, end), biases.slice(start, end));
  };
  const queries = project("queries", 0, inputs);
  if (!memory || !run.trace[`${name}.keys`]) {
    project("keys", 1, memory?.vectors ?? inputs);
    project("values", 2, memory?.vectors ?? inputs);
  }
  yield;
  const joined = yield* inHeads(run, name, queries, causal, memory?.stack);
  return run.note(name, linear(run, `${name}.out_proj`, joined));
}

// Each head attends with d_k neighbours of the d_model numbers; what they find lies side by side again. Keys and values
// are all that have been noted.
function* inHeads(run, name, queries, causal, stack = run.stack) {
  const [keys, values] = [run.trace[`${name}.keys`], run.trace[`${name}.values`]];
  const before = run.remembered - queries.length;
  const shown = keys.map((_, j) => !run.hidden.has(`${stack} ${j}`));
  const visible = (i, j) => shown[j] && (!causal || j <= before + i);
  const joined = queries.map(({ length }) => new Float32Array(length));
  const width = queries[0].length / run.heads;
  for (let head = 0; head < run.heads; head++) {
    const start = head * width;
    const share = (vectors) => vectors.map((vector) => vector.subarray(start, start + width));
    const { mixed, weights } = attend(share(queries), share(keys), share(values), visible);
    // A head that is off leaves zeros.
    if (!run.off.has(`${name} ${head}`)) mixed.forEach((mix, i) => joined[i].set(mix, start));
    run.noteWeights(`${name}.weights`, head, weights); // [head][query][key]
    yield;
  }
  return run.note(`${name}.mixed`, joined);
}

// ---- layers ----

// Each vector gets mean 0 and variance 1 by its own numbers, then a learned gain and bias.
function layerNorm(run, name, vectors) {
  const gain = run.weight(`${name}.weight`);
  const bias = run.weight(`${name}.bias`);
  const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const outputs = vectors.map((vector) => {
    const middle = mean(vector);
    const deviation = Math.sqrt(mean(vector.map((number) => (number - middle) ** 2)) + 1e-5);
    return vector.map((number, i) => ((number - middle) / deviation) * gain[i] + bias[i]);
  });
  return run.note(name, outputs);
}

function* feedForward(run, name, vectors) {
  const hidden = linear(run, `${name}.widen`, vectors).map((vector) => vector.map((number) => Math.max(0, number)));
  yield;
  return run.note(name, linear(run, `${name}.narrow`, hidden));
}

// What a block makes of the normalised inputs is added to the inputs.
function* residual(run, name, inputs, block) {
  const more = yield* block(layerNorm(run, `${name}.norm`, inputs));
  yield;
  return run.note(name, inputs.map((vector, i) => added(vector, more[i])));
}

// causal: whether no place sees a later one.
function* encoderLayer(run, name, inputs, causal) {
  const looked = yield* residual(run, `${name}.around_self_attention`, inputs, (x) =>
    multiHeadAttention(run, `${name}.self_attention`, x, causal),
  );
  const block = (x) => feedForward(run, `${name}.feed_forward`, x);
  return run.note(name, yield* residual(run, `${name}.around_feed_forward`, looked, block));
}

function* decoderLayer(run, name, inputs, causal, memory) {
  const looked = yield* residual(run, `${name}.around_self_attention`, inputs, (x) =>
    multiHeadAttention(run, `${name}.self_attention`, x, causal),
  );
  const read = yield* residual(run, `${name}.around_cross_attention`, looked, (x) =>
    multiHeadAttention(run, `${name}.cross_attention`, x, false, memory),
  );
  const block = (x) => feedForward(run, `${name}.feed_forward`, x);
  return run.note(name, yield* residual(run, `${name}.around_feed_forward`, read, block));
}

// ---- whole models ----

class Transformer extends Model {
  constructor(data) {
    super(data);
    const { start, end, longest, written } = data;
    Object.assign(this, { start, end, longest, vocabulary: written });
  }

  *encode(run, source) {
    run.enter("read");
    let vectors = addPositions(run, "positions", embed(run, "read", source));
    for (let i = 0; i < this.layers; i++) vectors = yield* encoderLayer(run, `encoder.${i}`, vectors, false);
    return { stack: "read", vectors: layerNorm(run, "encoder_norm", vectors) };
  }

  // Logits for the word after each of these, which stand behind those that are remembered.
  *decode(run, words, memory) {
    let vectors = addPositions(run, "positions", embed(run, "written", words));
    for (let i = 0; i < this.layers; i++) vectors = yield* decoderLayer(run, `decoder.${i}`, vectors, run.mask, memory);
    return linear(run, "word", layerNorm(run, "decoder_norm", vectors));
  }

  // Translates: the likeliest word at each step, until that is the end. What comes back are the words' numbers.
  *running(source) {
    const run = new Run(this, { read: source.length, written: this.longest });
    const memory = yield* this.encode(run, source);
    const words = [this.start];
    while (words.length <= this.longest && (words.length === 1 || words.at(-1) !== this.end)) {
      // Without the mask those before the newest word see it, too, and nothing of them can be kept.
      if (words.length === 1 || !run.mask) run.enter("written");
      const behind = yield* this.decode(run, words.slice(run.remembered), memory);
      const logits = writable(behind.at(-1), this.vocabulary);
      words.push(logits.indexOf(Math.max(...logits)));
    }
    this.keep(run);
    return words.slice(1);
  }
}

class LanguageModel extends Model {
  // Logits for the word after each of these, which stand behind those that are remembered.
  *reading(run, words) {
    let vectors = addPositions(run, "positions", embed(run, "embedding", words));
    for (let i = 0; i < this.layers; i++) vectors = yield* encoderLayer(run, `layers.${i}`, vectors, run.mask);
    return linear(run, "word", layerNorm(run, "norm", vectors));
  }
}
