// What is trained in the page: models of one kind, with a table of words, layers of attention and perhaps a network,
// and a matrix that reads the answer off. bookkit/training/settings.py says what each setting means, and
// bookkit/training/learner.py is the same in PyTorch.

// How many places are counted in the softmax, and how many used, for the query at place i of `length`.
const SIGHTS = {
  "so far": [(i) => i + 1, (i) => i + 1],
  all: [(i, length) => length, (i, length) => length],
  "one too many": [(i, length) => Math.min(i + 2, length), (i, length) => Math.min(i + 2, length)],
  "after the softmax": [(i, length) => length, (i) => i + 1],
};
// What bends each number by itself, and how it rises where so much came out.
const RELU = [(x) => (x > 0 ? x : 0), (made) => (made > 0 ? 1 : 0)];
const POSITIVE = [(x) => (x > 0 ? x + 1 : Exact.exp(x)), (made) => (made > 1 ? 1 : made)]; // elu + 1
const DIVISORS = { root: (width) => Math.sqrt(width), none: () => 1, width: (width) => width };

class Learner {
  constructor(settings, task, seed) {
    Object.assign(this, { settings, task, seed, parameters: {} });
    const { words, width, spread, positions, longest, layers, hidden, norm, readOut } = settings;
    this.ones = words === "ones" ? oneEach(task.ids) : null;
    if (!this.ones) this.learn("words", task.ids, width, spread);
    if (positions === "learned") this.learn("places", longest, width, Math.SQRT1_2);
    for (let i = 0; i < layers; i++) {
      this.learnAttention(`layers.${i}.attention`);
      if (norm !== "none") this.learnNorm(`layers.${i}.attention.norm`);
      if (!hidden) continue;
      this.learnLinear(`layers.${i}.network.widen`, hidden, width);
      this.learnLinear(`layers.${i}.network.narrow`, width, hidden);
      if (norm !== "none") this.learnNorm(`layers.${i}.network.norm`);
    }
    if (norm === "before") this.learnNorm("norm");
    if (readOut) this.learnLinear("readOut", task.classes * task.answers, this.mixedWidth);
  }

  get queryWidth() {
    return this.settings.queryWidth ?? this.settings.width / this.settings.heads;
  }

  // Of what leaves an attention.
  get mixedWidth() {
    const { width, heads, valueWidth, output, matrices } = this.settings;
    const asItCame = output || matrices === "no values" || matrices === "of places";
    return asItCame ? width : heads * (valueWidth ?? width / heads);
  }

  // ---- first weights ----

  // Numbers with mean 0 and that spread (the root of the variance), from a die that has the parameter's name: what
  // two models both have begins alike in both.
  learn(name, rows, columns, spread) {
    const roll = Exact.dieOf(name, this.seed);
    const reach = spread * Math.sqrt(3);
    const values = new Float32Array(rows * columns).map(() => reach * (2 * roll() - 1));
    this.parameters[name] = new Tensor(rows, columns, values);
  }

  // As wide as nn.Linear's, up to 1/√inputs, and that times `loudness`. A bias begins at zero.
  learnLinear(name, outputs, inputs) {
    this.learn(`${name}.weight`, outputs, inputs, this.settings.loudness / Math.sqrt(3 * inputs));
    if (this.settings.biases) this.parameters[`${name}.bias`] = new Tensor(1, outputs);
  }

  learnNorm(name) {
    const { width } = this.settings;
    this.parameters[`${name}.gain`] = new Tensor(1, width, new Float32Array(width).fill(1));
    this.parameters[`${name}.bias`] = new Tensor(1, width);
  }

  learnAttention(name) {
    const { width, heads, valueWidth, output, matrices, longest } = this.settings;
    const asked = heads * this.queryWidth;
    const given = heads * (valueWidth ?? width / heads);
    if (matrices === "of places") {
      this.learn(`${name}.queries`, longest, asked, 1);
      this.learn(`${name}.keys`, longest, asked, 1);
      return;
    }
    if (matrices !== "only values") this.learnLinear(`${name}.query`, asked, width);
    if (matrices !== "only values" && matrices !== "tied") this.learnLinear(`${name}.key`, asked, width);
    if (matrices !== "no values") this.learnLinear(`${name}.value`, given, width);
    if (output) this.learnLinear(`${name}.output`, width, matrices === "no values" ? width : given);
  }

