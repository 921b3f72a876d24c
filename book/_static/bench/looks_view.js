// Looks and effects: where each head looks, what it adds to one word against another, and what becomes of that when it
// is switched off.

const MOST_LISTED = 200; // words in a list; of more only the likeliest
const MOST_OF_MANY = 24;
const ROWS = { embedding: "the last word", positions: "its place", bias: "all biases", carried: "what was carried in" };

class LooksView {

  constructor(bench) {
    this.bench = bench;
    this.road = new LooksRoad(bench, (head) => this.follow(head));
    this.lines = new AttentionView(bench);
    this.stands = make("p", { className: "stands" });
    this.legend = make("p", { className: "hint" });
    this.most = make("p");
    this.name = make("p", { className: "head-name" });
    const maps = `A square is a head: a row for each ${bench.piece} that looks, a column for each that it may look at.`;
    const press = `${maps} Press one: its lines are drawn below.`;
    const road = [this.road.element, this.most, make("p", { className: "hint" }, press)];
    const head = [this.name, this.switches(), this.lines.element, this.caution()];
    this.element = make("div", { className: "looks-view" }, this.asking(), this.stands, this.legend, ...road, ...head);
  }

  // ---- which word, and which against which ----

  asking() {
    const { bench } = this;
    const { name } = stackWithWords(bench.stacks);
    this.place = this.select(name === "written" ? "Writing word" : "After", () => {
      const { layer, part, head, stack } = bench.choice;
      const place = Number(this.place.value);
      bench.choose(stack === name ? { place } : { ...this.inWordStack({ layer, part, head }), place });
    });
    this.rivals = ["", "against"].map((label) =>
      this.select(label || "what speaks for", () => bench.pick(this.rivals.map(({ value }) => Number(value)))),
    );
    const labels = [this.place, ...this.rivals].map(({ parentElement }) => parentElement);
    return make("div", { className: "against" }, ...labels);
  }

  select(words, onchange) {
    const select = make("select", { onchange });
    make("label", {}, `${words} `, select);
    return select;
  }

  // The stack that says words has other parts.
  inWordStack({ layer, part, head }) {
    const { name, layers } = stackWithWords(this.bench.stacks);
    const there = within(layer, layers.length);
    const isAttention = layers[there].parts[part]?.kind === "attention";
    return { stack: name, layer: there, part: isAttention ? part : 0, head };
  }

  // The place whose next word is followed. A head of the side that reads has places of its own.
  get followed() {
    const { bench } = this;
    const { name, norm } = stackWithWords(bench.stacks);
    const places = bench.traces[name][norm].length;
    if (bench.choice.stack === name) this.last = bench.choice.place;
    return Math.min(this.last ?? places - 1, places - 1);
  }

  showAsking(place, logits) {
    const { bench } = this;
    const { name } = stackWithWords(bench.stacks);
    const words = bench.asked(name);
    fillSelect(this.place, words.map((word, i) => [i, `${word} (place ${i + 1})`]), place);
    const all = [...bench.vocabulary.keys()].filter((id) => isSaid(bench, id));
    const some = all.length > MOST_LISTED ? [...new Set([...bench.rivals, ...likeliest(logits, MOST_OF_MANY)])] : all;
    const named = some.map((id) => [id, bench.vocabulary[id]]);
    named.sort(([, a], [, b]) => (a < b ? -1 : 1));
    this.rivals.forEach((select, i) => fillSelect(select, named, bench.rivals[i]));
  }

  // ---- what is shown ----

  // What is to be shown, unless it was found before.
  find() {
    const { model, stacks, traces, rivals } = this.bench;
    const place = this.followed;
    if (this.forget(traces, place, ...rivals))
      this.found = {
        place,
        ...shares(model, stacks, traces, place, rivals),
        so: soFar(model, stacks, traces, place, rivals),
      };
  }

  show() {
    this.find();
    const { bench, found } = this;
    this.showAsking(found.place, bench.logits[found.place]);
    this.showRoad();
    this.stands.textContent = this.standing(found);
    this.most.textContent = this.strongest(found.shares);
    this.lines.show();
    this.showSwitches();
  }

  showRoad() {
    this.road.show(this.found);
    this.legend.textContent = this.scale(this.found);
  }

  // What was found of another run, or of other words, is of no use. Whether there was such.
  forget(...state) {
    if (this.state?.every((each, i) => each === state[i])) return false;
    Object.assign(this, { state, turn: {} });
    for (const each of this.road.heads) delete each.lost;
    this.progress.textContent = "";
    return true;
  }

  get pair() {
    return this.bench.rivals.map((id) => quoted(this.bench.vocabulary[id]));
  }

  // How the two stand, and how they stood before anything was changed.
  standing({ place, total }) {
    const { bench } = this;
    const [a, b] = this.pair;
    const now = softmax(bench.logits[place]);
    const before = bench.deeds.length && this.isSameBefore(place) ? softmax(bench.plainLogits[place]) : null;
    const chance = (id) => [...(before ? [before] : []), now].map((chances) => chanceWords(chances[id])).join(" → ");
    const chances = bench.rivals.map((id) => `${quoted(bench.vocabulary[id])} ${chance(id)}`).join(", ");
    const at = bench.chancesAre && ` ${bench.chancesAre}`;
    const gap = (logits) => logits[bench.rivals[0]] - logits[bench.rivals[1]];
    const odds = before ? `${withSign(gap(bench.plainLogits[place]))} → ${withSign(total)}` : withSign(total);
    const other = bench.deeds.length && !before ? " Other words stand before it than with everything on." : "";
    const likely = `${total < 0 ? b : a} is ${timesWords(total)} times as likely`;
    return `${chances}${at}. Logit of ${a} less logit of ${b}: ${odds}, so that ${likely}.${other}`;
  }

