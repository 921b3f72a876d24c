// `node firefox.mjs FIREFOX PAGES` opens pages in Firefox and prints as JSON what is wrong with them.
// PAGES is JSON, too: the address of each, and how long, in ms, a prediction or a chart may take to answer there.

import puppeteer from "puppeteer-core";

const SCREENS = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

const [executablePath, pages] = process.argv.slice(2);
const troubles = [];

// What can be seen in a page, all that is folded included.
function faults() {
  for (const details of document.querySelectorAll("details")) details.open = true;
  const { scrollWidth, clientWidth } = document.documentElement;
  const wide = scrollWidth > clientWidth ? [`is ${scrollWidth} px wide, on ${clientWidth}: it scrolls sideways`] : [];
  const empty = [...document.querySelectorAll("math")].filter((formula) => {
    const { width, height } = formula.getBoundingClientRect();
    return formula.checkVisibility() && width * height === 0;
  });
  const parts = { msub: 2, msup: 2, mfrac: 2, mroot: 2, munder: 2, mover: 2, msubsup: 3, munderover: 3 };
  const torn = [...document.querySelectorAll(Object.keys(parts))].filter(
    (formula) => formula.children.length !== parts[formula.localName],
  );
  return [
    ...wide,
    ...empty.map((formula) => `shows nothing of ${formula.outerHTML}`),
    ...torn.map((formula) => `has not all parts of ${formula.outerHTML}`),
  ];
}

// Whether these keys, pressed on its control, make the box say something that it has not said before.
async function answers(page, patience, box, control, ...keys) {
  const said = await page.$eval(`${box} [role=status]`, (status) => status.textContent);
  await page.focus(`${box} ${control}`);
  for (const key of keys) await page.keyboard.press(key);
  const speaks = (box, said) => document.querySelector(`${box} [role=status]`).textContent !== said;
  return page.waitForFunction(speaks, { timeout: patience }, box, said).then(
    () => true,
    () => false,
  );
}

// The first prediction, chart and playground of a page: they share their scripts with all others.
async function use(page, patience, say) {
  const box = ".prediction:has(input)"; // a game of many choices has selects
  const field = await page.$(`${box} [name=prediction]`);
  if (await field?.isVisible()) {
    const choose = (await field.evaluate(({ type }) => type)) === "radio" ? " " : "1";
    const committed = await answers(page, patience, box, "[name=prediction]", choose, "Enter");
    if (!committed) say("does not commit to a prediction");
  }
  // What stands behind a guess is used as well.
  await page.$$eval("details.cover", (covers) => covers.forEach((cover) => (cover.open = true)));
  if (await page.$(".chart [type=range]")) {
    // A chart that can't be started says so at the first move, and nothing new at the second.
    const move = () => answers(page, patience, ".chart", "[type=range]", "ArrowRight");
    if (!((await move()) && (await move()))) say("has a chart that does not answer to its slider");
  }
  if (await page.$(".playground:not([data-form=recorded])")) {
    await page.focus(".playground button");
    await page.keyboard.press("Enter");
    const field = ".playground :is(textarea, input)";
    const typed = await page.waitForSelector(field, { timeout: patience }).then(
      () => answers(page, patience, ".playground", ":is(textarea, input)", "x"), // which no word begins with
      () => false,
    );
    if (!typed) say("has a model that can't be opened and typed to");
  }
}

// Firefox 140, the long-term release, gets its size and then refuses the orientation, which it does not know.
async function resize(page, viewport) {
  try {
    await page.setViewport(viewport);
  } catch (error) {
    if (!error.message.includes("setScreenOrientationOverride")) throw error;
  }
}

const browser = await puppeteer.launch({ browser: "firefox", executablePath, defaultViewport: null });
for (const [screen, viewport] of Object.entries(SCREENS)) {
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await resize(page, viewport);
  let address;
  const say = (what) => troubles.push(`${address}, ${screen}: ${what}`);
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && say(message.text()));
  // A page that arrives in two pieces, the first of which ends within a formula, is drawn with half of it and
  // Firefox says so: seen with a server that waits there. The whole page is judged by `faults`.
  page.on("pageerror", ({ message }) => message.startsWith("Invalid markup") || say(message));
  page.on("response", (response) => response.status() >= 400 && say(`${response.status()} for ${response.url()}`));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== "data:" && origin !== new URL(address).origin) say(`asks for ${request.url()}`);
  });
  for (const [place, patience] of Object.entries(JSON.parse(pages))) {
    address = place;
    await page.goto(address);
    for (const fault of await page.evaluate(faults)) say(fault);
    // Once is enough: the width has no part in it.
    if (screen === "wide") await use(page, patience, say);
  }
  await page.close();
}
await browser.close();
console.log(JSON.stringify(troubles));
