// All that it takes to train a Transformer: tensors, what is computed with them, the way back to the gradients, and
// Adam. What PyTorch would do, it does, within rounding (tests/bookkit/training compares every gradient); exact.js
// says why it does the same in every browser.

// A table of numbers, one row after the other, and how the loss changes with each of them.
class Tensor {
  constructor(rows, columns, values = new Float32Array(rows * columns)) {
    Object.assign(this, { rows, columns, values, slopes: new Float32Array(rows * columns) });
  }
}

// ---- products ----

// Of a few numbers of each, from place a in one and from place b in the other.
function dot(left, a, right, b, width) {
  let sum = 0;
  for (let c = 0; c < width; c++) sum += left[a + c] * right[b + c];
  return sum;
}

function addTimes(to, a, factor, from, b, width) {
  for (let c = 0; c < width; c++) to[a + c] += factor * from[b + c];
}

// To out (n, m) add left (n, k) times right (m, k) turned over. Two rows meet two rows at a time: half the reading.
function addProduct(out, left, right, n, m, k) {
  for (let i = 0; i < n; i += 2) {
    const twoRows = i + 1 < n;
    const a = i * k;
    const b = twoRows ? a + k : a;
    for (let j = 0; j < m; j += 2) {
      const twoColumns = j + 1 < m;
      const c = j * k;
      const d = twoColumns ? c + k : c;
      let [ac, ad, bc, bd] = [0, 0, 0, 0];
      for (let l = 0; l < k; l++) {
        ac += left[a + l] * right[c + l];
        ad += left[a + l] * right[d + l];
        bc += left[b + l] * right[c + l];
        bd += left[b + l] * right[d + l];
      }
      const o = i * m + j;
      out[o] += ac;
      if (twoColumns) out[o + 1] += ad;
      if (twoRows) out[o + m] += bc;
      if (twoRows && twoColumns) out[o + m + 1] += bd;
    }
  }
}

