// `node in_firefox.mjs FIREFOX TASK ADDRESS …` does one thing in Firefox and prints what came of it.
//
// says SCRIPT: runs a script, and prints what it has set `answer` to.
// trains PAGE: opens a page, trains what it has, and prints what is said of it.
// runs ADDRESS PAGE: opens the book by the address of `make live`, makes a page live, types into its first field, runs
// that, and prints whether it ran, with the errors of the page.

import { readFileSync } from "node:fs";

import puppeteer from "puppeteer-core";

const [executablePath, task, address, name] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, protocolTimeout: 600_000 });
const page = await browser.newPage();
const errors = [];
page.on("pageerror", ({ message }) => errors.push(message));
const until = (holds, ...given) => page.waitForFunction(holds, { timeout: 300_000 }, ...given);

async function trains() {
  await page.goto(address);
  await page.click(".training button");
  await until(() => document.querySelector(".training-bench ~ [role=status]")?.textContent);
  return JSON.stringify(await page.$eval(".training [role=status]", (status) => status.textContent));
}

async function runs() {
  await page.goto(address);
  await page.goto(new URL(name, address.split("#")[0]).href);
  await page.click("button.live");
  const saying = (part) => document.querySelector(".live-strip [role=status]")?.textContent.includes(part);
  await until(saying, "Python runs");
  const field = await page.waitForSelector(".live-field:not(details:not([open]) *) .cm-content");
  await field.click();
  const withControl = async (key) => {
    await page.keyboard.down("Control");
    await page.keyboard.press(key);
    await page.keyboard.up("Control");
  };
  await withControl("KeyA");
  await page.keyboard.type("print('in Fire' + 'fox')");
  await withControl("Enter");
  await until(saying, "Ran");
  const output = await page.$$eval(".live-output", (outputs) => outputs.map((each) => each.textContent).join(" "));
  return JSON.stringify({ ran: output.includes("in Firefox"), errors });
}

const says = () => page.evaluate(`${readFileSync(address, "utf8")}\nanswer`);
console.log(await { says, trains, runs }[task]());
await browser.close();
