// Which sections answer a question, in which order, and which sentence of each shows it.
import MiniSearch from "minisearch";
import { question, read, terms } from "./search_words.mjs";

const BOOSTS = { title: 4, names: 4, within: 1.5, page: 1.5, claimed: 0.7, code: 0.7 };
const OF_PARTS = 0.3; // what a name found in its parts alone is worth
const NAMED = 3; // what a section counts for whose title is just what is asked
const MUCH = 0.3; // of what a question asks: so much of it a name of two words must have
const QUOTED = 30; // sections that are looked through for a sentence; those below keep their order

// The lesson comes first: other pages must be much better, and the one on the checks better still.
function weight(page, section) {
  if (!page.is_chapter) return page.is_ledger ? 0.1 : 0.3;
  return section.within === "Exercises" ? 0.7 : 1;
}

const OPTIONS = {
  fields: ["title", "names", "within", "page", "text", "claimed", "code"],
  tokenize: terms,
  processTerm: (term) => term,
  // A question comes as terms. The beginning of a word counts where it is long enough to mean something.
  searchOptions: { boost: BOOSTS, tokenize: (term) => [term], prefix: (term) => term.length > 2 },
};

function sectionsOf(pages) {
  return pages.flatMap((page) =>
    page.sections.map((section, place) => ({
      ...section,
      page: place ? page.sections[0].title : "",
      address: `${page.address}#${section.id}`,
      claims: section.claims.map(([id, text]) => ({ text, address: `${page.address}#${id}`, before: "✓ " })),
      weight: weight(page, section),
    })),
  );
}

// `built(pages, { "kv cache": ["long-and-fast.html#what-length-costs"] })` is an index of what search.py wrote: pages,
// each with its sections, and what people call some of them. The build makes it, so that no phone has to.
export function built(pages, asked) {
  const index = new MiniSearch(OPTIONS);
  const claimed = ({ claims }) => claims.map(({ text }) => text).join(" ");
  const names = ({ address }) => Object.keys(asked).filter((name) => asked[name].includes(address)).join(" ");
  const whole = (section, id) => ({ ...section, id, claimed: claimed(section), names: names(section) });
  index.addAll(sectionsOf(pages).map(whole));
  return index;
}

// A word as a whole, or the words that a hyphen joins: who types nn.MultiheadAttention has not asked for attention.
const wholesOf = (word) => new Set(word.split("-").flatMap((one) => read(one).wholes.slice(-1)));

// `prepare(pages, built(pages, asked), asked)` is what `find` looks in.
export function prepare(pages, index, asked) {
  const sections = sectionsOf(pages);
  const at = new Map(sections.map((section) => [section.address, section]));
  const answers = Object.entries(asked).map(([name, addresses]) => ({
    name,
    its: new Set(question(name).flatMap((word) => [...wholesOf(word)])),
    sections: addresses.map((address) => at.get(address)),
  }));
  const names = new MiniSearch({ ...OPTIONS, fields: ["its"], tokenize: (its) => its.split(" ") });
  names.addAll(answers.map(({ its }, id) => ({ id, its: [...its].join(" ") })));
  return { index: MiniSearch.loadJS(index, OPTIONS), sections, answers, names };
}

// The name, of those that were written down, that is all of a question, or several of its words and much of what it
// asks: of a section, or of what is nowhere.
function answered({ answers }, looks) {
  const asked = new Set(looks.flatMap((one) => [...one.wholes]));
  const weight = (its) => sum(looks.filter(({ wholes }) => isWithin(wholes, its)).map((one) => one.weight));
  const isEnough = (its) =>
    its.size === asked.size || its.size > 2 || (its.size === 2 && weight(its) > MUCH * weight(asked));
  const fitting = answers.filter(({ its }) => isWithin(its, asked) && isEnough(its));
  return fitting.sort((one, other) => weight(other.its) - weight(one.its))[0];
}

// A word of the question as it is looked for. One that is nowhere is taken for the word of which it is a slip: a letter
// more, less or other, or the same letters; two of a long one. Of a short word one letter makes another word.
function spelled({ names, ...all }, word) {
  const [typed = ""] = read(word).wholes;
  if (typed.length < 5 || names.search(typed).length || look(all, word).scores.size) return word;
  const near = (fuzzy) =>
    [names, all.index].flatMap((one) => one.search(typed, { fuzzy, prefix: false }).flatMap((result) => result.terms));
  const isSlip = (term) => (typed.length > 6 && term[0] === typed[0]) || sorted(term) === sorted(typed);
  return near(1)[0] ?? near(2).find(isSlip) ?? word;
}

const sorted = (word) => [...word].sort().join("");

