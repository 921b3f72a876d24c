// One drawing for each kind of step, on a sheet as wide as its place. What adds up stands one below the other, as in a
// written sum, and the followed number is ringed in all of them.

(() => {
  const { Sheet, shortened, summed, lengthOf, times, minus, written, largestFew, shareOf, root, ordinary } = stepping;

  const MOST_ROWS = 8; // places or words in a list
  const MOST_NEURONS = 5;
  const ROW = 27; // pixels
  const CELL = 29; // of a number with its bar

  const largestIn = (...vectors) =>
    vectors.reduce((most, vector) => vector.reduce((most, number) => Math.max(most, Math.abs(number)), most), 1e-9);

  // `drawingOf(step, words, width)` is an SVG element.
  function drawingOf(step, words, width) {
    const sheet = new Sheet(width, words.follow);
    DRAWINGS[step.kind](sheet, step, words);
    return sheet.svg;
  }

  const DRAWINGS = {
    embedding(sheet, { scale, numbers: { row, result } }, words) {
      const who = words.who;
      const largest = largestIn(row, result);
      sheet.line("", `row of ${who}`, row, { largest, note: `${row.length} numbers` });
      const hint = "Press a bar, and that number is followed through all steps.";
      if (scale === 1) return sheet.remark(hint, sheet.margin);
      sheet.same("×", `√${row.length}, the same for all`, root(row.length));
      sheet.rule();
      sheet.line("=", who, result, { largest, total: true });
      return sheet.remark(hint, sheet.margin);
    },

    positions(sheet, { learned, numbers: { given, position, result } }, words) {
      const largest = largestIn(given, position, result);
      sheet.line("", words.who, given, { largest });
      sheet.line("+", `place ${words.way.place + 1}`, position, { largest, note: learned ? "learned" : "waves" });
      sheet.rule();
      sheet.line("=", `${words.who} there`, result, { largest, total: true });
    },

    norm(sheet, { numbers: { given, mean, deviation, normal, gain, bias, result } }, words) {
      const largest = largestIn(given);
      sheet.line("", "the stream", given, { largest, note: words.who });
      sheet.line("−", "the mean", given.map(() => mean), { largest, note: "the same for all" });
      const scaled = largestIn(normal, gain, bias, result);
      sheet.line("÷", "the spread", normal, { largest: scaled, note: written(deviation) });
      sheet.line("×", "gain", gain, { largest: scaled, note: "learned" });
      sheet.line("+", "bias", bias, { largest: scaled, note: "learned" });
      sheet.rule();
      sheet.line("=", "normed", result, { largest: scaled, total: true });
    },

    query(sheet, step, words) {
      const { head, memory, key, narrow, cross, numbers } = step;
      const inHead = words.inHead(step);
      const gap = 28;
      const { isNarrow, width } = sheet;
      const column = isNarrow ? width : (width - gap) / 2;
      const top = sheet.y;
      const sides = [
        ["query", "q", "W_Q", words.who, numbers.given, numbers.query, "what it seeks"],
        ["key", "k", "W_K", words.wordAt(memory, key), numbers.other, numbers.key, "what it can be found by"],
      ];
      const largest = largestIn(numbers.query, numbers.key);
      for (const [side, [role, letter, matrix, who, given, made, note]] of sides.entries()) {
        const x = isNarrow ? 0 : side * (column + gap);
        let y = isNarrow ? sheet.y : top;
        const above = side && cross ? "read and normed" : "normed";
        sheet.text(x, y + 13, shortened(`${who}, ${above}`, column - 90));
        sheet.text(x + column, y + 13, `(${given.length})`, { anchor: "end", role: "grey" });
        sheet.bars(x, y + 20, column, 34, given, { follow: side ? -1 : sheet.follow });
        sheet.arrow(x + column / 2, y + 57);
        sheet.box(x + column / 2 - 70, y + 74, 140, `${matrix} of head ${head + 1}`, role);
        sheet.arrow(x + column / 2, y + 103);
        sheet.bars(x, y + 121, column, 40, made, { role, largest, follow: inHead, each: "data-in-head" });
        const value = `${letter} · number ${inHead + 1}: ${written(made[inHead])}`;
        sheet.text(x, y + 178, value, { role, bold: true });
        sheet.text(x + column, y + 178, `(${narrow})`, { anchor: "end", role: "grey" });
        sheet.text(x, y + 195, note, { role: "grey" });
        sheet.y = y + 204 + (isNarrow && !side ? 16 : 0);
      }
    },

    score(sheet, step, words) {
      const { memory, key, narrow, numbers } = step;
      const other = words.wordAt(memory, key);
      const { query, products, sum, divisor, score } = numbers;
      const inHead = words.inHead(step);
      const largest = largestIn(query, numbers.key);
      const line = headLines(sheet, narrow, inHead);
      line("", `query of ${words.who}`, query, { role: "query", letter: "q", largest });
      line("×", `key of ${other}`, numbers.key, { role: "key", letter: "k", largest });
      sheet.rule();
      const inCells = line("=", `${narrow} products`, products, { note: "up: they agree" });
      if (!inCells) productsInNumbers(sheet, products);
      const [x, room] = [sheet.margin, sheet.width - sheet.margin];
      const parts = [`sum ${written(sum)}`, sheet.isNarrow ? `÷ √${narrow}` : `÷ √${narrow}, that is ${root(narrow)}`, `score ${written(score)}`];
      const wide = (room - 2 * 30) / 3;
      for (const [i, part] of parts.entries()) {
        const left = x + i * (wide + 30);
        sheet.box(left, sheet.y + 4, wide, part, i === 2 ? "output" : "ink");
        if (i < 2) sheet.mark("path", { d: `M${left + wide + 5} ${sheet.y + 17}h20m-5 -4l5 4l-5 4`, class: "arrow" });
      }
      sheet.y += 38;
    },

    softmax(sheet, { key, memory, numbers, causal }, words) {
      const { scores, visible, weights } = numbers;
      const rows = chosenPlaces(weights, visible, [key, causal ? words.way.place : key]);
      const seen = [...scores].filter((_, place) => visible[place]);
      shares(sheet, rows.places, {
        titles: ["k · looks at", "score", "share"],
        name: (place) => [words.wordAt(memory, place), "key", place === key],
        score: (place) => (visible[place] ? scores[place] : null),
        share: (place) => weights[place],
        largest: largestIn(seen),
        each: "data-key",
      });
      for (const remark of rows.remarks) sheet.remark(remark);
      sheet.remark("Before, the largest score is taken off them all: no power gets too large, and shares stay the same.");
    },

    mix(sheet, step, words) {
      const { key, memory, off, head, narrow, numbers } = step;
      const { weights, values, mix } = numbers;
      const inHead = words.inHead(step);
      const { places, remarks } = chosenPlaces(weights, [...weights].map((weight) => weight > 0), [key], worthALine(weights));
      const shown = places.map((place) => values[place].map((number) => number * weights[place]));
      const largest = largestIn(mix, ...shown);
      const line = headLines(sheet, narrow, inHead);
      for (const [i, place] of places.entries()) {
        const share = shareOf(weights[place]).replace("under ", "< ");
        const note = sheet.isNarrow ? share : `${share} of its value`;
        const opacity = 0.35 + 0.65 * weights[place];
        line(i ? "+" : "", words.wordAt(memory, place), shown[i], { role: "value", letter: "v", note, largest, opacity });
      }
      for (const remark of remarks.slice(0, 1)) sheet.remark(remark, sheet.margin);
      sheet.rule();
      const note = off ? "off: zeros" : `what head ${head + 1} found`;
      line("=", "the mix", mix, { role: "output", letter: "o", largest, note, total: true });
    },

    output(sheet, { head, numbers: { given, heads, bias, result } }, words) {
      const { largest, louder, remark } = magnified(sheet, [given, result], [bias, ...heads]);
      sheet.line("", "the stream", given, { largest, note: words.who });
      for (const [i, each] of heads.entries()) {
        const note = i === head ? "the one followed" : `length ${written(lengthOf(each))}`;
        sheet.line("+", `from head ${i + 1}`, each, { role: "output", letter: "o", largest: louder, note });
      }
      sheet.line("+", "bias", bias, { largest: louder, note: "learned" });
      remark();
      sheet.rule();
      sheet.line("=", "the stream", result, { largest, total: true });
    },

    widen(sheet, { activation, hidden, numbers: { given, wide, active, strengths } }, words) {
      sheet.line("", words.who, given, { note: "normed" });
      const middle = sheet.margin + (sheet.width - sheet.margin - sheet.right) / 2;
      sheet.box(middle - 80, sheet.y, 160, `W₁: ${hidden} neurons`, "ink");
      sheet.arrow(middle, sheet.y + 29);
      sheet.y += 46;
      const few = largestFew(strengths, MOST_NEURONS);
      sheet.line("", `${hidden} neurons`, wide, { note: "up: they fire", follow: few[0], value: written(wide[few[0]]) });
      const silent = [...wide.keys()].reduce((least, neuron) => (wide[neuron] < wide[least] ? neuron : least), 0);
      shares(sheet, [...few, silent], {
        titles: ["neuron", "it weighs", activation === "relu" ? "after relu" : "after gelu"],
        name: (neuron) => [`${neuron + 1}`, "ink", neuron === few[0]],
        score: (neuron) => wide[neuron],
        share: (neuron) => Math.max(0, active[neuron]) / Math.max(...active),
        told: (neuron) => written(active[neuron]),
        largest: largestIn(wide),
      });
      sheet.remark(`Those that will add most, and below them the one that is most silent.`);
    },

    narrow(sheet, { weights, numbers: { given, active, strengths, bias, result } }, words) {
      const few = largestFew(strengths, MOST_NEURONS);
      const added = few.map((neuron) => Float32Array.from(weights, (row) => row[neuron] * active[neuron]));
      const all = Float32Array.from(weights, (row) => product(row, active));
      const rest = added.reduce(minus, all);
      const { largest, louder, remark } = magnified(sheet, [given, result], [...added, rest, bias]);
      sheet.line("", "the stream", given, { largest, note: words.who });
      for (const [i, neuron] of few.entries())
        sheet.line("+", `neuron ${neuron + 1}`, added[i], { largest: louder, note: `length ${written(strengths[neuron])}` });
      sheet.line("+", `${active.length - few.length} others`, rest, { largest: louder, note: "together" });
      sheet.line("+", "bias", bias, { largest: louder, note: "learned" });
      remark();
      sheet.rule();
      sheet.line("=", "the stream", result, { largest, total: true });
    },

    logits(sheet, { weights, biases, numbers: { given, logits } }, words) {
      const [one] = words.rivals(logits);
      const products = times(weights[one], given);
      sheet.line("", words.who, given, { note: "normed" });
      sheet.line("×", `row of ${words.named(one)}`, weights[one], { role: "output", note: "learned" });
      sheet.rule();
      const ends = words.way.tied ? "" : `, and a bias of ${written(biases[one])}`;
      sheet.line("=", "products", products, { role: "output" });
      sheet.remark(`Together ${written(summed(products))}${ends}: its logit is ${written(logits[one])}.`, sheet.margin);
      ending(sheet, words, logits, softmax(logits));
    },

    chances(sheet, { numbers: { logits, chances } }, words) {
      ending(sheet, words, logits, chances);
    },
  };

  // Lines of vectors as long as a head is wide: with all their numbers, where there is room.
  function headLines(sheet, narrow, follow) {
    const room = sheet.width - sheet.margin;
    const inCells = room / narrow >= CELL;
    if (inCells) sheet.right = 0;
    return (sign, name, vector, about) => {
      sheet.line(sign, name, vector, { each: "data-in-head", follow, ...about, ...(inCells && { value: "" }) });
      if (inCells) sheet.y -= 8;
      return inCells && sheet.numbers(sheet.margin, room, vector, follow);
    };
  }

  // What is added to a stream is drawn larger than the stream, where it would hardly be seen.
  function magnified(sheet, stream, addends) {
    const largest = largestIn(...stream);
    const times = [20, 10, 5, 3, 2, 1].find((times) => times * largestIn(...addends) <= largest) ?? 1;
    const remark = () => times > 1 && sheet.remark(`What is added is drawn ${times} times as high as the stream.`, sheet.margin);
    return { largest, louder: largest / times, remark };
  }

  // The products of a query and a key, those that count most by name.
  function productsInNumbers(sheet, products) {
    const few = largestFew(products.map(Math.abs), MOST_NEURONS);
    const rest = summed(products) - summed(few.map((i) => products[i]));
    const parts = few.map((i) => `number ${i + 1}: ${written(products[i])}`);
    const words = `Largest: ${parts.join(", ")}. The other ${products.length - few.length} come to ${written(rest)}.`;
    sheet.remark(words, sheet.margin);
  }

  // The places that matter, in their order, and what the others come to.
  function chosenPlaces(weights, visible, needed, most = MOST_ROWS) {
    const seen = [...weights.keys()].filter((place) => visible[place]);
    const few = largestFew(weights, weights.length).filter((place) => visible[place]).slice(0, most);
    const masked = weights.length - seen.length;
    const shown = new Set([...few, ...needed.filter((place) => place in weights)]);
    const places = [...shown].sort((a, b) => a - b);
    const others = seen.filter((place) => !shown.has(place));
    const remarks = [];
    if (others.length) remarks.push(`And ${ordinary(others.length, "other")}, together ${shareOf(summed(others.map((place) => weights[place])))}.`);
    const unshown = masked - places.filter((place) => !visible[place]).length;
    if (unshown > 0) remarks.push(`${unshown} more can’t be seen from here: no score, no share.`);
    return { places, remarks };
  }

  // How many places give so much that it could be seen.
  const worthALine = (weights) => Math.max(2, Math.min(6, weights.filter((weight) => weight > 0.01).length));

  // The likeliest words and the two that are compared: a logit, up or down from zero, and a share.
  function ending(sheet, words, logits, chances) {
    const rivals = words.rivals(logits);
    const few = largestFew(chances, MOST_ROWS - 2);
    const ids = [...new Set([...few, ...rivals])].sort((a, b) => chances[b] - chances[a]);
    shares(sheet, ids, {
      titles: ["next", "logit", "chance"],
      name: (id) => [words.named(id), "output", rivals.includes(id)],
      score: (id) => logits[id],
      share: (id) => chances[id],
      largest: largestIn(ids.map((id) => logits[id])),
    });
    const others = 1 - summed(ids.map((id) => chances[id]));
    sheet.remark(`And ${logits.length - ids.length} others, together ${shareOf(Math.max(0, others))}. Bold are the two that are compared.`);
  }

  // A row for each: its name, a signed bar from a middle line, and a share.
  function shares(sheet, rows, { titles, name, score, share, told = (row) => shareOf(share(row)), largest, each }) {
    const { width, isNarrow } = sheet;
    const left = isNarrow ? 84 : 132;
    const numbers = isNarrow ? 46 : 58;
    const room = (width - left - 2 * numbers - 24) / 2;
    const [middle, end] = [left + numbers + room / 2, left + numbers + room + 16];
    sheet.text(left - 8, sheet.y + 12, titles[0], { anchor: "end", role: "grey" });
      sheet.text(middle, sheet.y + 12, titles[1], { anchor: "middle", role: "grey" });
    sheet.text(end, sheet.y + 12, titles[2], { role: "grey" });
    sheet.y += 20;
    const top = sheet.y;
    for (const row of rows) {
      const [label, role, bold] = name(row);
      const y = sheet.y + ROW / 2;
      if (bold) sheet.mark("rect", { x: 0, y: sheet.y + 1, width, height: ROW - 2, rx: 3, class: "frame" });
      sheet.text(left - 8, y + 4.5, shortened(label, left - 8), { anchor: "end", role, bold });
      const number = score(row);
      if (number === null) {
        sheet.text(left + 4, y + 4.5, "✕ hidden", { role: "grey" });
      } else {
        const long = (room / 2 - 2) * Math.min(1, Math.abs(number) / largest);
        sheet.text(left + numbers - 8, y + 4.5, written(number), { anchor: "end" });
        sheet.mark("rect", { x: number > 0 ? middle : middle - long, y: y - 6, width: long, height: 12, class: role, "fill-opacity": 0.45 });
      }
      const part = share(row);
      sheet.mark("rect", { x: end, y: y - 6, width: Math.max(0.5, (room - 4) * part), height: 12, rx: 2, class: role, "fill-opacity": 0.25 + 0.75 * part });
      const words = number === null ? "0\u00a0%" : told(row);
      sheet.text(width - 2, y + 4.5, words.replace("under ", "< "), { anchor: "end", bold });
      if (each) sheet.mark("rect", { x: 0, y: sheet.y, width, height: ROW, class: "touch", [each]: row });
      sheet.y += ROW;
    }
    sheet.mark("path", { d: `M${middle} ${top}V${sheet.y}`, class: "zero" });
    sheet.y += 6;
  }

  Object.assign(stepping, { drawingOf });
})();
