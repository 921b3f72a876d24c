// From what stands in a text, or is typed, to the terms that are compared. Both go the same way, so that √dₖ, √d_k
// and "sqrt d_k" are one, and nn.MultiheadAttention is found by "multiheadattention" and by "multi head".

// Letters and digits, with what joins them in names (d_k, nn.Module), formulas (q·k) and words (don't, key-value).
const WORD = /√?[\p{L}\p{M}\p{N}∞]+(?:[_.·^'’–-]+[\p{L}\p{M}\p{N}]+)*|√|∞/gu;
// MultiheadAttention has two parts, float16 has two, and ReLU what it may.
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{L}+/gu;
// What joins the words of a question and stands in every section, or tells of the one who asks: "I forgot to".
const JOINING = new Set(
  `a about am an and are as at be but by can can't do does doesn't don't did didn't for forget forgot
  forgotten from get gets has have how i if in into is isn't it its me my no not of on or our so than that
  the their then there this to versus vs was we what when where which who why will with won't you your`.split(/\s+/),
);

// What is called by several names, by the one that the book uses most.
const SAME = new Map([["torchhalf", "float16"], ["fp16", "float16"], ["bf16", "bfloat16"], ["inf", "infiniti"]]);

// `stem("masking")` is "mask", as are those of "masked" and "masks"; what is left need not be a word.
function stem(word) {
  if (word.length < 4 || /[^a-z]/.test(word)) return word;
  const short = word.replace(/(?:ings?|ed|es|(?<![su])s)$/, "");
  const left = short.length < 3 || !/[aeiouy]/.test(short) ? word : short;
  return left
    .replace(/(?<=[a-z]{3})e$/, "")
    .replace(/(?<=[a-z]{3})y$/, "i")
    .replace(/([bdfgmnprt])\1$/, "$1");
}

const known = new Map();

// `read("nn.MultiheadAttention")` is {wholes: ["nnmultiheadattention", "multiheadattention"], parts: ["nn",
// "multihead", "attention"]}: what stands for the word, with and without what it belongs to, and its parts.
export function read(word) {
  if (!known.has(word)) known.set(word, readAnew(word));
  return known.get(word);
}

function readAnew(word) {
  const plain = word.normalize("NFKD").replace(/\p{M}/gu, "");
  const partsOf = (text) => (text.match(PART) ?? []).map((part) => part.toLowerCase());
  const parts = partsOf(plain);
  const last = partsOf(plain.replace(/.*\.(?=\p{L})/u, ""));
  const wholes = [parts, last].map((some) => stem(some.join(""))).map((whole) => SAME.get(whole) ?? whole);
  const signs = [...(plain.includes("√") ? ["sqrt"] : []), ...(plain.includes("∞") ? ["infiniti"] : [])];
  return {
    wholes: [...new Set(wholes)].filter(Boolean),
    parts: parts.length > 1 ? parts.filter((part) => part.length > 1).map(stem) : [],
    signs,
  };
}

// `[...words("by √d_k")]` holds each word with its place in the text.
export function* words(text) {
  for (const found of text.matchAll(WORD)) yield { word: found[0], start: found.index };
}

// `terms("√d_k")` is ["dk", "sqrt", "root"]: all by which the words of a text can be found.
export function terms(text) {
  return [...words(text)].flatMap(({ word }) => {
    const { wholes, parts, signs } = read(word);
    return [...new Set([...wholes, ...parts, ...signs, ...(word.includes("√") ? ["root"] : [])])];
  });
}

// `question("why is the loss nan")` is ["loss", "nan"], the words that say what is asked.
export function question(typed) {
  const all = [...words(typed)].map(({ word }) => word);
  const telling = all.filter((word) => !JOINING.has(word.toLowerCase().replace("’", "'")));
  return telling.length ? telling : all;
}
