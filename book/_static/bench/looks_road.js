// The road that a word takes through a model, from top to bottom as it computes: heads as small squares, networks as
// boxes, on each what it adds to one word against another, and beside them the word so far.

const MOST_SQUARES = 24; // to a side of a small picture; of a longer text several words share one
const STRENGTHS = [0.1, 0.3, 0.5, 0.7, 0.9];

class LooksRoad {
  constructor(bench, press) {
    Object.assign(this, { bench, press, heads: [], boxes: [], sos: [], whats: [] });
    const rows = bench.stacks.flatMap((stack) => this.rowsOf(stack));
    const titles = ["", "what each adds", "the word so far"].map((title) => make("span", {}, title));
    const heading = make("div", { className: "road-titles", ariaHidden: "true" }, ...titles);
    this.element = make("div", { className: "road" }, heading, make("ol", {}, ...rows));
  }

  // ---- what there is, made once ----

  rowsOf(stack) {
    const before = stack.head ? ["embedding", "positions"] : [];
    const first = before.map((kind) => this.row(kind, [this.box(kind)], "", true));
    const rows = ({ parts }, layer) => parts.map((part, number) => this.partRow(stack, layer, number, part));
    const layered = stack.layers.flatMap(rows);
    if (!stack.head) return layered.filter(Boolean); // the side that says no words: its heads
    const last = this.row("always", [this.box("bias"), this.box("carried")], "whatever is read", false);
    return [...first, ...layered, last];
  }

  partRow(stack, layer, number, part) {
    const says = Boolean(stack.head);
    const title = `layer ${layer + 1}`;
    if (part.kind === "network" && !says) return undefined;
    if (part.kind === "network") return this.row(title, [this.box("network", layer, number)], "network", true);
    const heads = Array.from({ length: part.heads }, (_, head) => this.head(stack, layer, number, head));
    return this.row(title, heads, lookingWords(stack, part), says);
  }

  // says: whether the word so far stands behind it.
  row(title, parts, does, says) {
    const words = { embedding: "the last word", positions: "its place", always: "at the end" }[title] ?? title;
    const [what, so] = [make("span", { translate: false }, does), make("span", { className: says ? "so" : "no-so" })];
    const said = make("span", { className: "unseen" }, "The word so far: ");
    if (says) so.append(said, make("strong", { translate: false }), make("small"));
    if (says) Object.assign(this, { sos: [...this.sos, so], whats: [...this.whats, what] });
    else if (title !== "always") so.textContent = "adds to no word itself";
    const name = make("span", { className: "where" }, make("b", {}, words), " ", what);
    return make("li", {}, name, make("div", { className: "adds" }, ...parts), so);
  }

  // A square for each weight, and beside it what the head adds.
  head(stack, layer, part, head) {
    const [map, adds, effect] = [make("span", { className: "map" }), numberWithBar("adding"), numberWithBar("losing")];
    const button = make("button", { type: "button" }, map, make("span", {}, adds.element, effect.element));
    button.onclick = () => this.press({ stack: stack.name, layer, part, head });
    this.heads.push({ button, map, adds, effect, stack, layer, part, head });
    return button;
  }

  box(kind, layer, part) {
    const name = { bias: "all biases", carried: "carried in" }[kind];
    const adds = numberWithBar("adding");
    const box = make("span", { className: "box" });
    if (name) box.append(make("span", { className: "name" }, name));
    box.append(adds.element);
    this.boxes.push({ box, adds, kind, layer, part });
    return box;
  }

  // ---- what it is now ----

  // Of the place that is followed: all shares, and the words so far.
  show({ place, shares, so }) {
    const drawn = [...shares.map(({ share }) => share), ...this.heads.map(({ lost }) => lost ?? 0)];
    this.scale = Math.max(...drawn.map(Math.abs));
    this.showMaps();
    for (const each of this.heads) this.showHead(each, shares);
    for (const each of this.boxes) this.showBox(each, shares);
    const { name } = stackWithWords(this.bench.stacks);
    this.whats[0].textContent = quoted(this.bench.labels(name)[place]);
    this.whats[1].textContent = place + 1;
    this.showWords(so);
  }

