// Committing to a prediction unfolds the answer and says how far off it was. What was typed stays on this machine.

for (const box of document.querySelectorAll(".prediction")) {
  const form = box.querySelector("form");
  const answer = box.querySelector("details");
  const verdict = box.querySelector(".verdict");
  const name = `prediction: ${box.querySelector("p").textContent}`;

  function show(prediction) {
    form.elements.prediction.value = prediction;
    verdict.textContent = `You said ${prediction}. ${compare(prediction, answer.dataset)}`;
    answer.open = true;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const prediction = form.elements.prediction.value;
    keep(name, prediction);
    show(prediction);
  });

  if (kept(name) !== null) show(kept(name));
}

// compare("60", { answer: "64", within: "10%" }) is "Right: it is 64, and you are 4 too low (6.25 %)."
function compare(prediction, { answer, within = "0", choices, unit = "" }) {
  if (choices) return prediction === answer ? "Right." : `It is: ${answer}.`;
  const truth = Number(answer);
  const distance = Number(prediction) - truth;
  const allowed = within.endsWith("%") ? (Math.abs(truth) * parseFloat(within)) / 100 : Number(within);
  const verdict = `${Math.abs(distance) <= allowed ? "Right: it" : "It"} is ${answer} ${unit}`.trim();
  if (distance === 0) return `${verdict}.`;
  const share = truth === 0 ? "" : ` (${short(distance / truth * 100)} %)`;
  return `${verdict}, and you are ${short(distance)} ${distance > 0 ? "too high" : "too low"}${share}.`;
}

// short(-0.033333) is "0.0333": three digits are enough to say how far.
function short(distance) {
  return Math.abs(distance).toLocaleString("en", { maximumSignificantDigits: 3 });
}
