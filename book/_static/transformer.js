// The book's Transformer and its LanguageModel once more, in the order of attnlab, from nothing but arithmetic.
// (Its GPT is in gpt.js, made of the same parts.)
//
// A sequence is an array of vectors: a Float32Array for each word. A model holds its weights by their names in
// PyTorch; a matrix is an array of its rows. Each part is told its name, `encoder.0.feed_forward` say, finds its
// weights by it, and notes under it what comes out: `model.trace` has every intermediate tensor of the last run.
//
// What a reader can switch stands in `model.switches`: { off: a set of heads such as "encoder.0.self_attention 2",
// mask: whether the causal mask is on, positions: whether they are added }.

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

function linear(model, name, vectors, rows = model.weights[`${name}.weight`], biases = model.weights[`${name}.bias`]) {
  const outputs = vectors.map((vector) => {
    const output = new Float32Array(rows.length);
    for (let i = 0; i < rows.length; i++) output[i] = biases[i] + product(rows[i], vector);
    return output;
  });
  return model.note(name, outputs);
}

// ---- what goes in ----

// Rows of a table, times √d_model.
function embed(model, name, ids) {
  const table = model.weights[`${name}.weight`];
  return model.note(name, ids.map((id) => table[id].map((number) => number * Math.sqrt(table[id].length))));
}

// To the word at place t the row t of the table: sines and cosines of t / 10000^(2i / d_model).
function addPositions(model, name, vectors) {
  const row = (t, width) =>
    Float32Array.from({ length: width }, (_, column) => {
      const angle = t / 10000 ** ((column - (column % 2)) / width);
      return column % 2 ? Math.cos(angle) : Math.sin(angle);
    });
  const { positions } = model.switches;
  return model.note(name, vectors.map((vector, t) => (positions ? added(vector, row(t, vector.length)) : vector)));
}

// ---- attention ----

// The largest number is taken off first: its power is 1, and none is infinite.
function softmax(scores, temperature = 1) {
  const shares = new Float32Array(scores.length);
  const largest = scores.reduce((one, other) => (other > one ? other : one));
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

// Queries, keys and values by one matrix each; a last one joins what the heads found.
function multiHeadAttention(model, name, inputs, memory, visible) {
  const rows = model.weights[`${name}.in_proj_weight`];
  const biases = model.weights[`${name}.in_proj_bias`];
  const width = rows.length / 3;
  const project = (part, place, vectors) => {
    const [start, end] = [place * width, (place + 1) * width];
    return linear(model, `${name}.${part}`, vectors, rows.slice(start, end), biases.slice(start, end));
  };
  const queries = project("queries", 0, inputs);
  const keys = project("keys", 1, memory);
  const values = project("values", 2, memory);
  const joined = inHeads(model, name, queries, keys, values, visible);
  return model.note(name, linear(model, `${name}.out_proj`, joined));
}

// Each head attends with d_k neighbours of the d_model numbers; what they find lies side by side again.
function inHeads(model, name, queries, keys, values, visible) {
  const joined = queries.map(({ length }) => new Float32Array(length));
  const weights = Array.from({ length: model.heads }, (_, head) => {
    const width = queries[0].length / model.heads;
    const [start, end] = [head * width, (head + 1) * width];
    const share = (vectors) => vectors.map((vector) => vector.subarray(start, end));
    const { mixed, weights } = attend(share(queries), share(keys), share(values), visible);
    // A head that is off leaves zeros.
    if (!model.switches.off.has(`${name} ${head}`)) mixed.forEach((mix, i) => joined[i].set(mix, start));
    return weights;
  });
  model.note(`${name}.weights`, weights); // [head][query][key]
  return model.note(`${name}.mixed`, joined);
}

// ---- layers ----

// Each vector gets mean 0 and variance 1 by its own numbers, then a learned gain and bias.
function layerNorm(model, name, vectors) {
  const gain = model.weights[`${name}.weight`];
  const bias = model.weights[`${name}.bias`];
  const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const outputs = vectors.map((vector) => {
    const middle = mean(vector);
    const deviation = Math.sqrt(mean(vector.map((number) => (number - middle) ** 2)) + 1e-5);
    return vector.map((number, i) => ((number - middle) / deviation) * gain[i] + bias[i]);
  });
  return model.note(name, outputs);
}

function feedForward(model, name, vectors) {
  const hidden = linear(model, `${name}.widen`, vectors).map((vector) => vector.map((number) => Math.max(0, number)));
  return model.note(name, linear(model, `${name}.narrow`, hidden));
}

// What a block makes of the normalised inputs is added to the inputs.
function residual(model, name, inputs, block) {
  const more = block(layerNorm(model, `${name}.norm`, inputs));
  return model.note(name, inputs.map((vector, i) => added(vector, more[i])));
}

function encoderLayer(model, name, inputs, visible) {
  const vectors = residual(model, `${name}.around_self_attention`, inputs, (x) =>
    multiHeadAttention(model, `${name}.self_attention`, x, x, visible),
  );
  const block = (x) => feedForward(model, `${name}.feed_forward`, x);
  return model.note(name, residual(model, `${name}.around_feed_forward`, vectors, block));
}

function decoderLayer(model, name, inputs, memory, visible) {
  let vectors = residual(model, `${name}.around_self_attention`, inputs, (x) =>
    multiHeadAttention(model, `${name}.self_attention`, x, x, visible),
  );
  vectors = residual(model, `${name}.around_cross_attention`, vectors, (x) =>
    multiHeadAttention(model, `${name}.cross_attention`, x, memory, () => true),
  );
  const block = (x) => feedForward(model, `${name}.feed_forward`, x);
  return model.note(name, residual(model, `${name}.around_feed_forward`, vectors, block));
}

// ---- whole models ----

// What all models have: weights, switches, and the trace.
class Model {
  constructor(data) {
    const { heads, layers, shapes } = data;
    Object.assign(this, { heads, layers, trace: {}, switches: { off: new Set(), mask: true, positions: true } });
    const tensor = this.unpacking(data);
    this.weights = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, tensor(...shape)]));
  }

  // A function that takes the weights, one tensor after the other, out of their 16-bit numbers.
  unpacking({ numbers }) {
    const next = inTurn(float16s(numbers));
    return (rows, columns) => (columns ? Array.from({ length: rows }, () => next(columns)) : next(rows));
  }

  note(name, tensor) {
    this.trace[name] = tensor;
    return tensor;
  }

  // No query sees a later word, unless the mask is off.
  causal() {
    return (i, j) => j <= i || !this.switches.mask;
  }
}