  showHead(each, shares) {
    const { button, adds, stack, layer, part, head } = each;
    const { choice, changes } = this.bench;
    const attention = stack.layers[layer].parts[part];
    const off = changes.off.has(`${attention.attention} ${head}`);
    const own = (found) => found.kind === "head" && found.layer === layer && found.part === part && found.head === head;
    const share = stack.head ? shares.find(own).share : null;
    adds.set(off ? "off" : share === null ? "" : withSign(share), off ? null : share, this.scale);
    const said = off ? "off" : share === null ? "" : `adds ${withSign(share)}`;
    const chosen = choice.stack === stack.name && own({ kind: "head", ...choice });
    button.classList.toggle("off", off);
    button.ariaPressed = chosen;
    button.ariaLabel = [headWords(stack, { layer, part, head }), said].filter(Boolean).join(", ");
    this.showEffect(each);
  }

  showBox({ box, adds, kind, layer, part }, shares) {
    const here = (each) => layer === undefined || (each.layer === layer && each.part === part);
    const own = shares.filter((each) => each.kind === kind && here(each));
    box.hidden = kind === "carried" && !own.length;
    adds.set(withSign(shareSum(own)), shareSum(own), this.scale);
  }

  // What the difference of the logits loses or gains when the head is switched off, if that was measured.
  showEffect({ effect, button, lost }) {
    const told = lost === undefined ? "" : lost === null ? "off: it writes other words" : `off ${withSign(-lost)}`;
    effect.set(told, typeof lost === "number" ? -lost : null, this.scale);
    if (told) button.ariaLabel += `, ${told}`;
  }

  showWords(so) {
    const { vocabulary, rivals } = this.bench;
    for (const [station, { chances }] of so.entries()) {
      const [best] = likeliest(chances, 1);
      const [, word, both] = this.sos[station].children;
      word.textContent = `${vocabulary[best]} ${percent(chances[best])}`;
      both.textContent = rivals.map((id) => `${vocabulary[id]} ${chanceWords(chances[id])}`).join(", ");
    }
  }

  // The pictures stay as long as the run does.
  showMaps() {
    const { traces } = this.bench;
    if (this.drawn === traces) return;
    this.drawn = traces;
    for (const { map, stack, layer, part, head } of this.heads)
      map.replaceChildren(smallPicture(traces[stack.name][stack.layers[layer].parts[part].weights][head]));
  }
}

// A number and below it its bar, to be set.
function numberWithBar(className) {
  const [text, bar] = [make("span"), signedBar()];
  const set = (words, number, largest) => {
    text.textContent = words;
    bar.classList.toggle("none", number === null);
    if (number !== null) setBar(bar, number, largest);
  };
  return { element: make("span", { className }, text, bar), set };
}

// A row for each word that looks, a column for each that it may look at, in five strengths.
function smallPicture(weights) {
  const step = Math.ceil(Math.max(weights.length, weights[0].length) / MOST_SQUARES);
  const [rows, columns] = [Math.ceil(weights.length / step), Math.ceil(weights[0].length / step)];
  const most = new Float32Array(rows * columns);
  for (const [i, row] of weights.entries())
    for (let j = 0; j < row.length; j++) {
      const square = Math.floor(i / step) * columns + Math.floor(j / step);
      if (row[j] > most[square]) most[square] = row[j];
    }
  const paths = STRENGTHS.map(() => "");
  for (const [square, weight] of most.entries())
    if (weight > 0.03)
      paths[Math.min(4, Math.floor(5 * weight))] += `M${square % columns} ${Math.floor(square / columns)}h1v1h-1z`;
  const squares = paths.map((d, strength) => draw("path", { d, "fill-opacity": STRENGTHS[strength] }));
  return stretched(`0 0 ${columns} ${rows}`, {}, ...squares);
}
