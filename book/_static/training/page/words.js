// What the curves did, for those who can't see them; and the same training as a cell of PyTorch.

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const LAST = 20; // steps over which a loss is told

// What is chosen that is not as it is: “heads: 1”.
function changeInWords(told, chosen) {
  const changed = told.controls.filter(({ name, asItIs, both }) => !both && chosen[name] !== asItIs);
  return changed.map(({ name, label }) => `${label.charAt(0).toLowerCase()}${label.slice(1)}: ${chosen[name]}`).join(", ");
}

function burstInWords({ side, seed, burst }, many) {
  const who = `${side.charAt(0).toUpperCase()}${side.slice(1)}${many ? `, from seed ${seed},` : ""}`;
  const loss = Number.isFinite(burst.loss) ? `went to ${nats(burst.loss)}` : "was no number any more";
  return `${who} the training exploded behind step ${burst.step}: the loss ${loss}. It has its last good numbers again, and its curve up to there.`;
}

function span(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)].map(percent);
  return low === high ? low : `${low} to ${high}`;
}

function apart(one, other) {
  const parted = Math.max(...one) < Math.min(...other) || Math.max(...other) < Math.min(...one);
  return parted
    ? "The worst of one side is better than the best of the other: that is hardly noise."
    : "The two sides overlap: one pair alone would not tell.";
}

// What came of a race, in a few sentences.
function outcomeOf(race, change) {
  const { lanes, told, many } = race;
  if (race.refused) return `Nothing can be trained so: ${race.refused}.`;
  const bursts = lanes.filter(({ burst }) => burst).map((lane) => burstInWords(lane, many));
  const rights = SIDES.map((side) => lanes.filter((lane) => lane.side === side && lane.tried.length).map(({ tried }) => tried[0].right));
  const names = [SIDES[0], change ? `${SIDES[1]} (${change})` : SIDES[1]];
  const from = many ? `From ${lanes.length / 2} seeds` : `From seed ${lanes[0].seed}`;
  const ends = names.flatMap((name, side) => (rights[side].length ? [[span(rights[side]), name]] : []));
  const shares = ends.map(([share, name], place) => `${share}${place ? "" : ` of the ${told.answers}`} ${name}`);
  const trial = ends.length ? [`${from}, after ${race.steps} steps, right ${told.where} are ${listed(shares)}.`] : [];
  const longer = told.longer.flatMap((length) => {
    const each = SIDES.flatMap((side) => {
      const found = lanes.filter((lane) => lane.side === side).flatMap(({ tried }) => tried.filter((one) => one.length === length));
      return found.length ? [`${span(found.map(({ right }) => right))} ${side}`] : [];
    });
    return each.length ? [`At length ${length} it is ${listed(each)}.`] : [];
  });
  const noise = many && rights[0].length && rights[1].length ? [apart(...rights)] : [];
  const losses = many ? [] : lossesInWords(race);
  return [...bursts, ...trial, ...longer, ...losses, ...noise].join(" ");
}

function lossesInWords({ lanes }) {
  const ended = lanes.filter(({ state, losses }) => state === "done" && losses.length);
  if (!ended.length) return [];
  const each = ended.map(({ losses, side }) => `${nats(mean(losses.slice(-LAST)))} ${side}`);
  const limit = lanes[0].known?.limit;
  const least = limit === undefined ? "" : `; the least possible is ${nats(limit)}`;
  return [`The mean loss of the last ${LAST} steps is ${listed(each)}${least}.`];
}

// Loss and share right of each lane, from the beginning to the end.
function tableOf({ lanes, steps, told }) {
  const rows = [0, 0.1, 0.25, 0.5, 0.75, 1].map((share) => told.every * Math.max(1, Math.round((share * steps) / told.every)));
  const cell = (values, step, say) => {
    const block = values.slice(Math.max(0, step - told.every), step);
    return values.length >= step && block.length ? say(mean(block)) : "–";
  };
  const row = (step) =>
    make(
      ...["tr", {}, make("th", { scope: "row", textContent: step })],
      ...lanes.slice(0, 2).flatMap(({ losses, rights }) => [
        make("td", { textContent: cell(losses, step, nats) }),
        make("td", { textContent: cell(rights, step, percent) }),
      ]),
    );
  const heads = ["step", ...SIDES.flatMap((side) => [`${side}: loss`, "right"])];
  const head = make("tr", {}, ...heads.map((words) => make("th", { scope: "col", textContent: words })));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows.map(row)));
}

// The lane of the reader's change in PyTorch.
function cellOf(told, chosen, seed) {
  const options = told.controls
    .filter(({ name, asItIs }) => chosen[name] !== asItIs)
    .map(({ name }) => `${name}=${JSON.stringify(chosen[name])}`);
  const call = `PAGES["${told.name}"].settings(${options.join(", ")})`;
  return told.cell.replace("CHOSEN", () => call).replace("SEED", seed);
}