// A function that gives so many numbers, and the next time those behind them.
function inTurn(all) {
  let start = 0;
  return (length) => all.subarray(start, (start += length));
}

// The numbers of 16 bits that stand in base64.
function float16s(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return Float32Array.from({ length: bytes.length / 2 }, (_, i) => float16(bytes[2 * i], bytes[2 * i + 1]));
}

// Of 16 bits one is the sign, five the exponent, and ten the fraction of a number.
function float16(low, high) {
  const sign = high & 0x80 ? -1 : 1;
  const exponent = (high >> 2) & 0x1f;
  const fraction = (((high & 3) << 8) | low) / 1024;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
}

class Transformer extends Model {
  encode(source) {
    let vectors = addPositions(this, "positions", embed(this, "read", source));
    for (let i = 0; i < this.layers; i++) vectors = encoderLayer(this, `encoder.${i}`, vectors, () => true);
    return layerNorm(this, "encoder_norm", vectors);
  }

  // Logits for the word after each of the words so far.
  decode(previous, memory) {
    let vectors = addPositions(this, "positions", embed(this, "written", previous));
    for (let i = 0; i < this.layers; i++) vectors = decoderLayer(this, `decoder.${i}`, vectors, memory, this.causal());
    return linear(this, "word", layerNorm(this, "decoder_norm", vectors));
  }

  // The likeliest word at each step, until that is the end.
  translate(source, start, end, most) {
    const memory = this.encode(source);
    const words = [start];
    while (words.length <= most && (words.length === 1 || words.at(-1) !== end)) {
      const logits = this.decode(words, memory).at(-1);
      words.push(logits.indexOf(Math.max(...logits)));
    }
    return words.slice(1);
  }
}

class LanguageModel extends Model {
  // Logits for the word after each.
  forward(words) {
    let vectors = addPositions(this, "positions", embed(this, "embedding", words));
    for (let i = 0; i < this.layers; i++) vectors = encoderLayer(this, `layers.${i}`, vectors, this.causal());
    return linear(this, "word", layerNorm(this, "norm", vectors));
  }
}
