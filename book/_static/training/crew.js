// Several trainings side by side, in slices, so that whoever runs them can answer in between: the page itself, or
// better a Worker. What they have come to is told as it comes:
//
// { kind: "begun", lanes }       [{ name, seed, limit, chance, ids, facts }]: the least loss, the share right of
//                                guessing, and what stands at each place of the sequence whose squares come
// { kind: "report", lane, name, seed, step, state, losses, rights, norms, squares }
//                                of one lane, every few steps: lists since the last report, and of each layer and head
//                                the square of its weights
// { kind: "tried", lane, length, loss, right }     at its end, on sequences that are new
// { kind: "exploded", lane, step, loss }           its last good numbers are back
// { kind: "done" }                                 all lanes are at their end
// { kind: "refused", words }                       settings with which nothing can be trained

class Crew {
  // `lanes` are [{ name, settings, seed }], `lengths` those of the sequences that they are tried on at their end.
  constructor({ lanes, every = 5, lengths = [] }, hear, patience) {
    Object.assign(this, { given: lanes, hear, patience, every, lengths, going: false, single: false });
    this.work = this.all();
  }

  go() {
    this.single = false;
    this.start();
  }

  // One step of each lane.
  step() {
    this.single = true;
    this.start();
  }

  pause() {
    this.going = false;
  }

  start() {
    if (this.going) return;
    this.going = true;
    setTimeout(() => this.turn());
  }

  turn() {
    try {
      const end = performance.now() + this.patience;
      while (this.going && performance.now() < end) {
        const { value, done } = this.work.next();
        if (done || (value === "round" && this.single)) this.going = false;
      }
    } catch (error) {
      this.going = false;
      this.hear({ kind: "refused", words: error.message });
    }
    if (this.going) setTimeout(() => this.turn());
  }

  *all() {
    const begun = ({ name, settings, seed }) => ({ name, seed, lane: new Lane(settings, seed), told: [] });
    this.lanes = this.given.map(begun);
    this.hear({ kind: "begun", lanes: this.lanes.map(({ name, seed, lane }) => ({ name, seed, ...lane.known })) });
    for (const [place] of this.lanes.entries()) yield* this.report(place);
    for (let round = 1; this.lanes.some(({ lane }) => lane.state === "training"); round++) {
      for (const [place, { lane, told }] of this.lanes.entries()) {
        if (lane.state !== "training") continue;
        yield* lane.step();
        if (lane.state === "exploded") this.hear({ kind: "exploded", lane: place, step: lane.steps, loss: lane.burst });
        else told.push(lane.now);
        if (this.single || round % this.every === 0 || lane.state !== "training") yield* this.report(place);
        if (lane.state === "done") yield* this.tried(place);
      }
      yield "round";
    }
    this.hear({ kind: "done" });
  }

  *report(place) {
    const { name, seed, lane, told } = this.lanes[place];
    const squares = yield* lane.squares();
    const [losses, rights, norms] = ["loss", "right", "norm"].map((what) => told.map((each) => each[what]));
    told.length = 0;
    const { steps: step, state } = lane;
    this.hear({ kind: "report", lane: place, name, seed, step, state, losses, rights, norms, squares });
  }

  *tried(place) {
    const { lane } = this.lanes[place];
    for (const length of [lane.settings.task.length, ...this.lengths])
      this.hear({ kind: "tried", lane: place, length, ...(yield* lane.tried(100, length)) });
  }
}
