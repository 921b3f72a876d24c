// One word's way through a model, as a list of steps: the row of the table, the place, each part of each layer, and
// what the model says at its end. A step computes its numbers when they are asked for, from the trace of the run.
//
// step: { id, layer, part, kind (of drawing), title, short (for the map), shapes, chapter, numbers, carried, off }
// The words that go with it are in step_words.js, its picture in step_drawings.js.

const stepping = (() => {
  const CHAPTERS = {
    embedding: ["from-words-to-vectors", "a-word-is-a-row", "A word is a row"],
    waves: ["where-am-i", "added-to-the-words", "Where am I? Added to the words"],
    rows: ["where-am-i", "at-the-words-learned-rows", "Where am I? Learned rows"],
    norm: ["keeping-numbers-in-range", "one-vector-by-hand", "One vector by hand"],
    query: ["queries-keys-and-values-that-learn", "one-vector-can-t-play-three-roles", "One vector can’t play three roles"],
    across: ["the-transformer", "two-towers-three-looks", "Two towers, three looks"],
    score: ["why-divide-by-root-dk", "the-argument", "Why divide by √dₖ?"],
    softmax: ["what-is-attention", "softmax-and-what-it-promises", "Softmax, and what it promises"],
    mask: ["who-may-look-where", "a-mask-by-hand", "A mask by hand"],
    mix: ["what-is-attention", "queries-keys-and-values-with-three-words", "Queries, keys and values with three words"],
    output: ["many-heads", "what-the-output-matrix-is-for", "What the output matrix is for"],
    widen: ["the-transformer", "what-the-feed-forward-network-is-for", "What the feed-forward network is for"],
    narrow: ["the-transformer", "a-neuron-read", "A neuron, read"],
    last: ["keeping-numbers-in-range", "a-road-with-side-streets", "A road with side streets"],
    logits: ["the-transformer", "in-one-screen", "The Transformer in one screen"],
    tied: ["a-gpt-of-your-own", "the-model-with-one-table", "The model, with one table"],
    chances: ["what-is-attention", "temperature-from-the-mean-to-the-dictionary", "Temperature"],
  };

  const summed = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
  const lengthOf = (vector) => Math.sqrt(summed(vector.map((number) => number * number)));
  const times = (a, b) => Float32Array.from(a, (number, i) => number * b[i]);
  const minus = (a, b) => Float32Array.from(a, (number, i) => number - b[i]);
  const largestOf = (numbers) => numbers.reduce((best, number, i) => (number > numbers[best] ? i : best), 0);
  const within = (number, count) => Number.isInteger(number) && number >= 0 && number < count;
  // gelu is GPT-2's, by a hyperbolic tangent.
  const ACTIVATIONS = {
    relu: (x) => Math.max(0, x),
    gelu: (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x))),
  };

  function columnLengths(rows) {
    const squares = new Float32Array(rows[0].length);
    for (const row of rows) for (let i = 0; i < squares.length; i++) squares[i] += row[i] * row[i];
    return squares.map(Math.sqrt);
  }

  // What is asked for once is computed once.
  function once(compute) {
    let result;
    return () => (result ??= compute());
  }

  // `stepsOf(bench)` is the way of the word at bench.choice.place of bench.choice.stack.
  function stepsOf(bench) {
    return new Way(bench).steps;
  }

  class Way {
    constructor(bench) {
      const { model, stacks, traces, choice } = bench;
      const stack = stacks.find(({ name }) => name === choice.stack) ?? stacks.at(-1);
      Object.assign(this, { bench, model, stack, trace: traces[stack.name], steps: [] });
      const places = this.trace[stack.embedding].length;
      this.place = within(choice.place, places) ? choice.place : places - 1;
      this.width = this.trace[stack.embedding][0].length;
      this.begin();
      for (const [layer, { parts }] of stack.layers.entries())
        for (const [part, each] of parts.entries())
          if (each.kind === "attention") this.attention(each, layer, part);
          else this.network(each, layer, part);
      this.finish();
    }

    at(name, place = this.place) {
      return this.trace[name][place];
    }

    // A weight as the run had it: with the numbers that were set by hand.
    weight(name) {
      const edits = (this.model.changes?.numbers ?? []).filter((edit) => edit.name === name);
      const weight = this.model.weights[name];
      if (!edits.length) return weight;
      const copy = Array.from(weight, (row) => (row.length ? row.slice() : row));
      for (const { row, column, value } of edits)
        if (column === undefined) copy[row] = value;
        else copy[row][column] = value;
      return copy;
    }

    // The rows that make queries, and their biases: of the matrix that makes keys and values, too, the first third.
    asking({ rows, biases }) {
      return [rows, biases].map((name) => this.weight(name)).map((all) => all.slice(0, all.length / 3));
    }

    // `made` are the tensors that come out of a step: of what was carried there, the step says so.
    add(kind, where, chapter, about, numbers) {
      const { layer = null, part = null } = where;
      const [file, anchor, words] = CHAPTERS[chapter];
      const compute = once(numbers);
      const id = layer === null ? kind : `${layer}.${part}.${kind}`;
      const step = { id, kind, layer, part, chapter: { file, anchor, words }, ...about };
      Object.defineProperty(step, "numbers", { get: compute, enumerable: true });
      step.carried = this.isCarried(about.made, kind === "mix" ? about.head : undefined);
      this.steps.push(step);
    }

    isCarried(name, head) {
      const { carried = [] } = this.model.changes ?? {};
      return carried.some(
        (one) =>
          one.stack === this.stack.name && one.place === this.place && one.name === name &&
          (one.head === undefined || head === undefined || one.head === head),
      );
    }

    // ---- what goes in ----

    begin() {
      const { stack, width } = this;
      const ofGpt = this.weight("places.weight"); // its rows are not multiplied, and end the way as they began it
      const table = this.weight(`${stack.embedding}.weight`);
      const scale = ofGpt ? 1 : Math.sqrt(width);
      this.tied = ofGpt ? table : null;
      const goesIn = { made: stack.embedding, title: "A row of the table", short: "row", scale, rows: table.length };
      this.add("embedding", {}, "embedding", { ...goesIn, shapes: `(${table.length}, ${width}) → (${width})` }, () => {
        const result = this.at(stack.embedding);
        return { row: result.map((number) => number / scale), result };
      });
      const learned = Boolean(ofGpt ?? this.weight(`${stack.positions}.table`));
      const added = { made: stack.positions, title: "The place is added", short: "place", learned };
      this.stream = () => this.at(stack.positions);
      this.add("positions", {}, learned ? "rows" : "waves", { ...added, shapes: `(${width}) + (${width}) → (${width})` }, () => {
        const [given, result] = [this.at(stack.embedding), this.at(stack.positions)];
        return { given, position: minus(result, given), result };
      });
    }

    norm(name, given, where, about) {
      const gain = this.weight(`${name}.weight`);
      const bias = this.weight(`${name}.bias`);
      const shapes = `(${this.width}) → (${this.width})`;
      this.add("norm", where, where.chapter ?? "norm", { made: name, title: "Numbers kept in range", short: "norm", shapes, ...about }, () => {
        const stream = given();
        const mean = summed(stream) / stream.length;
        const apart = stream.map((number) => number - mean);
        const deviation = Math.sqrt(summed(times(apart, apart)) / stream.length + 1e-5);
        const normal = apart.map((number) => number / deviation);
        return { given: stream, mean, deviation, normal, gain, bias, result: this.at(name) };
      });
    }

    // ---- attention ----

    // Which head is followed here: the reader's, or else the one that adds most.
    headOf(part, layer, place) {
      const { choice } = this.bench;
      const chosen = choice.layer === layer && choice.part === place;
      if (chosen && within(choice.head, part.heads)) return choice.head;
      return largestOf(this.shares(part).map(lengthOf));
    }

    // Which key: the reader's, or else the one that the head looks at most.
    keyOf(part, layer, place, head) {
      const { choice } = this.bench;
      const weights = this.trace[part.weights][head][this.place];
      const chosen = choice.layer === layer && choice.part === place;
      return chosen && within(choice.key, weights.length) ? choice.key : largestOf(weights);
    }

    // What each head adds to the stream: its columns of the output matrix times what it found.
    shares(part) {
      const mixed = this.at(part.mixed);
      const rows = this.weight(`${part.output}.weight`);
      const narrow = mixed.length / part.heads;
      return Array.from({ length: part.heads }, (_, head) => {
        const [start, end] = [head * narrow, (head + 1) * narrow];
        const found = mixed.subarray(start, end);
        return Float32Array.from(rows, (row) => product(row.subarray(start, end), found));
      });
    }

    // No place of a stack that speaks sees a later one, unless the mask is off; a hidden one is seen by none.
    sees(part, key) {
      const { mask = true, hidden } = this.model.changes ?? {};
      if (hidden?.has(`${part.memory} ${key}`)) return false;
      return part.cross || !this.stack.head || !mask || key <= this.place;
    }

    attention(part, layer, number) {
      const { stack, width } = this;
      const given = this.stream;
      const where = { layer, part: number };
      const head = this.headOf(part, layer, number);
      const key = this.keyOf(part, layer, number, head);
      this.norm(part.norm, given, where, { then: "attention", cross: part.cross, memory: part.memory, head, key });
      const narrow = width / part.heads;
      const slice = (vector) => vector.subarray(head * narrow, (head + 1) * narrow);
      const other = this.bench.traces[part.memory];
      const keys = this.trace[part.keys];
      const off = this.model.changes?.off?.has(`${part.attention} ${head}`) ?? false;
      const about = { head, key, off, cross: part.cross, memory: part.memory, heads: part.heads, narrow };
      const source = part.cross ? this.bench.stacks.find(({ name }) => name === part.memory).norm : part.norm;
      const query = once(() => slice(this.at(part.queries)));
      const scale = Math.sqrt(narrow);
      const add = (kind, chapter, more, numbers) => this.add(kind, where, chapter, { ...about, ...more }, numbers);

      const asks = { title: "A query and a key", short: "q, k", made: part.queries, shapes: `(${narrow}, ${width}) · (${width}) → (${narrow}), twice` };
      add("query", part.cross ? "across" : "query", { ...asks, matrix: () => this.asking(part.projection) }, () => ({
        given: this.at(part.norm), query: query(), other: other[source][key], key: slice(keys[key]),
      }));
      const meets = { title: "Query times key", short: "q · k", shapes: `(${narrow}) · (${narrow}) → one number` };
      add("score", "score", meets, () => {
        const products = times(query(), slice(keys[key]));
        const sum = summed(products);
        return { query: query(), key: slice(keys[key]), products, sum, divisor: scale, score: sum / scale };
      });
      const count = keys.length;
      const causal = Boolean(stack.head) && !part.cross;
      const shared = { title: causal ? "The mask and the softmax" : "The softmax", short: "softmax", shapes: `(${count}) → (${count})`, causal };
      add("softmax", causal ? "mask" : "softmax", { ...shared, made: part.weights }, () => ({
        scores: Float32Array.from(keys, (each) => product(query(), slice(each)) / scale),
        visible: keys.map((_, place) => this.sees(part, place)),
        weights: this.trace[part.weights][head][this.place],
      }));
      const mixes = { title: "A mix of values", short: "mix", shapes: `(${count}) · (${count}, ${narrow}) → (${narrow})`, made: part.mixed };
      add("mix", "mix", mixes, () => ({
        weights: this.trace[part.weights][head][this.place],
        values: this.trace[part.values].map(slice),
        mix: slice(this.at(part.mixed)),
      }));
      const result = () => this.at(part.after);
      const joins = { title: "What all heads found is added", short: "join", shapes: `(${width}, ${width}) · (${width}) → (${width})`, made: part.after };
      add("output", "output", joins, () => {
        const bias = this.weight(`${part.output}.bias`);
        return { given: given(), heads: this.shares(part), bias, more: this.at(part.output), result: result() };
      });
      this.stream = result;
    }

    // ---- the network ----

    network(part, layer, number) {
      const { width } = this;
      const given = this.stream;
      const where = { layer, part: number };
      this.norm(part.norm, given, where, { then: "network" });
      const [wide, narrow] = [part.widen, part.narrow].map((name) => this.weight(`${name}.weight`));
      const active = once(() => this.at(part.widen).map(ACTIVATIONS[part.activation]));
      // How much a neuron adds: as it fires, times the length of its column.
      const strengths = once(() => times(active(), columnLengths(narrow)).map(Math.abs));
      const about = { activation: part.activation, hidden: wide.length };
      const shapes = `(${wide.length}, ${width}) · (${width}) → (${wide.length})`;
      this.add("widen", where, "widen", { ...about, title: "Neurons fire, or don’t", short: "widen", shapes, made: part.widen, weights: wide, biases: this.weight(`${part.widen}.bias`) }, () => ({
        given: this.at(part.norm), wide: this.at(part.widen), active: active(), strengths: strengths(),
      }));
      const result = () => this.at(part.after);
      const back = { title: "What fires is added", short: "narrow", shapes: `(${width}, ${wide.length}) · (${wide.length}) → (${width})`, made: part.after, weights: narrow };
      this.add("narrow", where, "narrow", { ...about, ...back }, () => ({
        given: given(), active: active(), strengths: strengths(), bias: this.weight(`${part.narrow}.bias`),
        more: this.at(part.narrow), result: result(),
      }));
      this.stream = result;
    }

    // ---- what comes out ----

    finish() {
      const { stack, bench, width, place } = this;
      const last = { title: "The last norm", then: stack.head ? "logits" : "memory" };
      this.norm(stack.norm, this.stream, { chapter: "last" }, last);
      if (!stack.head) return;
      const rows = this.weight(`${stack.head}.weight`) ?? this.tied;
      const biases = this.weight(`${stack.head}.bias`) ?? new Float32Array(rows.length);
      const logits = once(() => this.trace[stack.head]?.[place] ?? bench.logits[place]);
      const shapes = `(${rows.length}, ${width}) · (${width}) → (${rows.length})`;
      const about = { title: `A number for each ${this.tied ? "piece" : "word"}`, short: "logits", shapes, made: stack.head, weights: rows, biases };
      this.add("logits", {}, this.tied ? "tied" : "logits", about, () => ({ given: this.at(stack.norm), logits: logits() }));
      const ends = { title: "Chances", short: "chances", shapes: `(${rows.length}) → (${rows.length})` };
      this.add("chances", {}, "chances", ends, () => ({ logits: logits(), chances: softmax(logits()) }));
    }
  }

  return { Way, stepsOf, summed, lengthOf, times, minus, largestOf, within };
})();