function transposed(values, rows, columns) {
  const out = new Float32Array(values.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = values[i * columns + j];
  return out;
}

// ---- what is computed, and the way back ----

// Each computation makes a tensor, and leaves on the tape how its slopes go back to what it was made of. Played from
// its end, the tape is the chain rule.
class Tape {
  constructor() {
    this.steps = [];
  }

  make(rows, columns, forward, back) {
    const out = new Tensor(rows, columns);
    forward(out.values, out);
    this.steps.push(() => back(out.slopes, out));
    return out;
  }

  // It can be stopped anywhere between two computations, so that a page may answer.
  *backward() {
    while (this.steps.length) {
      this.steps.pop()();
      yield;
    }
  }

  // For each place the sum of a few rows of a table, times a number: `ids` has so many for each.
  embedding(table, ids, facts, scale = 1) {
    const width = table.columns;
    const each = (visit) => {
      for (let n = 0; n < ids.length; n++) visit(ids[n] * width, Math.floor(n / facts) * width);
    };
    const forward = (out) => each((from, to) => addTimes(out, to, scale, table.values, from, width));
    return this.make(ids.length / facts, width, forward, (slopes) =>
      each((from, to) => addTimes(table.slopes, from, scale, slopes, to, width)),
    );
  }

  // Of a table with fewer rows, the first `period` are added again and again.
  add(x, more, period = x.rows) {
    const size = period * x.columns;
    const forward = (out) => {
      for (let i = 0; i < out.length; i++) out[i] = x.values[i] + more.values[i % size];
    };
    return this.make(x.rows, x.columns, forward, (slopes) => {
      addTimes(x.slopes, 0, 1, slopes, 0, slopes.length);
      for (let i = 0; i < slopes.length; i += size) addTimes(more.slopes, 0, 1, slopes, i, size);
    });
  }

  // Rows of `weight` are what each output looks for, as in nn.Linear.
  linear(x, weight, bias = null) {
    const [n, m, k] = [x.rows, weight.rows, x.columns];
    const forward = (out) => {
      if (bias) for (let i = 0; i < n; i++) out.set(bias.values, i * m);
      addProduct(out, x.values, weight.values, n, m, k);
    };
    return this.make(n, m, forward, (slopes) => {
      addProduct(x.slopes, slopes, transposed(weight.values, m, k), n, k, m);
      addProduct(weight.slopes, transposed(slopes, n, m), transposed(x.values, n, k), m, k, n);
      if (bias) for (let i = 0; i < n; i++) addTimes(bias.slopes, 0, 1, slopes, i * m, m);
    });
  }

  // Each number is bent by itself; `steep` says how the bend rises where so much came out.
  each(x, bent, steep) {
    const forward = (out) => {
      for (let i = 0; i < out.length; i++) out[i] = bent(x.values[i]);
    };
    return this.make(x.rows, x.columns, forward, (slopes, { values }) => {
      for (let i = 0; i < slopes.length; i++) x.slopes[i] += steep(values[i]) * slopes[i];
    });
  }

  // Each row gets mean 0 and variance 1, then a gain and a bias.
  norm(x, gain, bias) {
    const width = x.columns;
    const normal = new Float32Array(x.values.length);
    const spreads = new Float64Array(x.rows);
    const forward = (out) => {
      for (let i = 0; i < x.rows; i++) {
        const row = x.values.subarray(i * width, (i + 1) * width);
        let [sum, squares] = [0, 0];
        for (let c = 0; c < width; c++) sum += row[c];
        for (let c = 0; c < width; c++) squares += (row[c] - sum / width) * (row[c] - sum / width);
        spreads[i] = Math.sqrt(squares / width + 1e-5);
        for (let c = 0, o = i * width; c < width; c++, o++) {
          normal[o] = (row[c] - sum / width) / spreads[i];
          out[o] = gain.values[c] * normal[o] + bias.values[c];
        }
      }
    };
    return this.make(x.rows, width, forward, (slopes) => {
      for (let i = 0; i < x.rows; i++) {
        let [sum, along] = [0, 0];
        for (let c = 0, o = i * width; c < width; c++, o++) {
          bias.slopes[c] += slopes[o];
          gain.slopes[c] += slopes[o] * normal[o];
          sum += slopes[o] * gain.values[c];
          along += slopes[o] * gain.values[c] * normal[o];
        }
        for (let c = 0, o = i * width; c < width; c++, o++)
          x.slopes[o] += (slopes[o] * gain.values[c] - (sum + along * normal[o]) / width) / spreads[i];
      }
    });
  }

  // Rotary positions: in each head, pair i of the columns is turned by the angle of its place, pair i of `waves`.
  rotate(x, heads, length, waves) {
    const width = x.columns / heads;
    const turn = (from, to, way) => {
      for (let o = 0; o < from.length; o += 2) {
        const wave = (Math.floor(o / x.columns) % length) * width + (o % width);
        const [sine, cosine] = [way * waves[wave], waves[wave + 1]];
        to[o] += from[o] * cosine - from[o + 1] * sine;
        to[o + 1] += from[o] * sine + from[o + 1] * cosine;
      }
    };
    return this.make(x.rows, x.columns, (out) => turn(x.values, out, 1), (slopes) => turn(slopes, x.slopes, -1));
  }

  // Heads side by side, in sequences of `length`. Place i shares its weight among the first counted(i) places, and
  // uses those of the first used(i): both are i + 1 under a right mask. A head's `nearer` makes farther keys lose.
  // Without a softmax (`linear`), scores above 0 are shared out as they are. That is the softmax of their logarithms.
  // The weights stay on the tensor, (sequences, heads, length, length).
  attention(queries, keys, values, { length, heads, counted, used, divisor, nearer, linear }) {
    const [n, asks, gives] = [queries.rows, queries.columns / heads, values.columns / heads];
    const weights = new Float32Array(n * heads * length);
    // For every query of every head: where its own numbers, its row of weights, and its sequence begin.
    const each = (visit) => {
      for (let row = 0; row < n; row++)
        for (let head = 0; head < heads; head++) {
          const [first, i] = [row - (row % length), row % length];
          visit(row, first, head, i, ((first / length) * heads + head) * length * length + i * length);
        }
    };
    const forward = (out, tensor) => {
      tensor.weights = weights;
      const powers = new Float64Array(length);
      each((row, first, head, i, at) => {
        const own = row * keys.columns + head * asks;
        const [many, some] = [counted(i), used(i)];
        let [largest, total] = [-Infinity, 0];
        for (let j = 0; j < many; j++) {
          const score = dot(queries.values, own, keys.values, (first + j) * keys.columns + head * asks, asks);
          powers[j] = (linear ? Exact.log(score) : score / divisor) - nearer[head] * Math.abs(i - j);
          largest = Math.max(largest, powers[j]);
        }
        for (let j = 0; j < many; j++) total += powers[j] = Exact.exp(powers[j] - largest);
        for (let j = 0; j < many; j++) weights[at + j] = powers[j] / total;
        const to = row * values.columns + head * gives;
        for (let j = 0; j < some; j++)
          addTimes(out, to, weights[at + j], values.values, (first + j) * values.columns + head * gives, gives);
      });
    };
    return this.make(n, values.columns, forward, (slopes) => {
      const ofWeights = new Float64Array(length);
      each((row, first, head, i, at) => {
        const [many, some] = [counted(i), used(i)];
        const to = row * values.columns + head * gives;
        let mean = 0;
        for (let j = 0; j < many; j++) {
          const from = (first + j) * values.columns + head * gives;
          ofWeights[j] = j < some ? dot(slopes, to, values.values, from, gives) : 0;
          if (j < some) addTimes(values.slopes, from, weights[at + j], slopes, to, gives);
          mean += weights[at + j] * ofWeights[j];
        }
        const own = row * keys.columns + head * asks;
        for (let j = 0; j < many; j++) {
          const key = (first + j) * keys.columns + head * asks;
          const share = linear ? dot(queries.values, own, keys.values, key, asks) : divisor;
          const slope = (weights[at + j] * (ofWeights[j] - mean)) / share;
          addTimes(queries.slopes, own, slope, keys.values, key, asks);
          addTimes(keys.slopes, key, slope, queries.values, own, asks);
        }
      });
    });
  }

  // ---- losses: of rows of `classes` scores, each with its right one, or -1 where nothing is asked ----

  // The mean of -log(share of the right one).
  crossEntropy(scores, targets, classes) {
    const asked = targets.reduce((sum, target) => sum + (target >= 0), 0);
    let loss = 0;
    for (const [row, target] of targets.entries()) {
      if (target < 0) continue;
      const o = row * classes;
      let [largest, total] = [-Infinity, 0];
      for (let c = 0; c < classes; c++) largest = Math.max(largest, scores.values[o + c]);
      for (let c = 0; c < classes; c++) total += scores.slopes[o + c] = Exact.exp(scores.values[o + c] - largest);
      for (let c = 0; c < classes; c++) scores.slopes[o + c] = (scores.slopes[o + c] / total - (c === target)) / asked;
      loss += Exact.log(total) + largest - scores.values[o + target];
    }
    return loss / asked;
  }

  // The squared distance from a 1 in the place of the right one, and else 0.
  squares(scores, targets, classes) {
    let loss = 0;
    for (const [row, target] of targets.entries())
      for (let c = 0; c < classes; c++) {
        const distance = scores.values[row * classes + c] - (c === target);
        scores.slopes[row * classes + c] = (2 * distance) / targets.length;
        loss += distance * distance;
      }
    return loss / targets.length;
  }
}

// ---- the step ----

class Adam {
  constructor(parameters, betas = [0.9, 0.999]) {
    const zeros = () => parameters.map(({ values }) => new Float32Array(values.length));
    Object.assign(this, { parameters, betas, means: zeros(), squares: zeros(), left: [1, 1] });
  }

  // The length of all slopes together; with a `limit`, they are shortened to it.
  norm(limit) {
    let sum = 0;
    for (const { slopes } of this.parameters) for (let i = 0; i < slopes.length; i++) sum += slopes[i] * slopes[i];
    const norm = Math.sqrt(sum);
    if (limit && norm > limit)
      for (const { slopes } of this.parameters) slopes.forEach((slope, i) => (slopes[i] = (slope * limit) / norm));
    return norm;
  }

  // Each number moves against the running mean of its slopes, the less the larger these usually are.
  step(rate) {
    const [one, two] = this.betas;
    this.left = [this.left[0] * one, this.left[1] * two];
    const [first, second] = this.left.map((left) => 1 - left);
    for (const [place, { values, slopes }] of this.parameters.entries()) {
      const [mean, square] = [this.means[place], this.squares[place]];
      for (let i = 0; i < values.length; i++) {
        mean[i] = one * mean[i] + (1 - one) * slopes[i];
        square[i] = two * square[i] + (1 - two) * slopes[i] * slopes[i];
        values[i] -= (rate * (mean[i] / first)) / (Math.sqrt(square[i] / second) + 1e-8);
      }
      slopes.fill(0);
    }
  }
}
