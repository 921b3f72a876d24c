// What a bench shows, as the end of an address, and back: `#open=translator&text=the+cat+sleeps&layer=1&head=2`.
// It is what a reader shares, and what a link in the text sets. Only what differs from the usual stands in it.
//
// Layers, parts, heads, places and numbers count from 0, as in PyTorch's names, which stand there, too. Lists have
// commas, and what belongs together colons: `off=layers.0.self_attention:2,layers.1.self_attention:0`.

const { addressOf, stateOf, checked } = (() => {
  const LONGEST_TEXT = 1000; // letters of each sentence
  const MOST_LISTED = 200; // entries of each list
  const LARGEST = 1000; // what a weight may be set to

  const INDICES = ["place", "layer", "part", "head", "key", "number"];
  // How each field is written: as text, as a number, as what is on unless it is said to be off, as words, as pairs of
  // a name and a number ("text 3", as in the model's changes), or as things with these parts, in this order: numbers
  // after a "#", and with a "?" what may be missing.
  const FIELDS = {
    open: "text",
    text: "text",
    view: "text",
    stack: "text",
    step: "text",
    ...Object.fromEntries(INDICES.map((name) => [name, "number"])),
    off: "pairs",
    mask: "switch",
    positions: "switch",
    hidden: "pairs",
    rivals: "words",
    numbers: ["name", "#row", "#column?", "#value"],
    other: "text", // the second sentence, from which vectors are carried
    carried: ["stack", "name", "#place", "#head?", "#from?"],
    temperature: "number",
    seed: "number",
  };

  // ---- a state as an address ----

  // What is not a letter, a digit or one of -_.!~*'() is escaped; spaces are the plus that they are in searches.
  // Half a letter, of those that are stored as two, can't be escaped.
  function escaped(value) {
    const whole = String(value).replace(/\p{Surrogate}/gu, "\ufffd");
    return encodeURIComponent(whole).replace(/[()'*]/g, percentOf).replace(/%20/g, "+");
  }
  const percentOf = (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;

  // What is as `usual` is left out.
  function addressOf(state, usual = {}) {
    const parts = [];
    for (const [name, kind] of Object.entries(FIELDS)) {
      const is = written(state[name], kind);
      const differs = is !== (written(usual[name], kind) ?? "");
      if (name === "open" || (is !== undefined && differs)) parts.push(`${name}=${is}`);
    }
    return `#${parts.join("&")}`;
  }

  function written(value, kind) {
    if (kind === "switch") return value === false ? "off" : "on";
    if (value === undefined || value === null) return undefined;
    if (kind === "text" || kind === "number") return escaped(value);
    return [...value].map((entry) => entryOf(entry, kind)).join(",");
  }

  function entryOf(entry, kind) {
    if (kind === "words") return escaped(entry);
    if (kind === "pairs") return entry.split(" ").map(escaped).join(":");
    return kind.map((part) => escaped(entry[nameOf(part)] ?? "")).join(":").replace(/:+$/, "");
  }

  const nameOf = (part) => part.replace(/[#?]/g, "");

  // ---- an address as a state ----

  const isState = (fragment) => /^#?open=/.test(fragment);

  // Nothing where the address sets no state. What can't be read is left as it came, for `checked` to tell of it.
  function stateOf(fragment) {
    if (!isState(fragment)) return null;
    const state = { unknown: [] };
    for (const part of fragment.replace(/^#/, "").split("&").filter(Boolean)) {
      const [name, ...rest] = part.split("=");
      if (Object.hasOwn(FIELDS, name)) state[name] = readAs(rest.join("="), FIELDS[name]);
      else state.unknown.push(plain(name));
    }
    return state;
  }

  // A percent sign that escapes nothing stays what it is.
  function plain(value) {
    const spaced = value.replace(/\+/g, " ");
    try {
      return decodeURIComponent(spaced);
    } catch {
      return spaced;
    }
  }

  function readAs(value, kind) {
    if (kind === "switch") return value === "on" || (value === "off" ? false : plain(value));
    if (kind === "number") return numberOf(value);
    if (kind === "text") return plain(value);
    return value.split(",").filter(Boolean).slice(0, MOST_LISTED).map((entry) => entryAs(entry, kind));
  }

  const numberOf = (value) => (/^-?\d+(\.\d+)?(e-?\d+)?$/i.test(value) ? Number(value) : plain(value));

  // What is empty is left out, as is the column of a number in a vector: `final.norm.bias:3::0.5`.
  function entryAs(entry, kind) {
    const values = entry.split(":");
    if (kind === "words") return plain(entry);
    if (kind === "pairs") return values.map(plain).join(" ");
    const parts = kind.map((part, place) => [part, values[place] ?? ""]).filter(([, value]) => value);
    const read = ([part, value]) => [nameOf(part), part[0] === "#" ? numberOf(value) : plain(value)];
    return Object.fromEntries(parts.map(read));
  }

  // ---- what of it there is ----

  // The state without what the bench does not know, and a sentence for each thing that was left out.
  // known = { views: ["steps"], steps: ["0.1.mix"], stacks: { text: { layers: 2, heads: 4, parts: 2, places: 9 } }, words: ["see"],
  // attentions: ["layers.0.self_attention"], tensors: { "layers.0.after": 64 }, weights: { "head.weight": [83, 64] } }:
  // tensors are those of a trace with their widths, weights the model's with their shapes. What `known` has not
  // (places, before the text is read) is not checked.
  function checked(state, known) {
    const troubles = [];
    const found = { open: state.open };
    const keep = (name, fault) => {
      if (state[name] === undefined) return;
      const trouble = fault(state[name]);
      if (trouble) troubles.push(trouble);
      else found[name] = state[name];
    };
    const keepAll = (name, fault) => {
      const faults = (state[name] ?? []).map((entry) => fault(entry));
      troubles.push(...new Set(faults.filter(Boolean)));
      const whole = (state[name] ?? []).filter((_, place) => !faults[place]);
      if (whole.length) found[name] = whole;
    };

    for (const name of state.unknown ?? []) troubles.push(`An address can’t set ${named(name)}.`);
    for (const name of ["text", "other"]) if (state[name] !== undefined) found[name] = cut(state[name], troubles);
    keep("view", (view) => notAmong(view, known.views, "view"));
    keep("stack", (stack) => notAmong(stack, Object.keys(known.stacks), "stack"));
    keep("step", (step) => notAmong(step, known.steps, "step"));
    const stack = known.stacks[found.stack ?? Object.keys(known.stacks)[0]];
    const { places, layers, parts, heads } = stack;
    const counts = { place: places, layer: layers, part: parts, head: heads, key: places };
    for (const name of INDICES) keep(name, (index) => notBelow(index, counts[name], name));
    for (const name of ["mask", "positions"])
      keep(name, (is) => (typeof is === "boolean" ? "" : `“${name}” is on or off, and not ${named(is)}.`));
    keep("temperature", (number) => notBetween(number, 0.05, 5, "temperature"));
    keep("seed", (number) => notBetween(isIndex(number) ? number : NaN, 0, 999999, "seed"));
    keepAll("off", (entry) => notAHead(entry, known));
    keepAll("hidden", (entry) => notAPlace(...twoOf(entry), known.stacks));
    keepAll("rivals", (word) => notAmong(word, known.words, "word"));
    if (found.rivals?.length !== 2) delete found.rivals; // one alone has no rival
    keepAll("numbers", (entry) => notAWeight(entry, known));
    keepAll("carried", (entry) => notATensor(entry, known));
    if (found.carried && !found.other) {
      troubles.push("What is carried needs a second sentence, and the address has none.");
      delete found.carried;
    }
    return { state: found, troubles };
  }

  const MOST_NAMED = 30; // letters of what was not found
  function named(given) {
    const words = String(given);
    return `“${words.slice(0, MOST_NAMED)}${words.length > MOST_NAMED ? "…" : ""}”`;
  }

  function cut(text, troubles) {
    if (text.length > LONGEST_TEXT) troubles.push(`Of the text, only the first ${LONGEST_TEXT} letters are read.`);
    return text.slice(0, LONGEST_TEXT);
  }

  const isIndex = (index) => Number.isInteger(index) && index >= 0;
  const notAmong = (word, words, what) =>
    !words || words.includes(word) ? "" : `There is no ${what} ${named(word ?? "")} here.`;

  function notBelow(index, count, what) {
    if (isIndex(index) && (count === undefined || index < count)) return "";
    const there = count === undefined ? "they count from 0" : `they are 0 to ${count - 1}`;
    return `There is no ${what} ${named(index ?? "")} here: in an address ${there}.`;
  }

  const notBetween = (number, least, most, what) =>
    number >= least && number <= most ? "" : `The ${what} is a number from ${least} to ${most}.`;

  const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

  // A name and a number: "text 3".
  function twoOf(pair) {
    const [name, number = ""] = pair.split(/ (?=\S*$)/);
    return [name, numberOf(number)];
  }

  function notAHead(pair, { attentions, stacks }) {
    const [attention, head] = twoOf(pair);
    const heads = Math.max(...Object.values(stacks).map((stack) => stack.heads));
    return notAmong(attention, attentions, "attention") || notBelow(head, heads, "head");
  }

  function notAPlace(stack, place, stacks) {
    return notAmong(stack, Object.keys(stacks), "stack") || notBelow(place, own(stacks, stack).places, "place");
  }

  function notAWeight({ name, row, column, value }, { weights }) {
    const shape = own(weights, name);
    if (weights && !shape) return notAmong(name, [], "weight");
    const fits = typeof value === "number" && Math.abs(value) <= LARGEST;
    if (!fits) return `${named(name)} can’t be set to ${named(value ?? "")}.`;
    if (shape?.length === 1 && column !== undefined) return `${named(name)} has no columns.`;
    const ofMatrix = column !== undefined || shape?.length > 1;
    return notBelow(row, shape?.[0], "row") || (ofMatrix ? notBelow(column, shape?.[1], "column") : "");
  }

  function notATensor({ stack, name, place, head, from }, { stacks, tensors }) {
    const trouble = notAPlace(stack, place, stacks);
    if (trouble) return trouble;
    if (tensors && !Object.hasOwn(tensors, name)) return notAmong(name, [], "vector");
    const ofHead = head === undefined ? "" : notBelow(head, own(stacks, stack).heads, "head");
    return ofHead || (from === undefined ? "" : notBelow(from, undefined, "place"));
  }

  return { addressOf, stateOf, checked };
})();