  // ---- what it computes ----

  linear(tape, name, x) {
    return tape.linear(x, this.parameters[`${name}.weight`], this.parameters[`${name}.bias`]);
  }

  norm(tape, name, x) {
    return tape.norm(x, this.parameters[`${name}.gain`], this.parameters[`${name}.bias`]);
  }

  sides(tape, name, x, length) {
    const { matrices } = this.settings;
    if (matrices === "only values") return [x, x];
    if (matrices === "of places") {
      const places = Int32Array.from({ length: x.rows }, (_, row) => row % length);
      return ["queries", "keys"].map((side) => tape.embedding(this.parameters[`${name}.${side}`], places, 1));
    }
    const query = this.linear(tape, `${name}.query`, x);
    return [query, matrices === "tied" ? query : this.linear(tape, `${name}.key`, x)];
  }

  attention(tape, name, x, length) {
    const { heads, positions, sight, divisor, output, matrices, attention } = this.settings;
    let sides = this.sides(tape, name, x, length);
    if (positions === "rotary") {
      const waves = Exact.waves(length, this.queryWidth);
      sides = sides.map((side) => tape.rotate(side, heads, length, waves));
    }
    const linear = attention === "linear";
    if (linear) sides = sides.map((side) => tape.each(side, ...POSITIVE));
    const ready = matrices === "no values" || matrices === "of places";
    const value = ready ? x : this.linear(tape, `${name}.value`, x);
    const slope = (head) => Exact.exp((-8 * (head + 1) * Math.LN2) / heads); // ALiBi's: 1/4, 1/16, … of four heads
    const [counted, used] = SIGHTS[sight].map((many) => (i) => many(i, length));
    const mixed = tape.attention(...sides, value, {
      ...{ length, heads, counted, used, linear, divisor: DIVISORS[divisor](sides[0].columns / heads) },
      nearer: Array.from({ length: heads }, (_, head) => (positions === "ALiBi" ? slope(head) : 0)),
    });
    this.looks.push(mixed.weights);
    return output ? this.linear(tape, `${name}.output`, mixed) : mixed;
  }

  network(tape, name, x) {
    return this.linear(tape, `${name}.narrow`, tape.each(this.linear(tape, `${name}.widen`, x), ...RELU));
  }

  // Around a block there may be a road past it, and a norm before it or after.
  around(tape, name, x, block) {
    const { road, norm } = this.settings;
    const made = block(norm === "before" ? this.norm(tape, `${name}.norm`, x) : x);
    const sum = road ? tape.add(x, made) : made;
    return norm === "after" ? this.norm(tape, `${name}.norm`, sum) : sum;
  }

  // The scores of each answer at each place. It can be stopped between two blocks.
  *forward(tape, { ids, length }) {
    const { width, scaled, positions, layers, hidden, norm, readOut } = this.settings;
    this.looks = []; // of each layer the weights, (sequences, heads, length, length)
    let x = tape.embedding(this.ones ?? this.parameters.words, ids, this.task.facts, scaled ? Math.sqrt(width) : 1);
    if (positions === "learned") x = tape.add(x, this.parameters.places, length);
    if (positions === "sinusoidal") x = tape.add(x, new Tensor(length, width, Exact.waves(length, width)), length);
    for (let i = 0; i < layers; i++) {
      const [look, think] = [`layers.${i}.attention`, `layers.${i}.network`];
      x = this.around(tape, look, x, (x) => this.attention(tape, look, x, length));
      yield;
      if (hidden) x = this.around(tape, think, x, (x) => this.network(tape, think, x));
      yield;
    }
    if (norm === "before") x = this.norm(tape, "norm", x);
    return readOut ? this.linear(tape, "readOut", x) : x;
  }
}

// A word is a 1 in its own place, and else 0.
function oneEach(count) {
  const table = new Tensor(count, count);
  for (let i = 0; i < count; i++) table.values[i * (count + 1)] = 1;
  return table;
}
