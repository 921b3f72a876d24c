// Two trainings from one seed, as it is and with a change, or as many pairs as there are seeds: what they have come
// to. Computing may be quicker than eyes: what is told comes out round by round, at a pace that can be followed.

const PACE = 60; // milliseconds between two rounds that are shown
const SIDES = ["as it is", "with your change"]; // on the page sidesInWords (words.js) has names for them

// Of a part's settings only those that change are said.
function laidOver(settings, change) {
  return Object.fromEntries(Object.entries(settings).map(([part, own]) => [part, { ...own, ...change[part] }]));
}

class Race {
  constructor(told, runner, changed) {
    Object.assign(this, { told, runner, changed, queue: [], lanes: [], state: "ready" });
    runner.hear = (said) => this.hear(said);
  }

  // `chosen` has an option for each control; a side that is as it is follows only those that change both.
  settings(side, chosen) {
    return this.told.controls.reduce((settings, { name, options, asItIs, both }) => {
      const option = side === SIDES[1] || both ? chosen[name] : asItIs;
      return laidOver(settings, options.find(([known]) => known === option)[1]);
    }, this.told.settings);
  }

  // Everything at its beginning.
  prepare(chosen, seeds) {
    this.runner.stop();
    clearTimeout(this.timer);
    Object.assign(this, { queue: [], state: "ready", timer: null, spent: 0, many: seeds.length > 1 });
    this.lanes = seeds.flatMap((seed) =>
      SIDES.map((side) => ({
        ...{ side, seed, settings: this.settings(side, chosen), known: null, step: 0, state: "training" },
        ...{ losses: [], rights: [], norms: [], squares: null, tried: [], burst: null },
      })),
    );
    this.changed();
  }

  get steps() {
    return this.told.settings.training.steps;
  }

  // ---- what a reader does ----

  begin() {
    if (this.runner.given) return;
    const lanes = this.lanes.map(({ side, seed, settings }) => ({ name: side, seed, settings }));
    this.runner.start({ lanes, every: this.told.every, lengths: this.told.longer });
  }

  go() {
    if (this.state === "done") return;
    this.begin();
    this.state = "going";
    this.since = performance.now();
    this.runner.go();
    this.wait();
    this.changed();
  }

  pause() {
    if (this.state !== "going") return;
    this.runner.pause();
    this.spent += performance.now() - this.since;
    clearTimeout(this.timer);
    this.timer = null;
    this.state = "paused";
    this.changed();
  }

  // What was computed and not yet shown comes first.
  step() {
    if (this.state === "done") return;
    this.pause();
    this.begin();
    this.state = "paused";
    if (!this.queue.length) this.runner.step();
    this.single = true;
    this.show();
  }

  get seconds() {
    return (this.spent + (this.state === "going" ? performance.now() - this.since : 0)) / 1000;
  }

  // How many seconds it will still take, as soon as that can be told.
  get left() {
    const share = mean(this.lanes.map(({ step, state }) => (state === "exploded" ? 1 : step / this.steps)));
    return this.state === "going" && share >= 0.05 ? this.seconds * (1 / share - 1) : undefined;
  }

  // ---- what is told ----

  hear(said) {
    this.queue.push(said);
    if (this.state === "going") this.wait();
    else if (this.single) this.show();
  }

  wait() {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.show();
      if (this.queue.length && this.state === "going") this.wait();
    }, this.many ? 2 * PACE : PACE);
  }

  // All of one round, up to the last lane's report; of many pairs all that there is.
  show() {
    while (this.queue.length) {
      const said = this.queue.shift();
      this.take(said);
      const ends = said.kind === "report" && said.step > 0 && said.lane === this.lastLane && !this.many;
      if (ends) {
        this.single = false;
        if (this.queue[0]?.kind !== "tried" && this.queue[0]?.kind !== "done") break;
      }
    }
    this.changed();
  }

  get lastLane() {
    return this.lanes.findLastIndex(({ state }) => state !== "exploded");
  }

  take(said) {
    const lane = this.lanes[said.lane];
    if (said.kind === "begun") said.lanes.forEach((known, place) => (this.lanes[place].known = known));
    if (said.kind === "report") {
      for (const what of ["losses", "rights", "norms"]) lane[what].push(...said[what]);
      Object.assign(lane, { step: said.step, state: said.state, squares: said.squares });
    }
    if (said.kind === "exploded") Object.assign(lane, { state: "exploded", burst: { step: said.step, loss: said.loss } });
    if (said.kind === "tried") lane.tried.push(said);
    if (said.kind === "done" || said.kind === "refused") {
      if (this.state === "going") this.spent += performance.now() - this.since;
      this.state = "done";
      this.refused = said.words;
    }
  }
}
