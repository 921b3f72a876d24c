// What each kind of model is made of, in the order in which it computes, by the names in its trace. With it the views
// of a bench need not know which model they show.
//
// A model is a list of stacks: sequences of places that go up through layers. Each layer has parts that read the
// stream through a norm and add to it: attention, which looks at places, and networks, which look at one place alone.

const ANATOMIES = {
  Transformer: ({ layers }) => [
    stack("read", "encoder", layers, ["self_attention", "feed_forward"], { embedding: "read", norm: "encoder_norm" }),
    stack("written", "decoder", layers, ["self_attention", "cross_attention", "feed_forward"], {
      embedding: "written",
      norm: "decoder_norm",
      head: "word",
    }),
  ],
  LanguageModel: ({ layers }) => [
    stack("text", "layers", layers, ["self_attention", "feed_forward"], { embedding: "embedding", norm: "norm", head: "word" }),
  ],
  GPT: ({ layers }) => [
    {
      name: "text",
      embedding: "pieces",
      positions: "positions",
      layers: counting(layers, (layer) => gptLayer(`blocks.${layer}`)),
      norm: "norm",
      head: "logits",
    },
  ],
};

// `anatomy(model)` has its stacks: the one that reads comes before the one that writes.
function anatomy(model) {
  const stacks = ANATOMIES[model.constructor.name](model);
  for (const { layers } of stacks)
    for (const part of layers.flatMap(({ parts }) => parts)) if (part.kind === "attention") part.heads = model.heads;
  return stacks;
}

const counting = (count, each) => Array.from({ length: count }, (_, number) => each(number));

function stack(name, layers, count, parts, more) {
  const layer = (number) => {
    const layer = `${layers}.${number}`;
    return { name: layer, parts: parts.map((part) => (part === "feed_forward" ? network(layer) : attention(layer, part, name))) };
  };
  return { name, positions: "positions", layers: counting(count, layer), head: null, ...more };
}

function attention(layer, part, stack) {
  const name = `${layer}.${part}`;
  const cross = part === "cross_attention";
  const around = `${layer}.around_${part}`;
  return looking(name, cross, cross ? "read" : stack, {
    norm: `${around}.norm`,
    after: around,
    output: `${name}.out_proj`,
    projection: { rows: `${name}.in_proj_weight`, biases: `${name}.in_proj_bias` },
  });
}

function network(layer) {
  const around = `${layer}.around_feed_forward`;
  const [widen, narrow] = [`${layer}.feed_forward.widen`, `${layer}.feed_forward.narrow`];
  return { kind: "network", name: `${layer}.feed_forward`, norm: `${around}.norm`, widen, narrow, after: around, activation: "relu" };
}

function gptLayer(name) {
  const projection = { rows: `${name}.attention.project.weight`, biases: `${name}.attention.project.bias` };
  const [norm, after, output] = [`${name}.before_attention`, `${name}.after_attention`, `${name}.attention.write`];
  const [widen, narrow] = [`${name}.widen`, `${name}.narrow`];
  const parts = [
    looking(`${name}.attention`, false, "text", { norm, after, output, projection }),
    { kind: "network", name: `${name}.network`, norm: `${name}.before_network`, widen, narrow, after: name, activation: "gelu" },
  ];
  return { name, parts };
}

// An attention: where its places look (`memory`), and what it notes. Its three projections lie in one matrix, one
// below the other: queries, keys, values.
function looking(name, cross, memory, more) {
  const noted = Object.fromEntries(["queries", "keys", "values", "weights", "mixed"].map((part) => [part, `${name}.${part}`]));
  return { kind: "attention", attention: name, name, cross, memory, ...noted, ...more };
}

// The rows of one of the three projections, and their biases.
function projection(model, part, which) {
  const all = model.weights[part.projection.rows];
  const width = all.length / 3;
  const start = ["queries", "keys", "values"].indexOf(which) * width;
  const [rows, biases] = [all, model.weights[part.projection.biases]].map((each) => each.slice(start, start + width));
  return { rows, biases, start };
}
