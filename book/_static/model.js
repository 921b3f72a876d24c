// What all models of the page have: weights, changes that a reader makes, and runs that note all that comes out.
//
// A sequence is an array of vectors: a Float32Array for each place. A model holds its weights by their names in
// PyTorch; a matrix is an array of its rows.
//
// `for (const _ of model.running(ids));` reads, and yields now and then, so that the page may do something else.
// Then `model.traces` has every intermediate tensor by its name in PyTorch, for each stack of layers: a Transformer's
// are "read" and "written", of the others' only one is "text". `model.logits` are those behind each place. A run that
// is given up leaves both as they were, and what a run has left is never changed by a later one.

// What a reader has changed. Of this:
const noChanges = () => ({
  off: new Set(), // heads, such as "encoder.0.self_attention 2", that leave zeros
  mask: true, // no place sees a later one
  positions: true, // they are added
  hidden: new Set(), // places, such as "text 3", that nobody sees
  carried: [], // { stack, name, place, vector, head? }: what stands there in place of what came out, head's share or all
  numbers: [], // { name, row, column?, value }: a weight that is set by hand
});

class Model {
  last = "word"; // the name of the logits

  constructor(data) {
    const { heads, layers, shapes } = data;
    Object.assign(this, { heads, layers, traces: {}, logits: [], changes: noChanges() });
    const tensor = this.unpacking(data);
    this.weights = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, tensor(...shape)]));
  }

  // A function that takes the weights, one tensor after the other, out of their 16-bit numbers.
  unpacking({ numbers }) {
    const next = inTurn(float16s(numbers));
    return (rows, columns) => (columns ? Array.from({ length: rows }, () => next(columns)) : next(rows));
  }

  // Reads a text: all its ids, whatever a text begins with included. What comes back are the logits behind each.
  *running(ids) {
    const run = new Run(this, { text: ids.length });
    run.enter("text");
    // Without the mask each place sees the last one: all go through a layer together.
    const step = run.mask ? AT_ONCE : ids.length;
    for (let start = 0; start < ids.length; start += step) yield* this.reading(run, ids.slice(start, start + step));
    return this.keep(run);
  }

  keep(run) {
    run.finish();
    this.traces = run.traces;
    return (this.logits = run.trace[this.last]);
  }
}

const AT_ONCE = 4; // places: so many a phone reads in the time of a picture

// What a generator gives in the end, with no pause.
function finished(running) {
  for (;;) {
    const { done, value } = running.next();
    if (done) return value;
  }
}

// ---- what a model may write ----

const isUnwritten = (word) => /^<(start|padding)>$/.test(word);

// The logits to write by: marks that are only read have no chance. Where chances are shown, they stay the model's own.
const writable = (logits, words) => logits.map((logit, id) => (isUnwritten(words[id]) ? -Infinity : logit));

// ---- a run ----

// A model reads, changed as it is now. What has been noted for earlier places is remembered: under the mask later ones
// change nothing there, so each place comes but once, and its keys and values stand in the trace for those behind it.
class Run {
  // sizes: of each stack how many places there may be.
  constructor(model, sizes) {
    const { off, mask, positions, hidden, carried, numbers } = { ...noChanges(), ...model.changes };
    Object.assign(this, { model, heads: model.heads, mask, positions, traces: {} });
    Object.assign(this, { off: new Set(off), hidden: new Set(hidden), carried: [...carried] });
    for (const head of this.off) this.checkHead(head);
    for (const place of this.hidden) this.checkPlace(sizes, ...parted(place));
    for (const { stack, place, head, name } of carried) {
      this.checkPlace(sizes, stack, place);
      if (head !== undefined && !(isWithin(head, this.heads) && IN_HEADS.test(name)))
        throw new Error(`There is no head ${head} in “${name}”.`);
    }
    this.edited = {};
    for (const number of numbers) this.edit(number);
  }

  checkHead(head) {
    const [place, number] = parted(head);
    const { weights } = this.model;
    const isAttention = `${place}.in_proj_weight` in weights || `${place}.project.weight` in weights;
    if (!isAttention || !isWithin(number, this.heads)) throw new Error(`There is no head “${head}”.`);
  }

