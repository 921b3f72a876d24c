// The opened bench of a training: what a reader may change, the race, and what came of it.

const HIDDEN = 4000; // milliseconds out of sight, and it waits
const TEN = 10;
const UNKNOWN = "The address asks for";

class TrainingBench {
  constructor(box, told, runner) {
    Object.assign(this, { box, told, seed: told.stored.seed, many: false });
    this.chosen = Object.fromEntries(told.controls.map(({ name, asItIs }) => [name, told.change[name] ?? asItIs]));
    this.status = box.querySelector("[role=status]");
    this.race = new Race(told, runner, () => this.soon());
    this.build();
    this.anew();
    this.watch();
  }

  // ---- what it is made of ----

  build() {
    const { told } = this;
    const button = (words, act) => make("button", { type: "button", textContent: words, onclick: act });
    this.start = button("Start", () => this.press());
    this.stepping = button("One step", () => this.race.step());
    this.again = button("Another seed", () => this.seeds(false, this.seed + 1));
    this.ten = button("Ten seeds at once", () => this.seeds(true, this.seed));
    const length = told.longer.at(-1);
    const farther = length ? ` at the length it trains on; big dots: at its end, at length ${length}` : "";
    this.plots = [
      new Plot({ title: "Loss", first: told.stored.lanes[0].losses[0] }),
      new Plot({ title: `Right, of the ${told.answers}${farther}`, share: true }),
    ];
    this.now = make("tbody");
    this.where = make("p", { className: "so-far" });
    this.outcome = make("p", { className: "outcome" });
    this.rows = SIDES.map(() => make("div", { className: "squares" }));
    this.curves = make("div", { className: "scrolls", tabIndex: 0, role: "region", ariaLabel: "The curves as a table" });
    this.code = make("pre", { tabIndex: 0 });
    this.aboutCode = make("p");
    this.copied = make("span", { className: "hint" });
    const say = (words) => (this.status.textContent = this.copied.textContent = words);
    this.link = linkToShare("Link to these settings", () => this.address, say);
    this.trouble = make("p", { role: "alert", className: "trouble" });
    const heads = ["", "loss", "right", "gradient’s length"].map((textContent) => make("th", { scope: "col", textContent }));
    this.caption = make("caption");
    const head = make("thead", {}, make("tr", {}, ...heads));
    const table = make("table", { className: "now" }, this.caption, head, this.now);
    const reading = "A row is a place that asks; the more it looks at a place, the stronger that column is there.";
    const note = make("p", { className: "reading", textContent: reading });
    this.looks = make("div", { className: "looks" }, ...this.rows, note);
    const acts = make("div", { className: "acts" }, this.start, this.stepping, this.again, this.ten);
    this.steering = make("div", {}, this.controls(), acts);
    this.bench = make(
      ...["div", { className: "training-bench" }, this.trouble, this.steering],
      ...[this.where, make("div", { className: "plots" }, ...this.plots.map(({ element }) => element)), table],
      ...[this.outcome, this.looks, this.folded("The curves as a table", this.curves), this.inPyTorch(), make("p", {}, this.link, " ", this.copied)],
    );
    this.bench.setAttribute("role", "group");
    this.bench.ariaLabel = told.question;
    const stays = (part) => part === this.status || part.matches("details"); // what we saw
    for (const part of [...this.box.children]) if (!stays(part)) part.remove();
    this.box.prepend(this.bench);
  }

  folded(words, ...content) {
    return make("details", {}, make("summary", { textContent: words }), ...content);
  }

  inPyTorch() {
    const copy = make("button", { type: "button", textContent: "Copy" });
    copy.onclick = async () => {
      await navigator.clipboard.writeText(this.code.textContent);
      copy.textContent = "Copied";
      setTimeout(() => (copy.textContent = "Copy"), 1500);
    };
    return this.folded("The same in PyTorch", this.aboutCode, this.code, ...(navigator.clipboard ? [copy] : []));
  }

  controls() {
    const fields = this.told.controls.map(({ name, label, options, both }) => {
      const radios = options.map(([option]) => {
        const own = { type: "radio", name: `${this.told.name}-${name}`, value: option, checked: this.chosen[name] === option };
        return make("label", {}, make("input", { ...own, onchange: () => this.choose({ [name]: option }) }), ` ${option}`);
      });
      return make("fieldset", {}, make("legend", { textContent: both ? `${label} (both sides)` : label }), ...radios);
    });
    return make("form", { className: "changes", autocomplete: "off" }, ...fields);
  }

  // ---- what a reader does ----

  press() {
    if (this.race.state === "done") this.anew();
    if (this.race.state === "going") this.race.pause();
    else this.race.go();
  }

  choose(options) {
    const ran = this.race.state === "going";
    Object.assign(this.chosen, options);
    this.anew();
    if (ran) this.race.go();
  }

  seeds(many, seed) {
    Object.assign(this, { many, seed });
    this.anew();
    this.race.go();
  }

  anew() {
    this.said = false;
    this.copied.textContent = "";
    const seeds = Array.from({ length: this.many ? TEN : 1 }, (_, place) => this.seed + place);
    this.race.prepare({ ...this.chosen }, seeds);
  }

  // It waits while nobody can see it, and goes on where it was.
  watch() {
    const away = () => {
      if (this.race.state !== "going") return;
      this.race.pause();
      this.waits = true;
    };
    const back = () => {
      if (this.waits && this.race.state === "paused") this.race.go();
      this.waits = false;
    };
    document.addEventListener("visibilitychange", () => (document.hidden ? away() : back()));
    new IntersectionObserver(([{ isIntersecting }]) => {
      clearTimeout(this.leaving);
      if (isIntersecting) back();
      else this.leaving = setTimeout(away, HIDDEN);
    }).observe(this.box);
  }

