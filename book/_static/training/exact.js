// Numbers that are the same to the last bit in every browser. Sums, products, quotients and square roots are, by IEEE
// 754, which all of them keep. Math.exp, Math.log and Math.sin are not: each browser makes its own, and their last
// digits differ. So what training needs of these is made here of the former, and all sums have a fixed order.

const Exact = {
  // A die of its own for everything that has a name: whatever is left out, the others fall as before.
  dieOf(name, seed) {
    let mixed = seed | 0;
    for (const letter of name) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193);
    return die(mixed);
  },

  whole: (roll, count) => Math.floor(roll() * count),

  // Two to the n-th, n from -1022 to 1023, made by doubling.
  powers: (() => {
    const powers = new Float64Array(2046);
    for (let n = 0, power = 1; n <= 1022; n++, power /= 2) powers[1022 - n] = power;
    for (let n = 0, power = 1; n <= 1023; n++, power *= 2) powers[1022 + n] = power;
    return powers;
  })(),

  inverses: Float64Array.from({ length: 14 }, (_, k) => (k ? 1 / k : 0)),

  // e to the x: so many times two, and for what is left the series, whose rest is under 1e-16.
  exp(x) {
    if (x < -700) return 0;
    if (!(x < 700)) return x > 0 ? Infinity : NaN;
    const twos = Math.round(x / Math.LN2);
    const rest = x - twos * Math.LN2; // at most 0.35
    let sum = 1;
    for (let k = 13; k > 0; k--) sum = 1 + sum * rest * Exact.inverses[k];
    return sum * Exact.powers[1022 + twos];
  },

  // The same way back, by the series of 2 artanh((x - 1) / (x + 1)).
  log(x) {
    if (!(x > 0 && x < Infinity)) return x > 0 ? Infinity : x === 0 ? -Infinity : NaN;
    let twos = 0;
    for (; x >= 1.5; x /= 2) twos++;
    for (; x < 0.75; x *= 2) twos--;
    const part = (x - 1) / (x + 1); // at most 0.2
    let sum = 0;
    for (let k = 23; k > 0; k -= 2) sum = sum * part * part + 1 / k;
    return twos * Math.LN2 + 2 * part * sum;
  },

  // Sine and cosine of an angle from 0 to 1.
  turn(angle) {
    let [sine, cosine] = [1, 1];
    for (let k = 20; k > 0; k -= 2) {
      sine = 1 - (sine * angle * angle) / (k * (k + 1));
      cosine = 1 - (cosine * angle * angle) / (k * (k - 1));
    }
    return [angle * sine, cosine];
  },

  // The sinusoidal table: in pair i of its columns the sine and cosine of place / base^(2i / width). Each row is the
  // one before, turned.
  waves(length, width, base = 10000) {
    const table = new Float32Array(length * width);
    for (let i = 0; i < width; i += 2) {
      const [sine, cosine] = Exact.turn(Exact.exp((-i / width) * Exact.log(base)));
      let [x, y] = [0, 1];
      for (let place = 0; place < length; place++) {
        table[place * width + i] = x;
        if (i + 1 < width) table[place * width + i + 1] = y;
        [x, y] = [x * cosine + y * sine, y * cosine - x * sine];
      }
    }
    return table;
  },
};
