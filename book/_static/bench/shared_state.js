// What a bench shows, as a state that an address can hold (state.js), and a bench set to such a state.

// What there is in this bench, for whoever wrote an address by hand.
function knownBy(bench) {
  const { model, stacks, traces, data } = bench;
  const parts = stacks.flatMap(({ layers }) => layers.flatMap((layer) => layer.parts));
  const attentions = parts.filter(({ kind }) => kind === "attention").map(({ attention }) => attention);
  const shapeOf = (weight) => (Array.isArray(weight) ? [weight.length, weight[0].length] : [weight.length]);
  const each = stacks.map(({ name, layers, positions }) => {
    const places = traces?.[name]?.[positions].length;
    return [name, { layers: layers.length, parts: layers[0].parts.length, heads: model.heads, places }];
  });
  return {
    views: bench.slim ? [] : Object.keys(TITLES),
    stacks: Object.fromEntries(each),
    words: bench.vocabulary,
    steps: stacks.flatMap(stepNames),
    attentions,
    weights: Object.fromEntries(Object.entries(model.weights).map(([name, weight]) => [name, shapeOf(weight)])),
    kind: data.kind,
  };
}

// The steps of a word's way, by the names that steps.js gives them: it may not have come yet.
const STEPS_OF = { attention: "norm query score softmax mix output", network: "norm widen narrow" };
function stepNames({ layers }) {
  const inLayers = layers.flatMap(({ parts }, layer) =>
    parts.flatMap(({ kind }, part) => STEPS_OF[kind].split(" ").map((step) => `${layer}.${part}.${step}`)),
  );
  return ["embedding", "positions", ...inLayers, "norm", "logits", "chances"];
}

function stateOfBench(bench) {
  const { choice, changes, rivals, picked, vocabulary } = bench;
  const { off, mask, positions, hidden, numbers, carried } = changes;
  return {
    open: bench.playground.dataset.model,
    text: bench.typedText,
    view: bench.looking,
    ...choice,
    off: [...off],
    mask,
    positions,
    hidden: [...hidden],
    rivals: picked ? rivals.map((id) => vocabulary[id]) : undefined,
    numbers,
    other: carried.length ? bench.otherText : undefined,
    carried: carried.map(({ stack, name, place, head, from }) => ({ stack, name, place, head, from })),
    ...bench.ownState,
  };
}

// What of the state there is here is set; what is not there is told, in a sentence each.
async function restoreBench(bench, given) {
  const first = checked({ ...given }, knownBy(bench));
  const turn = (bench.restoring = {});
  bench.deeds = [];
  if (first.state.text !== undefined) await bench.put(first.state.text);
  else await bench.run();
  if (first.state.view) await bench.look(first.state.view); // which steps there are is known when their scripts have come
  const { state, troubles } = checked({ ...given }, knownBy(bench));
  const carried = state.carried ? await carriedDeeds(bench, state) : [];
  if (bench.restoring !== turn) return; // another link was pressed
  bench.restoreOwn(state);
  bench.deeds = [...deedsOf(bench, state), ...carried];
  await bench.run();
  if (bench.restoring !== turn) return;
  const { stack, place, layer, part, head, key, number, step } = { ...bench.choice, ...state };
  Object.assign(bench.choice, { stack, place, layer, part, head, key, number, step });
  if (bench.traces) bench.choose({}); // a GPT without a view has none yet
  if (state.rivals) bench.pick(state.rivals.map((word) => bench.vocabulary.indexOf(word)));
  bench.tellTroubles(troubles);
  bench.restoring = undefined;
}

// Each change by itself, so that it can be taken back by itself.
function deedsOf(bench, { off = [], hidden = [], numbers = [], mask = true, positions = true }) {
  const heads = off.map((name) => {
    const [attention, head] = name.split(" ");
    const where = { ...bench.whereIs(attention), head: Number(head) };
    const stack = bench.stacks.find(({ name }) => name === where.stack);
    return { words: `${headWords(stack, where)} off`, deed: (changes) => changes.off.add(name) };
  });
  const words = hidden.map((spot) => {
    const [stack, place] = spot.split(" ");
    const isThere = () => stack === "written" || Number(place) < (bench.input?.length ?? 0); // a shorter text may lack it
    const deed = (changes) => isThere() && changes.hidden.add(spot);
    return { words: `${placeWords(bench.labels(stack)[place], Number(place))} hidden`, deed };
  });
  // A row that was set as a whole is taken back as a whole.
  const rows = Object.groupBy(numbers, ({ name, row }) => `row ${row + 1} of ${name}`);
  const weights = Object.entries(rows).map(([row, set]) => ({
    words: `${set.length > 1 ? `${set.length} numbers` : "a number"} in ${row} set by hand`,
    deed: (changes) => changes.numbers.push(...set),
  }));
  const wholes = [];
  if (!mask) wholes.push({ words: "the mask off", deed: (changes) => (changes.mask = false) });
  if (!positions) wholes.push({ words: "the positions off", deed: (changes) => (changes.positions = false) });
  return [...heads, ...wholes, ...words, ...weights];
}

// What is carried comes from a run of the other sentence.
async function carriedDeeds(bench, { other, carried }) {
  bench.otherText = other;
  const run = await bench.compute(bench.inputOfText(other));
  if (!run) return [];
  const there = carried.filter(({ stack, name, place, from = place }) => run.traces[stack]?.[name]?.[from]);
  const spots = there.map(({ stack, name, place, head, from = place }) => {
    const whole = run.traces[stack][name][from];
    const width = whole.length / bench.model.heads;
    const vector = head === undefined ? whole.slice() : whole.slice(head * width, (head + 1) * width);
    return { stack, name, place, head, from, vector };
  });
  const input = JSON.stringify(bench.input);
  return spots.map((spot) => {
    const stack = bench.stacks.find(({ name }) => name === spot.stack);
    // Only into the sentence for which it was meant: another has other places.
    const deed = (changes) => bench.given === input && changes.carried.push(spot);
    return { words: `${spotWords(stack, spot, bench.labels(spot.stack))} carried over`, deed };
  });
}
