// The arithmetic of one number, written out for each step: a few terms by name, and the others together.

(() => {
  const { summed, times, written, sumOf, largestFew, shareOf, root, ordinary } = stepping;

  const MOST_NAMED = 3; // terms of a long sum

  // "1.09 + 0.63 − 0.35 + 1.20 (61 others) + 0.02 (bias) = 2.59"
  function longSum(terms, { first, bias, total }) {
    const sizes = terms.map(Math.abs);
    const few = largestFew(sizes, Math.min(MOST_NAMED, terms.length));
    const rest = summed(terms.filter((_, i) => !few.includes(i)));
    const parts = few.map((i) => terms[i]);
    const start = first === undefined ? sumOf(parts) : `${written(first)} (stream)${parts.map(after).join("")}`;
    const others = terms.length - few.length;
    const tail = [[rest, others && ordinary(others, "other")], [bias ?? 0, bias !== undefined && "bias"]];
    const ends = tail.filter(([, name]) => name).map(([value, name]) => `${after(value)} (${name})`);
    return `${start}${ends.join("")} = ${written(total)}`;
  }

  const after = (value) => ` ${written(value).startsWith("−") ? "−" : "+"} ${written(Math.abs(value))}`;

  // What power each score has when the largest is taken off, and all together.
  function powersOf(scores, visible = scores.map(() => true)) {
    const largest = Math.max(...[...scores].filter((_, i) => visible[i]));
    const powers = Float32Array.from(scores, (score, i) => (visible[i] ? Math.exp(score - largest) : 0));
    return { largest, powers, total: summed(powers) };
  }

  function shareInWords(score, share, { largest, total }) {
    const power = Math.exp(score - largest);
    const small = power && power < 0.005 ? power.toPrecision(1).replace("e-", "·10⁻").replace(/⁻\d+/, raised) : written(power);
    return `e^(${written(score)} − ${written(largest)}) = ${small}. All together ${written(total)}. ${small} ÷ ${written(total)} = ${shareOf(share)}`.replace("− −", "+ ");
  }

  const raised = (digits) => digits.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

  const ARITHMETIC = {
    embedding: ({ scale, numbers }, n) => {
      const { row, result } = numbers;
      return scale === 1 ? written(row[n]) : `${written(row[n], 3)} × ${root(row.length)} = ${written(result[n])}`;
    },
    positions: ({ numbers: { given, position, result } }, n) =>
      `${sumOf([given[n], position[n]])} = ${written(result[n])}`,
    norm: ({ numbers: { given, mean, deviation, normal, gain, bias, result } }, n) =>
      `(${sumOf([given[n], -mean])}) ÷ ${written(deviation)} = ${written(normal[n])}. ` +
      `${written(normal[n])} × ${written(gain[n])}${after(bias[n])} = ${written(result[n])}`,
    query: ({ head, narrow, matrix, numbers: { given, query } }, n) => {
      const [rows, biases] = matrix();
      const row = head * narrow + (n % narrow);
      return longSum(times(rows[row], given), { bias: biases[row], total: query[n % narrow] });
    },
    score: ({ narrow, numbers: { query, key, products, sum, divisor, score } }, n) => {
      const i = n % narrow;
      const one = `${written(query[i])} × ${written(key[i])} = ${written(products[i])}`;
      return `${one}. All ${narrow}: ${longSum(products, { total: sum })}. ${written(sum)} ÷ ${written(divisor)} = ${written(score)}`;
    },
    softmax: ({ key, numbers: { scores, visible, weights } }) =>
      visible[key] ? shareInWords(scores[key], weights[key], powersOf(scores, visible)) : "hidden: its share is 0",
    mix: ({ off, narrow, numbers: { weights, values, mix } }, n) => {
      if (off) return "off: 0";
      const i = n % narrow;
      const few = largestFew(weights, Math.min(MOST_NAMED, weights.length));
      const rest = summed([...weights.keys()].filter((j) => !few.includes(j)).map((j) => weights[j] * values[j][i]));
      const parts = few.map((j) => `${percent(weights[j])} × ${written(values[j][i])}`);
      const others = weights.length > few.length ? `${after(rest)} (${ordinary(weights.length - few.length, "other")})` : "";
      return `${parts.join(" + ")}${others} = ${written(mix[i])}`;
    },
    output: ({ numbers: { given, heads, bias, result } }, n) => {
      const parts = heads.map((head, i) => `${after(head[n])} (head ${i + 1})`);
      return `${written(given[n])} (stream)${parts.join("")}${after(bias[n])} (bias) = ${written(result[n])}`;
    },
    widen: ({ weights, biases, activation, numbers: { given, wide, active, strengths } }) => {
      const [most] = largestFew(strengths, 1);
      const sum = longSum(times(weights[most], given), { bias: biases[most], total: wide[most] });
      const fires = activation === "relu" ? "above 0: it stays as it is" : `gelu makes ${written(active[most])} of it`;
      return `${sum}, ${fires}`;
    },
    narrow: ({ weights, numbers: { given, active, bias, result } }, n) =>
      longSum(times(active, weights[n]), { first: given[n], bias: bias[n], total: result[n] }),
    logits: ({ weights, biases, numbers: { given, logits } }, n, word) =>
      longSum(times(weights[word], given), { bias: biases[word], total: logits[word] }),
    chances: ({ numbers: { logits, chances } }, n, word) => shareInWords(logits[word], chances[word], powersOf(logits)),
  };

  // What the arithmetic is of: “number 17”, “neuron 5”, “the logit of stela”.
  const SUBJECTS = {
    query: (step, n) => `Number ${(n % step.narrow) + 1} of the query, a sum of ${step.numbers.given.length} products`,
    score: (step, n) => `Number ${(n % step.narrow) + 1} of both`,
    softmax: (step, n, { words }) => `The share of ${words.wordAt(step.memory, step.key)}`,
    mix: (step, n) => `Number ${(n % step.narrow) + 1} of the mix`,
    widen: (step) => `Neuron ${largestFew(step.numbers.strengths, 1)[0] + 1}, a sum of ${step.numbers.given.length} products`,
    logits: (step, n, { words, word }) => `The logit of ${words.named(word)}, a sum of ${step.numbers.given.length} products`,
    chances: (step, n, { words, word }) => `The chance of ${words.named(word)}`,
  };

  // `arithmeticOf(step, words)` is { subject, sum } of the followed number, or of the word that the reader picked.
  function arithmeticOf(step, words) {
    const n = words.follow;
    const word = step.numbers.logits && words.rivals(step.numbers.logits)[0];
    const subject = SUBJECTS[step.kind]?.(step, n, { words, word }) ?? `Number ${n + 1}`;
    if (step.carried) return { subject, sum: "carried over" };
    return { subject, sum: ARITHMETIC[step.kind](step, n, word) };
  }

  Object.assign(stepping, { arithmeticOf });
})();
