// “Reach in”: the reader changes something inside the model and sees what becomes of one answer against another. Each
// way to change it is a tool of its own: reach_parts.js, reach_carry.js, reach_numbers.js. What was changed is listed
// by the bench, with a way back for each.

// A tool that is folded until it is asked for, and drawn only while it is open.
function reachTool(tool, title, hint, ...parts) {
  const details = make("details", { className: "reach-tool" }, make("summary", { textContent: title }));
  details.append(make("p", { className: "hint", textContent: hint }), ...parts);
  details.addEventListener("toggle", () => details.open && tool.show());
  return details;
}

function reachSelect(label, onchange) {
  const select = make("select", { ariaLabel: label });
  select.onchange = () => onchange(Number(select.value));
  return select;
}

class ReachView {

  constructor(bench) {
    this.bench = bench;
    this.odds = new ReachOdds(this);
    this.carry = new ReachCarry(this);
    this.tools = [new ReachParts(this), new ReachHiding(this), this.carry, new ReachNumbers(this)];
    this.element = make("div", { className: "reach" }, ...this.odds.elements, ...this.tools.map(({ element }) => element));
  }

  // The stack that gives the answer, and the place in it where that is followed.
  get voice() {
    return this.bench.stacks.at(-1);
  }

  get place() {
    const { choice, plainLogits } = this.bench;
    const last = plainLogits.length - 1;
    return choice.stack === this.voice.name ? Math.min(choice.place, last) : last;
  }

  // A change, after which the reader is told what has become of the answer.
  async change(deed, words, key) {
    const told = this.bench.status.textContent;
    await this.bench.change(deed, words, key);
    const answer = this.bench.status.textContent;
    this.bench.say(`${asSentence(words)} ${this.odds.words}${answer === told ? "" : ` ${answer}`}`);
  }

  show() {
    this.openUsed();
    this.odds.show();
    for (const tool of this.tools) if (tool.element.open) tool.show();
  }

  // What an address has changed is in sight, in the tool that does it; otherwise the first tool is.
  openUsed() {
    const { deeds, changes } = this.bench;
    const isFirst = !this.deeds;
    if (deeds === this.deeds) return;
    this.deeds = deeds;
    const used = this.tools.filter((tool) => tool.inUse(changes));
    for (const { element } of used.length || !isFirst ? used : this.tools.slice(0, 1)) element.open = true;
  }
}

const RIVALS_OFFERED = 10;

// One answer against another: as it was, now, and in the other sentence. A difference of logits is the logarithm of
// how many times likelier one is.
class ReachOdds {
  constructor(view) {
    Object.assign(this, { view, words: "" });
    const { bench } = view;
    this.rivals = [0, 1].map((which) =>
      reachSelect(which ? "against this word" : "this word", (id) => bench.pick(bench.rivals.with(which, id))),
    );
    this.place = reachSelect("where it is followed", (place) => bench.choose({ stack: view.voice.name, place }));
    const [one, other] = this.rivals;
    const where = view.voice.name === "written" ? " writing " : " after ";
    const title = make("p", { className: "reach-rivals" }, one, " against ", other, where, this.place);
    this.rows = make("tbody");
    this.sides = make("th", { scope: "col", className: "bar" });
    const heading = (words) => make("th", { scope: "col" }, words);
    const head = make("tr", {}, make("td"), this.sides, heading("logits"), heading("chances"));
    const table = make("table", { className: "reach-odds" }, make("thead", {}, head), this.rows);
    this.hint = make("p", { className: "hint" });
    this.outcome = make("p", { className: "reach-outcome", ariaHidden: "true" }); // it is told above, too
    this.elements = [title, make("div", { className: "reach-stuck" }, this.outcome, table), this.hint];
  }

  // Of the runs that there are, what they are called, and their logits where the answer is followed.
  runs() {
    const { bench, place, carry } = this.view;
    const found = [["as it was", bench.plainLogits[place]]];
    if (bench.done.length) found.push(["now", bench.logits[place]]);
    if (carry.answer) found.push(["other sentence", carry.answer]);
    return found.filter(([, logits]) => logits);
  }

  show() {
    const { bench, voice, place } = this.view;
    const runs = this.runs();
    this.offer(runs.map(([, logits]) => logits));
    fillSelect(this.place, bench.asked(voice.name).map((word, place) => [place, `${word} (place ${place + 1})`]), place);
    const [one, other] = bench.rivals.map((id) => bench.vocabulary[id]);
    const odds = runs.map(([, logits]) => oddsOf(logits, bench.rivals));
    const most = Math.max(3, ...odds.map(Math.abs));
    this.sides.replaceChildren(make("span", {}, `← ${other}`), make("span", {}, `${one} →`));
    this.rows.replaceChildren(...runs.map(([name, logits], i) => this.row(name, logits, odds[i], most)));
    this.outcome.textContent = bench.outcomeInWords ?? "";
    const latest = runs.findIndex(([name]) => name === "now");
    this.hint.textContent = this.meaning(odds[Math.max(0, latest)], one, other);
    const told = runs.map(([name], i) => `${name} ${withSign(odds[i], 1)}`);
    this.words = `${quoted(one)} against ${quoted(other)}: ${listed(told)}.`;
    if (bench.done.length && latest < 0) this.words += " Now nothing is written at this place.";
  }

  // Those that are likely in one of the runs can be chosen, and those that are chosen.
  offer(logits) {
    const { bench } = this.view;
    const ids = new Set([...bench.rivals, ...logits.flatMap((each) => likeliest(each, RIVALS_OFFERED))]);
    const options = [...ids].filter((id) => isSaid(bench, id)).sort((a, b) => a - b).map((id) => [id, bench.vocabulary[id]]);
    this.rivals.forEach((select, which) => fillSelect(select, options, bench.rivals[which]));
  }

  row(name, logits, odds, most) {
    const chances = softmax(logits);
    const bar = draw("rect", { x: Math.min(0, odds), y: 0.2, width: Math.abs(odds), height: 0.6 });
    const axis = draw("path", { d: "M0 0V1", "vector-effect": "non-scaling-stroke" });
    const cells = [
      make("td", { className: "bar" }, stretched(`${-most} 0 ${2 * most} 1`, {}, axis, bar)),
      make("td", {}, withSign(odds, 1)),
      make("td", {}, this.view.bench.rivals.map((id) => chanceWords(chances[id])).join(" : ")),
    ];
    return make("tr", { className: name === "now" ? "now" : "" }, make("th", { scope: "row" }, name), ...cells);
  }

  meaning(odds, one, other) {
    const [likelier, than] = odds < 0 ? [other, one] : [one, other];
    return `${withSign(odds, 1)} is one logit less the other (${A_LOGIT}): ${quoted(likelier)} is ${timesWords(odds)} times as likely as ${quoted(than)}.`;
  }
}

views.reach = ReachView;