// Where a word stands: as a whole, which counts most, or in all its parts.
function look({ index, sections }, word) {
  const { wholes, parts, signs } = read(word);
  const all = (queries) => ({ combineWith: "AND", queries });
  const whole = { combineWith: "OR", queries: wholes.map((one) => all([one, ...signs])) };
  if (!wholes.length) whole.queries = [all(signs)];
  const strong = index.search(whole);
  // Of a name nothing is guessed: the beginning of a part says too little.
  const weak = parts.length > 1 ? index.search(all([...parts, ...signs]), { prefix: false }) : [];
  const scores = new Map();
  for (const [results, worth] of [[strong, 1], [weak, OF_PARTS]])
    for (const { id, score } of results) scores.set(id, (scores.get(id) ?? 0) + worth * score);
  const termsOf = (results) => new Set(results.flatMap((result) => result.terms));
  return {
    scores,
    best: Math.max(...scores.values()),
    // A rare word says more of what is asked than one that stands everywhere.
    weight: scores.size && Math.log(1 + sections.length / scores.size),
    wholes: wholesOf(word),
    whole: termsOf(strong),
    inParts: termsOf(weak),
  };
}

// `find(index, "loss is nan")` is {found: sections with a quote, the best first, missing: words that are nowhere,
// similar: words for which others are taken, isMatch: whether a word of a text is one of those found}.
export function find(index, typed) {
  const words = question(typed);
  const taken = words.map((word) => spelled(index, word));
  const looked = taken.map((word) => look(index, word));
  const answer = answered(index, looked);
  const nowhere = answer?.sections.length === 0;
  const looks = nowhere ? looked.filter(({ wholes }) => !isWithin(wholes, answer.its)) : looked;
  const there = looks.filter(({ scores }) => scores.size);
  const isMatch = (word) =>
    terms(word).some((term) => there.some((one) => one.whole.has(term) || one.inParts.has(term)));
  // How much of the question stands among the terms of a text, from 0 to 1.
  const share = (its) => {
    const has = (set) => its.some((term) => set.has(term));
    const credits = there.map((one) => one.weight * (has(one.whole) ? 1 : has(one.inParts) ? OF_PARTS : 0));
    return sum(credits) / sum(there.map((one) => one.weight));
  };
  const sections = new Set(there.flatMap(({ scores }) => [...scores.keys()]));
  const scored = [...sections].map((id) => {
    const its = there.filter(({ scores }) => scores.has(id));
    const covered = sum(its.map((one) => one.weight)) / sum(there.map((one) => one.weight));
    const score = sum(its.map((one) => (one.weight * one.scores.get(id)) / one.best));
    const section = index.sections[id];
    return { section, hasAll: its.length === there.length, score: score * covered ** 2 * section.weight };
  });
  const quoted = ordered(scored).slice(0, QUOTED).map((result) => {
    const { quote, most } = quoteOf(result.section, share, isMatch);
    // Words that stand together mean more than words scattered over a section.
    const title = share(terms(result.section.title));
    const isNamed = title === 1 && question(result.section.title).every(isMatch);
    return { ...result, quote, score: result.score * (0.5 + Math.max(most, title)) * (isNamed ? NAMED : 1) };
  });
  const all = [...ordered(quoted), ...ordered(scored).slice(QUOTED)];
  // Without one of the words a section must be a third as good as the best.
  const found = all.filter(({ hasAll, score }) => hasAll || score > all[0].score / 3);
  const first = (answer?.sections ?? []).map((section) => ({ section, ...quoteOf(section, share, isMatch) }));
  const missing = words.filter((_, number) => looks.includes(looked[number]) && !looked[number].scores.size);
  return {
    found: [...first, ...found.filter(({ section }) => !answer?.sections.includes(section))],
    missing: nowhere ? [answer.name, ...missing] : first.length ? [] : missing,
    similar: words.filter((word, number) => word !== taken[number]),
    isMatch,
  };
}

const isWithin = (some, all) => [...some].every((one) => all.has(one));
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const ordered = (results) => [...results].sort((one, other) => other.score - one.score);

// Where a sentence ends: before a capital or a name as code has it, not after "et al."
const END = /\n|(?<=[.?!…][”’)]?) +(?=[\p{Lu}\d“(√]|\p{Ll}+[._]\p{Ll})/u;

// The sentences of a section, and its claims, with their terms: taken apart once, for all questions.
function sentencesOf(section) {
  const sentences = section.text.split(END).map((text) => ({ text }));
  section.sentences ??= [...sentences, ...section.claims].map((one) => ({ ...one, terms: terms(one.text) }));
  return section.sentences;
}

// The sentence that has most of the question; else names in the code; else how the section begins.
function quoteOf(section, share, isMatch) {
  let quote, most = 0;
  for (const sentence of sentencesOf(section)) {
    const its = share(sentence.terms);
    if (its > most) [quote, most] = [sentence, its];
  }
  const names = section.code.split(" ").filter(isMatch).join(", ");
  if (!quote && names) quote = { text: names, before: "In its code: " };
  return { quote: quote ?? sentencesOf(section).find(({ text }) => text.length > 40), most };
}
