// Which sections answer a question, in which order, and which sentence of each shows it.
import MiniSearch from "minisearch";
import { question, read, terms } from "./search_words.mjs";

const BOOSTS = { title: 4, within: 1.5, page: 1.5, claimed: 0.7, code: 0.7 };
const OF_PARTS = 0.3; // what a name found in its parts alone is worth
const OF_LIKE = 0.3; // what a word counts for in its question if only words much like it are found, a guess
const QUOTED = 30; // sections that are looked through for a sentence; those below keep their order

// The lesson comes first: other pages must be much better, and the one on the checks better still.
function weight(page, section) {
  if (!page.is_chapter) return page.is_ledger ? 0.1 : 0.3;
  return section.within === "Exercises" ? 0.7 : 1;
}

const OPTIONS = {
  fields: ["title", "within", "page", "text", "claimed", "code"],
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

// `built(pages)` is an index of what search.py wrote: pages, each with its sections. The build makes it, so that no
// phone has to.
export function built(pages) {
  const index = new MiniSearch(OPTIONS);
  const claimed = ({ claims }) => claims.map(({ text }) => text).join(" ");
  index.addAll(sectionsOf(pages).map((section, id) => ({ ...section, id, claimed: claimed(section) })));
  return index;
}

// `prepare(pages, built(pages), { "kv cache": ["long-and-fast.html#what-length-costs"] })` is what `find` looks in.
export function prepare(pages, index, asked) {
  const sections = sectionsOf(pages);
  const at = new Map(sections.map((section) => [section.address, section]));
  const answers = Object.entries(asked).map(([typed, addresses]) => ({
    typed,
    its: [...new Set(question(typed).flatMap(terms))],
    sections: addresses.map((address) => at.get(address)),
  }));
  return { index: MiniSearch.loadJS(index, OPTIONS), sections, answers };
}

// What people ask for by a name that its section does not have, or, where it is all that they ask for, that is nowhere.
function answered({ answers }, typed) {
  const asked = new Set(question(typed).flatMap(terms));
  const fits = ({ its, sections }) =>
    its.every((term) => asked.has(term)) && (sections.length > 0 || its.length === asked.size);
  const fitting = answers.filter(fits);
  return fitting.sort((one, other) => other.its.length - one.its.length)[0];
}

// Where a word stands: as a whole, which counts most, or in all its parts; if nowhere, then words much like it.
function look({ index, sections }, word) {
  const { wholes, parts, signs } = read(word);
  const all = (queries) => ({ combineWith: "AND", queries });
  const whole = { combineWith: "OR", queries: wholes.map((one) => all([one, ...signs])) };
  if (!wholes.length) whole.queries = [all(signs)];
  const strong = index.search(whole);
  const weak = parts.length > 1 ? index.search(all([...parts, ...signs])) : [];
  const similar = !strong.length && !weak.length;
  const like = similar ? index.search(whole, { fuzzy: 0.25, maxFuzzy: 2 }) : [];
  const scores = new Map();
  for (const [results, worth] of [[strong, 1], [weak, OF_PARTS], [like, 1]])
    for (const { id, score } of results) scores.set(id, (scores.get(id) ?? 0) + worth * score);
  const termsOf = (results) => new Set(results.flatMap((result) => result.terms));
  return {
    word,
    similar,
    scores,
    best: Math.max(...scores.values()),
    // A rare word says more of what is asked than one that stands everywhere.
    weight: Math.log(1 + sections.length / scores.size) * (similar ? OF_LIKE : 1),
    whole: termsOf([...strong, ...like]),
    inParts: termsOf(weak),
  };
}

// `find(index, "loss is nan")` is {found: sections with a quote, the best first, missing: words that are nowhere,
// similar: words that only others are much like, isMatch: whether a word of a text is one of those found}.
export function find(index, typed) {
  const answer = answered(index, typed);
  const nowhere = answer?.sections.length === 0;
  const looks = nowhere ? [] : question(typed).map((word) => look(index, word));
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
    return { ...result, quote, score: result.score * (0.5 + Math.max(most, share(terms(result.section.title)))) };
  });
  const all = [...ordered(quoted), ...ordered(scored).slice(QUOTED)];
  // Without one of the words a section must be a third as good as the best.
  const found = all.filter(({ hasAll, score }) => hasAll || score > all[0].score / 3);
  const first = (answer?.sections ?? []).map((section) => ({ section, ...quoteOf(section, share, isMatch) }));
  const missing = looks.filter(({ scores }) => !scores.size).map(({ word }) => word);
  return {
    found: [...first, ...found.filter(({ section }) => !answer?.sections.includes(section))],
    missing: nowhere ? [answer.typed] : first.length ? [] : missing,
    similar: first.length ? [] : there.filter(({ similar }) => similar).map(({ word }) => word),
    isMatch,
  };
}

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
