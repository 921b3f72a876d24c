// What a stream is worth in words: the word so far at each station, and each part's own share in one logit against
// another. All of it comes from the traces of one run.
//
// At the end a norm and a matrix make logits of the stream. Were it not for the norm, whose division by the deviation
// depends on all numbers, a logit would be a sum: of what each part has written. With the deviation held as it is in
// this run it is such a sum, exactly. Taking off the mean, each part takes off its own.

// The stack whose places say words.
const stackWithWords = (stacks) => stacks.find(({ head }) => head);

// What makes logits of the stream. A GPT has one table at both ends, and no biases.
function exitOf(model, stack) {
  const matrix = model.weights[`${stack.head}.weight`] ? stack.head : stack.embedding;
  const both = (name) => [weightOf(model, `${name}.weight`), weightOf(model, `${name}.bias`)];
  const [norm, word] = [both(stack.norm), both(matrix)];
  return { gain: norm[0], bias: norm[1], rows: word[0], biases: matrix === stack.head ? word[1] : undefined };
}

// As it is in the run that is shown: numbers of it may have been set by hand.
function weightOf(model, name) {
  let weight = model.weights[name];
  for (const { row, column, value } of model.changes.numbers.filter((number) => number.name === name)) {
    weight = weight.slice();
    if (column === undefined) weight[row] = value;
    else (weight[row] = weight[row].slice())[column] = value;
  }
  return weight;
}

// Where the stream can be stopped: what goes in, and behind each part. `layer` and `part` count from 0.
function stopsOf(stack) {
  const first = [{ kind: "embedding", name: stack.embedding }, { kind: "positions", name: stack.positions }];
  const behind = ({ parts }, layer) => parts.map((each, part) => ({ kind: each.kind, name: each.after, layer, part }));
  return [...first, ...stack.layers.flatMap(behind)];
}

// ---- the word so far ----

// For each station the chances of all words if the model stopped there, and one logit less another.
function soFar(model, stacks, traces, place, [a, b]) {
  const stack = stackWithWords(stacks);
  const { gain, bias, rows, biases } = exitOf(model, stack);
  return stopsOf(stack).map((station) => {
    const stream = traces[stack.name][station.name][place];
    const { mean, deviation } = spreadOf(stream);
    const normed = stream.map((number, i) => ((number - mean) / deviation) * gain[i] + bias[i]);
    const logits = Float32Array.from(rows, (row, id) => product(row, normed) + (biases?.[id] ?? 0));
    return { ...station, chances: softmax(logits), difference: logits[a] - logits[b] };
  });
}

function spreadOf(vector) {
  const mean = vector.reduce((sum, number) => sum + number, 0) / vector.length;
  const variance = vector.reduce((sum, number) => sum + (number - mean) ** 2, 0) / vector.length;
  return { mean, deviation: Math.sqrt(variance + 1e-5) };
}

// ---- shares ----

// How much each number that is added to the stream at this place adds to logit a − logit b.
function pullOf(model, stack, traces, place, [a, b]) {
  const { gain, rows } = exitOf(model, stack);
  const last = stopsOf(stack).at(-1).name;
  const { deviation } = spreadOf(traces[stack.name][last][place]);
  const pull = Float64Array.from(gain, (number, i) => (number * (rows[a][i] - rows[b][i])) / deviation);
  const { mean } = spreadOf(pull); // what all numbers have in common, the norm takes off
  return pull.map((number) => number - mean);
}

const along = (vector, direction) => vector.reduce((sum, number, i) => sum + number * direction[i], 0);

// The same for the numbers that one head mixes, through its columns of the output matrix.
function throughHead(model, part, head, direction) {
  const rows = weightOf(model, `${part.output}.weight`);
  const width = rows[0].length / part.heads;
  const each = new Float64Array(width);
  rows.forEach((row, i) => {
    for (let k = 0; k < width; k++) each[k] += direction[i] * row[head * width + k];
  });
  return each;
}

function sliceOf(vector, head, heads) {
  const width = vector.length / heads;
  return vector.subarray(head * width, (head + 1) * width);
}

// Every part's own share in logit a − logit b at this place. `total` is the difference, and the shares' sum.
// What was carried in from another sentence, and is nobody's, has a share of its own.
function shares(model, stacks, traces, place, pair) {
  const stack = stackWithWords(stacks);
  const toward = pullOf(model, stack, traces, place, pair);
  const trace = traces[stack.name];
  const found = [];
  let before = 0;
  for (const { kind, name, layer, part } of stopsOf(stack)) {
    const now = along(trace[name][place], toward);
    const own = kind === "embedding" || kind === "positions" ? [{ kind, share: now - before }] : null;
    const parts = own ?? writtenBy(model, stack.layers[layer].parts[part], trace, place, toward);
    const rest = now - before - shareSum(parts);
    if (Math.abs(rest) > 1e-4) parts.push({ kind: "carried", share: rest });
    found.push(...parts.map((each) => ({ ...each, layer, part })));
    before = now;
  }
  const { bias, rows, biases } = exitOf(model, stack);
  const [a, b] = pair;
  found.push({ kind: "bias", name: stack.norm, share: along(bias, rows[a].map((number, i) => number - rows[b][i])) });
  if (biases) found.push({ kind: "bias", name: stack.head, share: biases[a] - biases[b] });
  const logits = trace[stack.head][place];
  const total = logits[a] - logits[b];
  if (Math.abs(total - shareSum(found)) > 1e-3) found.push({ kind: "carried", share: total - shareSum(found) });
  return { total, shares: found };
}

const shareSum = (parts) => parts.reduce((sum, { share }) => sum + share, 0);

// What an attention's heads, or a network, write into the stream; and what is always written with it.
function writtenBy(model, part, trace, place, toward) {
  const bias = (name) => ({ kind: "bias", name, share: along(weightOf(model, `${name}.bias`), toward) });
  if (part.kind === "network") {
    const always = bias(part.narrow);
    return [{ kind: "network", share: along(trace[part.narrow][place], toward) - always.share }, always];
  }
  const mixed = trace[part.mixed][place];
  const heads = Array.from({ length: part.heads }, (_, head) => {
    const share = along(sliceOf(mixed, head, part.heads), throughHead(model, part, head, toward));
    return { kind: "head", head, share };
  });
  return [...heads, bias(part.output)];
}

// Of a head's share, what each place it looks at brought: its weight × its value, through the head's columns.
function brought(model, stacks, traces, place, pair, { layer, part, head }) {
  const stack = stackWithWords(stacks);
  const attention = stack.layers[layer].parts[part];
  const toward = throughHead(model, attention, head, pullOf(model, stack, traces, place, pair));
  const { [attention.weights]: weights, [attention.values]: values } = traces[stack.name];
  const worth = (key) => along(sliceOf(values[key], head, attention.heads), toward);
  return [...weights[head][place]].map((weight, key) => weight && weight * worth(key));
}
