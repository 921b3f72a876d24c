// Committing to a prediction uncovers what follows, and says how far off it was. What was guessed stays on this
// device, under "guess: " and the question's own name; who asked to see without a guess is remembered as "".

const KEPT = "guess: ";
const guesses = [...document.querySelectorAll(".prediction")].map((box) => {
  const form = box.querySelector("form");
  const cover = box.nextElementSibling;
  const verdict = box.querySelector(".verdict");
  const name = KEPT + cover.dataset.guess;
  return { box, form, cover, verdict, name, said: kept(name) };
});

for (const each of guesses) {
  const { form, cover, name } = each;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    each.said = form.elements.prediction.value || [...form.elements.prediction].map(({ value }) => value).join("|");
    keep(name, each.said);
    show(each);
    sumUp();
  });
  cover.querySelector("summary").addEventListener("click", () => {
    each.said ||= "";
    keep(name, each.said);
    sumUp();
    // The line that was pressed goes; who reads by keyboard or ear goes on with the answer.
    const answer = cover.querySelector(".answer");
    answer.tabIndex = -1;
    setTimeout(() => answer.focus({ preventScroll: true }));
  });
  show(each);
}

function show(each) {
  const { form, cover, verdict, said } = each;
  if (said === null) return;
  if (said && cover.dataset.parts) return match(each);
  if (said) {
    form.elements.prediction.value = said;
    verdict.textContent = `You said ${said}. ${compare(said, cover.dataset).words}`;
  }
  cover.open = true;
}

// Several parts are placed at once. What is wrong is answered by what speaks against it, which the answer's list says
// of each choice (“*mask*, C: both losses fall”), and the answer itself stays covered.
function match({ form, cover, verdict, said }) {
  const evidence = new Map([...cover.querySelectorAll(".answer li")].map((told) => [told.querySelector("em").textContent, told.textContent.replace(/^.*?: /, "")]));
  const { near, words, wrong } = compare(said, cover.dataset);
  said.split("|").forEach((choice, place) => {
    const field = form.elements.prediction[place];
    field.value = choice;
    field.ariaInvalid = wrong.has(place);
  });
  const placed = Map.groupBy(wrong.keys(), (place) => wrong.get(place));
  const or = new Intl.ListFormat("en-GB", { type: "disjunction" });
  const named = (places) => or.format(places.map((place) => cover.dataset.parts.split("|")[place]));
  const against = [...placed].map(([choice, places]) => element("span", element("em", choice), `: ${evidence.get(choice)} That is not ${named(places)}.`));
  verdict.replaceChildren(words, ...against);
  cover.open ||= near;
}

// compare("60", { answer: "64", within: "10%" }) is near, with the words "Right: it is 64, and you are 4 too low (6.25 %)."
function compare(prediction, { answer, within = "0", choices, parts, unit = "" }) {
  if (parts) {
    const right = answer.split("|");
    const wrong = new Map([...prediction.split("|").entries()].filter(([place, choice]) => choice !== right[place]));
    return { near: !wrong.size, words: wrong.size ? `${right.length - wrong.size} of ${right.length} are right.` : "Right, all of them.", wrong };
  }
  if (choices) {
    const near = prediction === answer;
    return { near, words: near ? "Right." : `It is: ${answer}.` };
  }
  const truth = Number(answer);
  const distance = Number(prediction) - truth;
  const allowed = within.endsWith("%") ? (Math.abs(truth) * parseFloat(within)) / 100 : Number(within);
  const near = Math.abs(distance) <= allowed;
  const verdict = `${near ? "Right: it" : "It"} is ${answer} ${unit}`.trim();
  if (distance === 0) return { near, words: `${verdict}.` };
  const share = truth === 0 ? "" : ` (${short(distance / truth * 100)} %)`;
  return { near, words: `${verdict}, and you are ${short(distance)} ${distance > 0 ? "too high" : "too low"}${share}.` };
}

// short(-0.033333) is "0.0333": three digits are enough to say how far.
function short(distance) {
  return Math.abs(distance).toLocaleString("en", { maximumSignificantDigits: 3 });
}

// At the end of the page: how many guesses came near, and which did not, for the reader's eyes alone.
const sum = element("section");
sum.className = "guesses";
sum.ariaLabel = "Your guesses";
document.querySelector("main").append(sum);
sumUp();

function sumUp() {
  const guessed = guesses.filter(({ said }) => said);
  const far = guessed.filter(({ said, cover }) => !compare(said, cover.dataset).near);
  sum.hidden = !guesses.some(({ said }) => said !== null);
  const list = far.map(({ box, verdict }) => {
    const question = box.querySelector("p");
    const link = element("a", question.textContent.replace(/^Predict\. /, ""));
    link.href = `#${question.id}`;
    return element("li", link, ` ${verdict.firstChild.textContent}`);
  });
  const forget = element("button", "Forget what I guessed, in all chapters");
  forget.onclick = forgetAll;
  sum.replaceChildren(
    element("p", `Of ${guesses.length} guesses that this page asks for you made ${guessed.length}; ${guessed.length - far.length} came near.`),
    ...(list.length ? [element("p", "Worth another look:"), element("ul", ...list)] : []),
    element("p", forget, " Your guesses are kept in this browser, and nowhere else."),
  );
}

function forgetAll() {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(KEPT)) localStorage.removeItem(name);
  } catch {}
  for (const each of guesses) {
    each.said = null;
    each.form.reset();
    each.verdict.textContent = "";
    for (const field of each.form.querySelectorAll("select")) field.ariaInvalid = false;
    each.cover.open = false;
  }
  sumUp();
  guesses[0].box.scrollIntoView();
  guesses[0].form.querySelector("[name=prediction]").focus({ preventScroll: true });
}

function element(tag, ...children) {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
}
