// “Reach in”: the reader changes something inside the model and sees what becomes of one answer against another.
// Each way to change it is a tool of its own (reach_parts.js, reach_carry.js, reach_numbers.js); what is changed is
// listed, with a way back for each (reach_done.js).

// A tool that is folded until it is asked for, and drawn only while it is open.
function reachTool(tool, title, hint, ...parts) {
  const details = make("details", { className: "reach-tool" }, make("summary", { textContent: title }));
  details.append(make("p", { className: "hint", textContent: hint }), ...parts);
  details.addEventListener("toggle", () => details.open && tool.show());
  return details;
}

class ReachView {
  static title = "Reach in";

  constructor(bench) {
    this.bench = bench;
    this.odds = new ReachOdds(this);
    this.done = new ReachDone(this);
    this.carry = new ReachCarry(this);
    this.tools = [new ReachParts(this), new ReachHiding(this), this.carry, new ReachNumbers(this)];
    const tools = this.tools.map(({ element }) => element);
    this.element = make("div", { className: "reach" }, this.odds.element, this.done.element, ...tools);
    this.tools[0].element.open = true;
  }

  get changes() {
    return this.bench.model.changes;
  }

  // The stack that gives the answer, and the place in it where that is followed.
  get voice() {
    return this.bench.stacks.find(({ head }) => head);
  }

  get place() {
    const { choice, stacks, traces } = this.bench;
    const chosen = stacks[choice.stack] ?? stacks.find(({ name }) => name === choice.stack);
    const last = traces[this.voice.name][this.voice.head].length - 1;
    return chosen === this.voice && choice.place >= 0 ? Math.min(choice.place, last) : last;
  }

  // A change, after which the reader is told what has become of the answer.
  async change(mutate, words) {
    await this.bench.change(mutate, words);
    this.bench.say(`${words[0].toUpperCase()}${words.slice(1)}. ${this.odds.words}`);
  }

  show() {
    this.odds.show();
    this.done.show();
    for (const tool of this.tools) if (tool.element.open) tool.show();
  }
}

// One answer against another: as it was, now, and in the other sentence. A difference of logits is the logarithm of
// how many times likelier one is.
class ReachOdds {
  constructor(view) {
    Object.assign(this, { view, words: "" });
    this.title = make("p", { className: "reach-rivals" });
    this.rows = make("tbody");
    const heading = (words, className) => make("th", { scope: "col", className }, words);
    this.left = heading("", "bar");
    const head = make("tr", {}, make("td"), this.left, heading("logits"), heading("chances"));
    const table = make("table", { className: "reach-odds" }, make("thead", {}, head), this.rows);
    this.hint = make("p", { className: "hint" });
    this.element = make("div", {}, this.title, table, this.hint);
  }

  // Of the runs that there are: what they are called, and their logits where the answer is followed.
  runs() {
    const { bench, place, voice, carry } = this.view;
    const now = bench.traces[voice.name][voice.head][place];
    const before = bench.plainLogits[place];
    const found = [["as it was", before]];
    if (changesMade(this.view.changes, bench).length) found.push(["now", now]);
    if (carry.answer) found.push(["other sentence", carry.answer]);
    return found.filter(([, logits]) => logits);
  }

  show() {
    const { bench } = this.view;
    const rivals = bench.rivals;
    const [one, other] = rivals.map((id) => bench.vocabulary[id]);
    const runs = this.runs();
    const odds = runs.map(([, logits]) => oddsOf(logits, rivals));
    const most = Math.max(3, ...odds.map(Math.abs));
    this.title.replaceChildren(make("strong", {}, one), " against ", make("strong", {}, other), this.where());
    this.left.replaceChildren(make("span", {}, `← ${other}`), make("span", {}, `${one} →`));
    this.rows.replaceChildren(...runs.map(([name, logits], i) => this.row(name, logits, odds[i], most)));
    this.hint.textContent = this.meaning(odds.at(runs.length > 1 && runs[1][0] === "now" ? 1 : 0), one, other);
    this.words = this.inWords(runs, odds, one, other);
  }

  where() {
    const { bench, place, voice } = this.view;
    const asked = bench.labels(voice.name)[place];
    return asked === undefined ? "" : `, after ${quoted(asked)}${place ? ` (place ${place + 1})` : ""}`;
  }

  row(name, logits, odds, most) {
    const chances = softmax(logits);
    const bar = draw("rect", { x: Math.min(0, odds), y: 0.2, width: Math.abs(odds), height: 0.6 });
    const axis = draw("path", { d: "M0 0V1", "vector-effect": "non-scaling-stroke" });
    const cells = [
      make("td", { className: "bar" }, stretched(`${-most} 0 ${2 * most} 1`, {}, axis, bar)),
      make("td", {}, signedNumber(odds)),
      make("td", {}, this.view.bench.rivals.map((id) => percent(chances[id])).join(" : ")),
    ];
    return make("tr", { className: name === "now" ? "now" : "" }, make("th", { scope: "row" }, name), ...cells);
  }

  meaning(odds, one, other) {
    const times = Math.exp(Math.abs(odds));
    const many = times < 10 ? times.toFixed(1) : times < 10_000 ? Math.round(times) : "more than 10\u00a0000";
    const [likelier, than] = odds < 0 ? [other, one] : [one, other];
    return `${signedNumber(odds)} is one logit less the other: ${quoted(likelier)} is ${many} times as likely as ${quoted(than)}.`;
  }

  inWords(runs, odds, one, other) {
    const told = runs.map(([name], i) => `${name} ${signedNumber(odds[i])}`);
    return `${quoted(one)} against ${quoted(other)}: ${listed(told)}.`;
  }
}

views.reach = ReachView;