  checkPlace(sizes, stack, place) {
    if (!isWithin(place, sizes[stack])) throw new Error(`There is no place “${stack} ${place}”.`);
  }

  // The number is set in a copy: the model's own weights stay whole.
  edit({ name, row, column, value }) {
    const given = Object.hasOwn(this.model.weights, name) ? this.weight(name) : [];
    const isMatrix = Array.isArray(given);
    const isThere = isWithin(row, given.length) && (isMatrix ? isWithin(column, given[0].length) : column === undefined);
    const place = [name, row, column].filter((part) => part !== undefined).map(String).join(", ");
    if (!isThere) throw new Error(`There is no weight “${place}”.`);
    if (!Number.isFinite(value)) throw new Error(`“${value}” is no number for “${place}”.`);
    const changed = given.slice();
    if (isMatrix) (changed[row] = given[row].slice())[column] = value;
    else changed[row] = value;
    this.edited[name] = changed;
  }

  weight(name) {
    return this.edited[name] ?? this.model.weights[name];
  }

  // What is noted from here on belongs to that stack, of which nothing is remembered.
  enter(stack) {
    this.stack = stack;
    this.trace = this.traces[stack] = {};
  }

  // Vectors that have come out, for the places behind those that are noted under this name. What a reader has carried
  // to one of them stands there instead: go on with what comes back.
  note(name, vectors) {
    const noted = (this.trace[name] ??= []);
    const first = noted.length;
    for (const carried of this.carried) {
      const place = carried.place - first;
      if (carried.stack !== this.stack || carried.name !== name || !(place in vectors)) continue;
      vectors = vectors.slice();
      vectors[place] = this.carriedInto(vectors[place], carried);
    }
    noted.push(...vectors);
    return vectors;
  }

  carriedInto(whole, { name, head, vector }) {
    const width = head === undefined ? whole.length : whole.length / this.heads;
    if (vector.length !== width) throw new Error(`In “${name}” stand ${width} numbers, not ${vector.length}.`);
    const changed = whole.slice();
    changed.set(vector, (head ?? 0) * width);
    return changed;
  }

  // A head's weights: a row for each query, of a number for each key that was there.
  noteWeights(name, head, rows) {
    ((this.trace[name] ??= [])[head] ??= []).push(...rows);
  }

  // How many places have been read.
  get remembered() {
    return Object.values(this.trace)[0]?.length ?? 0;
  }

  // The first so many places, and no more.
  remember(count) {
    const tensors = Object.entries(this.trace);
    const all = tensors.flatMap(([name, tensor]) => (name.endsWith(".weights") ? tensor : [tensor]));
    for (const tensor of all) tensor.length = Math.min(tensor.length, count);
  }

  // Keys that came later than a query were not seen: their weights are zeros.
  finish() {
    for (const trace of Object.values(this.traces))
      for (const name of Object.keys(trace).filter((name) => name.endsWith(".weights"))) {
        const { length } = trace[name.replace(/weights$/, "keys")];
        trace[name] = trace[name].map((rows) => rows.map((row) => padded(row, length)));
      }
    // Names that nothing has come out under; weights are no vector of a place.
    for (const { stack, name } of this.carried)
      if (!Object.hasOwn(this.traces[stack], name) || name.endsWith(".weights"))
        throw new Error(`Nothing can be carried to “${name}” of “${stack}”.`);
  }
}

function padded(row, length) {
  const longer = new Float32Array(length);
  longer.set(row);
  return longer;
}

const IN_HEADS = /\.(queries|keys|values|mixed)$/; // vectors in which each head has a share
const isWithin = (number, size) => /^(0|[1-9]\d*)$/.test(number) && Number(number) < size;

// “text 3” is a name and a number.
function parted(words) {
  const space = words.lastIndexOf(" ");
  return [words.slice(0, space), words.slice(space + 1)];
}

// ---- how weights travel ----

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
