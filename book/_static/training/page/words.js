// What the curves did, for those who can't see them; and the same training as a cell of PyTorch.

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const LAST = 20; // steps over which a loss is told
// Of the least possible. Honest trainings ended above it, from 30 seeds of 30; with a leak the highest was 0.78.
const TOO_GOOD = 0.9;
const NO_CHANGE = "with nothing changed";

const withCapital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

// optionInWords({ label: "Heads" }, "1") is "1 head"; what says enough by itself, as “by √dₖ”, stands alone.
function optionInWords({ label }, option) {
  const name = label.charAt(0).toLowerCase() + label.slice(1);
  const isCounted = /^\w+s\b/.test(name);
  if (option === "yes") return name;
  if (option === "no" || option === "none") return `no ${name.replace(/^an? /, "")}`;
  if (option === "right") return `right ${name}`;
  if (!/^[\d.]+$/.test(option)) return option;
  return isCounted ? `${option} ${option === "1" ? name.replace(/s\b/, "") : name}` : `${name} ${option}`;
}

// What each side is called: “2 heads” and “1 head”. What both have alike is said only where nothing else is to be said.
function sidesInWords({ controls }, chosen) {
  const own = controls.filter(({ both }) => !both);
  const changed = own.filter(({ name, asItIs }) => chosen[name] !== asItIs);
  const told = changed.length ? changed : own;
  const first = told.map((control) => optionInWords(control, control.asItIs));
  const second = told.map((control) => optionInWords(control, chosen[control.name]));
  return [first.join(", "), changed.length ? second.join(", ") : NO_CHANGE];
}

function burstInWords({ side, seed, burst }, sides, many) {
  const who = `${quoted(sides[SIDES.indexOf(side)])}${many ? `, from seed ${seed},` : ""}`;
  const loss = Number.isFinite(burst.loss) ? `went to ${nats(burst.loss)}` : "was no number any more";
  return `${who} exploded after step ${burst.step}: the loss ${loss}. It has its last good numbers again, and its curve up to there.`;
}

function span(values, say = percent) {
  const [low, high] = [Math.min(...values), Math.max(...values)].map(say);
  return low === high ? low : `${low} to ${high}`;
}

// A side that has read the answers is not the better one.
function apart(one, other, read) {
  const parted = Math.max(...one) < Math.min(...other) || Math.max(...other) < Math.min(...one);
  if (!parted) return "The two sides overlap: one pair alone would not tell.";
  if (read) return "The two sides lie wholly apart: that is no noise, and no success either.";
  return "The worst of one side is better than the best of the other: that is hardly noise.";
}

// “By √dₖ: 100 % right; not at all: 18 to 56 %.”
function sidesSaid(sides, values) {
  const told = sides.flatMap((name, side) => (values[side].length ? [`${name}: ${span(values[side])}`] : []));
  if (told.length) told[0] += " right";
  return told.length ? [`${withCapital(told.join("; "))}.`] : [];
}

// What came of a race, in a few sentences. `sides` are what sidesInWords calls them.
function outcomeOf(race, sides) {
  const { lanes, told, many } = race;
  if (race.refused) return `Nothing can be trained so: ${race.refused}.`;
  const bursts = lanes.filter(({ burst }) => burst).map((lane) => burstInWords(lane, sides, many));
  const of = (side) => lanes.filter((lane) => lane.side === side);
  const rights = SIDES.map((side) => of(side).filter(({ tried }) => tried.length).map(({ tried }) => tried[0].right));
  const from = many ? `from ${lanes.length / 2} seeds` : `from seed ${lanes[0].seed}`;
  const trial = sidesSaid(sides, rights);
  if (trial.length) trial.push(`That is of the ${told.answers} ${told.where}, after ${race.steps} steps, ${from}.`);
  const longer = told.longer.flatMap((length) => {
    const found = SIDES.map((side) => of(side).flatMap(({ tried }) => tried.filter((one) => one.length === length)));
    const said = sidesSaid(sides, found.map((tries) => tries.map(({ right }) => right)));
    return said.length ? [`At length ${length}:`, ...said] : [];
  });
  const losses = lastLosses(race);
  const limit = lanes[0].known?.limit ?? 0;
  const read = losses.map((each) => each.filter((loss) => loss < TOO_GOOD * limit).length);
  const noise = many && rights[0].length && rights[1].length ? [apart(...rights, read.some(Boolean))] : [];
  const ends = lossesInWords(losses, sides, limit);
  const answers = sides.flatMap((name, side) => (read[side] ? [readInWords(name, read[side], losses[side].length)] : []));
  return [...bursts, ...trial, ...longer, ...ends, ...answers, ...noise].join(" ");
}

