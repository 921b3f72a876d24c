// How a layer, a head, a place and a number are told in words, in all views.

const LOOKS_BY = { read: "reading", written: "writing", text: "reading back" };

const lookingWords = (stack, part) => (part.cross ? "looking across" : LOOKS_BY[stack.name]);
const layerWords = ({ layers, ...stack }, layer, part) =>
  `layer ${layer + 1} (${lookingWords(stack, layers[layer].parts[part])})`;
const headWords = (stack, { layer, part, head }) => `head ${head + 1} of ${layerWords(stack, layer, part)}`;
function allHeadsWords(stack, { layer, part }) {
  const { heads } = stack.layers[layer].parts[part];
  return `${heads === 2 ? "both" : `all ${heads}`} heads of ${layerWords(stack, layer, part)}`;
}
const partWords = (stack, layer, part) =>
  stack.layers[layer].parts[part].kind === "network" ? `the network of layer ${layer + 1}` : layerWords(stack, layer, part);

const withCapital = (words) => words[0].toUpperCase() + words.slice(1);

// A vector that can be carried over, by its name in the trace: a head’s find, or the stream behind a part.
function vectorWords(stack, { name, head }) {
  for (const [layer, { parts }] of stack.layers.entries())
    for (const [part, { mixed, after }] of parts.entries()) {
      if (head !== undefined && mixed === name) return headWords(stack, { layer, part, head });
      if (after === name) return `after ${partWords(stack, layer, part)}`;
    }
  return "word + position";
}

const placeWords = (word, place) => `${quoted(word)} (place\u00a0${place + 1})`;
const spotWords = (stack, spot, labels) => `${vectorWords(stack, spot)} at ${placeWords(labels[spot.place], spot.place)}`;

// “the” (place 3, 42 %): the place only where the word stands in several.
function wordWords(labels, place, more) {
  const word = labels[place];
  const several = labels.indexOf(word) !== labels.lastIndexOf(word);
  const told = [several && `place\u00a0${place + 1}`, more].filter(Boolean);
  return quoted(word) + (told.length ? ` (${told.join(", ")})` : "");
}

// +3.12, −0.05: a real minus, and a sign before whatever is not zero.
function withSign(number, digits = 2) {
  const text = Math.abs(number).toFixed(digits);
  return `${Number(text) === 0 ? "" : number > 0 ? "+" : "−"}${text}`;
}

// As long as there is room for.
const inShort = (number) => withSign(number, Math.abs(number) < 9.995 ? 2 : 1);

// A chance that is there, but rounds to nothing, is said to be small.
const chanceWords = (chance) => (chance < 0.0005 ? "<\u202f0.1\u00a0%" : percent(chance));

// How many times as likely a word is whose logit is larger by so much.
function timesWords(difference) {
  const times = Math.exp(Math.abs(difference));
  if (times > 999_999) return "over a million";
  return times < 9.95 ? times.toFixed(1) : Number(times.toPrecision(2)).toLocaleString("en");
}

// What no model writes can't be picked.
const isSaid = ({ data, rivals }, id) => rivals.includes(id) || !isUnwritten((data.written ?? data.read)?.[id]);

const A_LOGIT = "a logit is a word’s score, before the softmax makes chances of all scores";
