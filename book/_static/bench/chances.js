// What becomes of chances: the likeliest, and what is drawn.

// The numbers of the likeliest pieces, the likeliest first.
function likeliest(chances, count) {
  const best = [];
  for (let id = 0; id < chances.length; id++) {
    if (best.length === count && chances[id] <= chances[best[count - 1]]) continue;
    const place = best.findIndex((other) => chances[other] < chances[id]);
    best.splice(place < 0 ? best.length : place, 0, id);
    best.length = Math.min(best.length, count);
  }
  return best;
}

// What is drawn from, [id, share] each: at that temperature, the fewest likeliest that come to `topP` together.
function nucleus(chances, temperature, topP) {
  const largest = Math.max(...chances);
  const powers = Float64Array.from(chances, (chance) => (chance / largest) ** (1 / temperature));
  const total = powers.reduce((sum, power) => sum + power, 0);
  let before = 0;
  const ordered = [...powers.keys()].sort((a, b) => powers[b] - powers[a]);
  const kept = ordered.filter((id) => {
    before += powers[id];
    return before - powers[id] < topP * total; // what comes before it has not yet been enough
  });
  const left = kept.reduce((sum, id) => sum + powers[id], 0);
  return kept.map((id) => [id, powers[id] / left]);
}

// One of them, by a number from 0 to 1.
function drawn(options, number) {
  const [id] = options.find(([, share]) => (number -= share) < 0) ?? options.at(-1);
  return id;
}