  // A translator that is changed may have written other words before that place.
  isSameBefore(place, result = this.bench.plainResult) {
    if (stackWithWords(this.bench.stacks).name !== "written") return true;
    return place < result.length && result.slice(0, place).every((id, i) => id === this.bench.result[i]);
  }

  scale({ total }) {
    const [a, b] = this.pair;
    const bars = `A bar to the right speaks for ${a}, to the left for ${b}, in logits (${A_LOGIT}):`;
    const sum = `the longest is ${this.road.scale.toFixed(2)}. All together come to ${withSign(total)}.`;
    return `${bars} ${sum} The word so far is what the model would say if it stopped there.`;
  }

  // Of all that has a bar.
  strongest(found) {
    const biases = found.filter(({ kind }) => kind === "bias");
    const named = found.filter((each) => !biases.includes(each)).concat({ kind: "bias", share: shareSum(biases) });
    const [a, b] = this.pair;
    const told = [1, -1].map((sign, i) => {
      const best = named.reduce((most, each) => (sign * each.share > sign * most.share ? each : most));
      if (sign * best.share < 0.005) return `Nothing speaks for ${[a, b][i]}.`;
      return `Most for ${[a, b][i]}: ${this.partWords(best)} (${withSign(best.share)}).`;
    });
    return told.join(" ");
  }

  partWords({ kind, layer, part, head }) {
    const stack = stackWithWords(this.bench.stacks);
    if (kind in ROWS) return ROWS[kind];
    return kind === "head" ? headWords(stack, { layer, part, head }) : partWords(stack, layer, part);
  }

  follow({ stack, layer, part, head }) {
    const { bench } = this;
    const { name } = stackWithWords(bench.stacks);
    const same = bench.choice.stack === stack;
    const place = same ? bench.choice.place : stack === name ? this.followed : null;
    bench.choose({ stack, layer, part, head, place });
    bench.say(this.lines.sentence.textContent);
  }

  // ---- off, and what that does ----

  switches() {
    const button = (onclick) => make("button", { type: "button", onclick });
    this.one = button(() => this.turnOff([this.bench.choice.head], (choice, stack) => headWords(stack, choice)));
    this.all = button(() => this.turnOff(this.beside, (choice, stack) => allHeadsWords(stack, choice)));
    this.measure = button(() => this.measureEffects());
    this.measure.textContent = "Switch off each in turn, and compare";
    this.progress = make("p", { className: "hint" });
    return make("div", { className: "head-switches" }, this.one, this.all, this.measure, this.progress);
  }

  get beside() {
    return [...Array(this.lines.shown.part.heads).keys()];
  }

  isOff(heads) {
    const { attention } = this.lines.shown.part;
    return heads.every((head) => this.bench.changes.off.has(`${attention} ${head}`));
  }

  async turnOff(heads, inWords) {
    const { choice } = this.bench;
    const { part, stack } = this.lines.shown;
    const on = this.isOff(heads);
    const deed = ({ off }) => heads.forEach((head) => off[on ? "delete" : "add"](`${part.attention} ${head}`));
    const words = inWords(choice, stack);
    await this.bench.change(deed, `${withCapital(words)} ${on ? "on again" : "off"}`);
    this.progress.textContent = this.stands.textContent; // where it was pressed, too
    this.bench.say(`${this.bench.status.textContent} ${this.stands.textContent}`);
  }

  showSwitches() {
    const { choice } = this.bench;
    const { stack } = this.lines.shown;
    const words = headWords(stack, choice);
    this.name.textContent = withCapital(words);
    const label = (heads, each) => `${each} ${this.isOff(heads) ? "on again" : "off"}`;
    this.one.textContent = label([choice.head], "This head");
    this.all.textContent = label(this.beside, withCapital(allHeadsWords(stack, choice)));
  }

  // One run without each head, between which the page answers. Then a second bar shows what its lack does.
  async measureEffects() {
    const { bench, road } = this;
    const turn = (this.turn = {});
    const { place, total } = this.found;
    const [a, b] = bench.rivals;
    const heads = road.heads.filter(({ button }) => !button.classList.contains("off"));
    for (const [count, each] of heads.entries()) {
      this.progress.textContent = `${count} of ${heads.length} heads are measured.`;
      const { attention } = each.stack.layers[each.layer].parts[each.part];
      const off = new Set([...bench.changes.off, `${attention} ${each.head}`]);
      const run = await bench.compute(bench.input, { ...bench.changes, off });
      if (!run || this.turn !== turn) return;
      const same = this.isSameBefore(place, run.result);
      each.lost = same ? total - (run.logits[place][a] - run.logits[place][b]) : null;
      if (Math.abs(each.lost) > road.scale) this.showRoad();
      else road.showEffect(each);
    }
    const told = "Below each head’s share stands by how much the difference of the logits";
    this.progress.textContent = `${told} rises or falls when that head is off.`;
    bench.say(this.progress.textContent);
  }

  caution() {
    const share = "A share is what a part writes straight to the end, over the last norm’s spread as it is here.";
    const rest = "Without the part that spread would be another, and later layers would read something else:";
    return make("p", { className: "hint" }, `${share} ${rest} switching it off shows all of that. Neither is a reason why.`);
  }
}

function fillSelect(select, named, chosen) {
  stays(select, named, () => named.map(([value, text]) => make("option", { value, textContent: text })));
  select.value = chosen;
}

views.looks = LooksView;
views.lines = AttentionView;
