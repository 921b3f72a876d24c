// One training: its model, its data, and where it stands. Two lanes with one seed read the same data, and what both
// have begins alike in both.

const UNSEEN = 1_000_000; // a seed that no training has: of what is shown, and of what a trained model is tried on

// Settings with a change laid over them, part by part: withChange({ model: { heads: 2 } }, { model: { heads: 1 } }).
function withChange(settings, change) {
  const parts = Object.entries(settings).map(([part, own]) => [part, { ...own, ...change[part] }]);
  return Object.fromEntries(parts);
}

class Lane {
  constructor(settings, seed) {
    Object.assign(this, { settings, seed, steps: 0, state: "training" });
    const { task, model, training } = settings;
    if (!Object.hasOwn(TASKS, task.kind)) throw new Error(`there is no task “${task.kind}”`);
    this.task = TASKS[task.kind](task);
    this.learner = new Learner(model, this.task, seed);
    this.adam = new Adam(Object.values(this.learner.parameters), training.betas);
    this.data = Exact.dieOf("data", seed);
    this.shown = this.task.draw(Exact.dieOf("shown", UNSEEN), 1, task.length);
    this.keep();
  }

  // What is known before the first step.
  get known() {
    const { limit, chance, facts } = this.task;
    return { limit, chance, facts, ids: this.shown.ids };
  }

  // What comes back when a training explodes.
  keep() {
    this.kept = this.adam.parameters.map(({ values }) => values.slice());
  }

  // It climbs for `warmUp` steps, and where it `falls` it then comes down to 0.
  get rate() {
    const { rate, warmUp = 0, falls, steps } = this.settings.training;
    const climbed = warmUp ? Math.min(1, (this.steps + 1) / warmUp) : 1;
    const left = falls ? Math.max(0, steps - this.steps) / (steps - warmUp) : 1;
    return rate * Math.min(climbed, left);
  }

  loss(tape, scores, { targets }) {
    const loss = this.settings.training.loss ?? "crossEntropy";
    return tape[loss](scores, targets, this.task.classes);
  }

  // The share of the answers that could be known for which the right class has the highest score.
  right(scores, { targets, known }) {
    const { classes } = this.task;
    let [right, asked] = [0, 0];
    for (const [row, target] of targets.entries()) {
      if (target < 0 || (known && !known[row])) continue;
      const own = scores.values[row * classes + target];
      const better = scores.values.subarray(row * classes, (row + 1) * classes).some((score) => score > own);
      asked++;
      if (!better) right++;
    }
    return right / asked;
  }

  // One step. It can be stopped between any two computations, so that the page may answer.
  *step() {
    const { training, task } = this.settings;
    const { steps, last = 0, longer } = training;
    const length = this.steps < steps - last ? task.length : longer;
    const batch = this.task.draw(this.data, training.rows, length);
    const tape = new Tape();
    const scores = yield* this.learner.forward(tape, batch);
    const loss = this.loss(tape, scores, batch);
    this.first ??= loss;
    if (!(loss < 10 * Math.max(1, this.first))) return this.explode(loss);
    const right = this.right(scores, batch);
    yield* tape.backward();
    const norm = this.adam.norm(training.clip);
    if (this.steps % 10 === 0) this.keep();
    this.adam.step(this.rate);
    this.steps++;
    if (this.steps >= training.steps) this.state = "done";
    this.now = { loss, right, norm };
  }

  // The last good numbers come back, and it goes no farther.
  explode(loss) {
    this.state = "exploded";
    this.burst = loss;
    this.kept.forEach((values, place) => this.adam.parameters[place].values.set(values));
  }

  // Of the sequence that is shown, each head's weights: a list for each layer of a square for each head.
  *squares() {
    yield* this.learner.forward(new Tape(), this.shown);
    const { length } = this.shown;
    const [, used] = SIGHTS[this.settings.model.sight];
    const seen = (weight, at) => (at % length < used(Math.floor(at / length) % length, length) ? weight : 0);
    return this.learner.looks.map((weights) =>
      Array.from({ length: this.settings.model.heads }, (_, head) =>
        weights.subarray(head * length * length, (head + 1) * length * length).map(seen),
      ),
    );
  }

  // Loss and share right on sequences that no training has seen. Of longer ones than it learned from, the last places
  // count, as many as it learned from.
  *tried(rows = 200, length = this.settings.task.length) {
    const batch = this.task.draw(Exact.dieOf("unseen", UNSEEN), rows, length);
    const before = (length - this.settings.task.length) * this.task.answers;
    const old = (row) => row % (length * this.task.answers) < before;
    batch.targets = batch.targets.map((target, row) => (old(row) ? -1 : target));
    const tape = new Tape();
    const scores = yield* this.learner.forward(tape, batch);
    return { loss: this.loss(tape, scores, batch), right: this.right(scores, batch) };
  }
}

// All that a generator does, at once.
function atOnce(generator) {
  for (;;) {
    const { value, done } = generator.next();
    if (done) return value;
  }
}