// Of each side the losses at the ends of its lanes.
const lastLosses = ({ lanes }) =>
  SIDES.map((side) =>
    lanes.filter((lane) => lane.side === side && lane.state === "done").map(({ losses }) => mean(losses.slice(-LAST))),
  );

function lossesInWords(losses, sides, limit) {
  const [first, second] = losses.map((each) => each.length && span(each, nats));
  if (!first && !second) return [];
  const both = `${first} against ${second}`;
  const said = first && second ? both : first ? `${first} for ${quoted(sides[0])}` : `${second} for ${quoted(sides[1])}`;
  return [`The mean loss of the last ${LAST} steps is ${said}; the least possible is ${nats(limit)}.`];
}

function readInWords(side, count, of) {
  const from = of > 1 ? `, from ${count} seeds of ${of}` : "";
  return `${quoted(side)} lies below the least possible${from}: it has read the answers, and what it gets right is no success.`;
}

// Loss and share right of each side, from the beginning to the end; of many seeds the means of those that got so far.
function tableOf({ lanes, steps, told, many }, sides) {
  const cell = (side, what, step, say) => {
    const far = lanes.filter((lane) => lane.side === side && lane[what].length >= step);
    const means = far.map((lane) => mean(lane[what].slice(step - told.every, step)));
    return make("td", { textContent: means.length ? say(mean(means)) : "–" });
  };
  const row = (step) => {
    const cells = SIDES.flatMap((side) => [cell(side, "losses", step, nats), cell(side, "rights", step, percent)]);
    return make("tr", {}, make("th", { scope: "row", textContent: step }), ...cells);
  };
  const rows = [told.every];
  for (let step = told.prints; step <= steps; step += told.prints) rows.push(step);
  const heads = ["step", ...sides.flatMap((side) => [`${side}: loss`, "right"])];
  const head = make("tr", {}, ...heads.map((words) => make("th", { scope: "col", textContent: words })));
  const caption = make("caption", { textContent: captionOf(told.every, many, lanes[0].seed) });
  return make("table", {}, caption, make("thead", {}, head), make("tbody", {}, ...rows.map(row)));
}

// Whose numbers a table has: they are measured on what is learned from, not on what comes at the end.
function captionOf(every, many, seed) {
  const over = [every > 1 ? `the last ${every} steps` : "", many ? "ten seeds" : ""].filter(Boolean);
  const parts = ["In training", many ? "" : `from seed ${seed}`, over.length ? `mean of ${listed(over)}` : ""];
  return parts.filter(Boolean).join(", ");
}

// What the cell does, where it runs, and how what it prints is to be held against the page.
function aboutCell(every, side, seed, many) {
  const from = `from seed ${seed}${many ? ", the first of the ten" : ""}`;
  const means = every > 1 ? ` Each loss that it prints is the mean of ${every} steps, as a point of the curve is.` : "";
  const where = "It runs in a cell of this page once that runs, in a notebook of this book, or with PYTHONPATH=src.";
  return `It has the same data and first weights, and follows the curve of ${quoted(side)}, ${from}.${means} ${where}`;
}

// The lane of the reader's change in PyTorch.
function cellOf(told, chosen, seed) {
  const options = told.controls
    .filter(({ name, asItIs }) => chosen[name] !== asItIs)
    .map(({ name }) => `${name}=${JSON.stringify(chosen[name])}`);
  const call = `PAGES["${told.name}"].settings(${options.join(", ")})`;
  return told.cell.replace("CHOSEN", () => call).replace("SEED", seed);
}