  // ---- addresses ----

  get address() {
    const { controls } = this.told;
    const changed = controls.filter(({ name, asItIs }) => this.chosen[name] !== asItIs);
    if (!changed.length) changed.push(controls[0]); // a bare address leaves what the bench begins with
    const all = [["train", this.told.name], ["seed", this.seed], ...changed.map(({ name }) => [name, this.chosen[name]])];
    return `#${new URLSearchParams(all)}`;
  }

  // What an address says is set; what there is not is told.
  restore(given) {
    const troubles = [];
    const { controls } = this.told;
    const bare = !given.some(([name]) => name !== "train" && name !== "seed");
    for (const { name, asItIs } of controls) this.chosen[name] = (bare && this.told.change[name]) || asItIs;
    for (const [name, value] of given) {
      const control = controls.find((one) => one.name === name);
      if (name === "train") continue;
      if (name === "seed" && /^[1-9]\d{0,5}$/.test(value)) this.seed = Number(value);
      else if (name === "seed") troubles.push(`${UNKNOWN} seed ${quoted(value)}, and a seed is a whole number from 1 to 999999.`);
      else if (!control) troubles.push(`${UNKNOWN} ${quoted(name)}, which cannot be set here.`);
      else if (control.options.some(([option]) => option === value)) this.chosen[name] = value;
      else troubles.push(`${UNKNOWN} ${quoted(`${name}=${value}`)}; there ${listed(control.options.map(([option]) => quoted(option)))} can be chosen.`);
    }
    this.bench.querySelector("form").replaceWith(this.controls());
    this.many = false;
    this.trouble.textContent = troubles.join(" ");
    this.anew();
  }

  // ---- what there is to see ----

  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.show();
    });
  }

  show() {
    const { race, told } = this;
    const { lanes, steps, state, many } = race;
    const [one] = lanes;
    this.start.textContent = { ready: "Start", going: "Pause", paused: "Go on", done: "Once more" }[state];
    this.stepping.disabled = state === "done";
    const { limit = told.limit, chance = told.stored.chance } = one.known ?? {};
    const marks = [
      { value: limit, words: `dotted: ${nats(limit)}, the least on average` },
      { value: chance, words: `dotted: ${percent(chance)}, ${told.guess}` },
    ];
    const dots = lanes.flatMap(({ side, tried }) =>
      tried.filter(({ length }) => length === told.longer.at(-1)).map(({ right }) => ({ side: SIDES.indexOf(side), value: right })),
    );
    for (const [place, what] of ["losses", "rights"].entries()) {
      const lines = lanes.map((lane) => ({ side: SIDES.indexOf(lane.side), points: meansOf(lane[what], told.every) }));
      this.plots[place].draw(lines, steps, marks[place], many, place ? dots : []);
    }
    const step = Math.max(...lanes.map((lane) => lane.step));
    const from = many ? `Seeds ${one.seed} to ${lanes.at(-1).seed}` : `Seed ${one.seed}`;
    const took = race.seconds >= 0.1 ? `, ${race.seconds.toFixed(1)} s` : "";
    const left = race.left >= 1 ? `, about ${Math.round(race.left)} s to go` : "";
    this.where.textContent = `${from}: step ${step} of ${steps}${took}${left}`;
    if (state === "done" && !many) this.ten.textContent = `Ten seeds at once, up to ${Math.ceil(TEN * race.seconds)} s`;
    this.sides = sidesInWords(told, this.chosen);
    this.caption.textContent = captionOf(told.every, many, one.seed);
    this.now.replaceChildren(...SIDES.map((_, place) => this.row(place)));
    this.sides.forEach((side, place) => {
      const squares = squaresOf(lanes[place].squares);
      const seed = many ? `, from seed ${one.seed}` : "";
      const textContent = `Where ${squares.length > 1 ? "each head" : "its head"} looks: ${side}${seed}`;
      this.rows[place].replaceChildren(make("p", { textContent }), make("div", {}, ...squares));
    });
    this.looks.hidden = !one.squares?.length && !lanes[1].squares?.length;
    this.link.href = this.address; // for who opens it elsewhere
    this.code.textContent = cellOf(told, this.chosen, this.seed);
    this.aboutCode.textContent = aboutCell(told.every, this.sides[1], this.seed, many);
    this.tell(state);
  }

  row(place) {
    const lanes = this.race.lanes.filter(({ side }) => side === SIDES[place]);
    const last = (what) => lanes.flatMap((lane) => (lane[what].length ? [mean(lane[what].slice(-this.told.every))] : []));
    const say = (what, words) => (last(what).length ? words(mean(last(what))) : "–");
    const key = make("i", { className: `key-${place}`, ariaHidden: "true" });
    const head = make("th", { scope: "row" }, key, this.sides[place]);
    const cells = [["losses", nats], ["rights", percent], ["norms", nats]].map(([what, words]) => make("td", { textContent: say(what, words) }));
    return make("tr", {}, head, ...cells);
  }

  // At the end, once.
  tell(state) {
    const bursts = this.race.lanes.filter(({ burst }) => burst);
    const burst = bursts.map((lane) => burstInWords(lane, this.sides, this.race.many)).join(" ");
    const words = state === "done" ? outcomeOf(this.race, this.sides) : burst;
    this.outcome.textContent = words;
    if (state === "done" && !this.said) {
      this.said = true;
      this.status.textContent = words;
      this.curves.replaceChildren(tableOf(this.race, this.sides));
    } else if (state !== "done") {
      this.status.textContent = "";
      this.curves.replaceChildren(make("p", { textContent: "It stands here when the training has come to its end." }));
    }
  }
}
