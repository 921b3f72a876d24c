// `node firefox_runs.mjs FIREFOX ADDRESS PAGE` opens the book in Firefox by the address of `make live`, makes a page
// live, types into its first field and runs that and all: it prints what came of it, and the errors of the page.

import puppeteer from "puppeteer-core";

const [executablePath, address, name] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, protocolTimeout: 600_000 });
const page = await browser.newPage();
const errors = [];
page.on("pageerror", ({ message }) => errors.push(message));
await page.goto(address);
await page.goto(new URL(name, address.split("#")[0]).href);
await page.click("button.live");
const says = (words) => page.waitForFunction(
  (part) => document.querySelector(".live-strip [role=status]")?.textContent.includes(part), { timeout: 300_000 }, words);
await says("Python runs");
const field = await page.waitForSelector(".live-field:not(details:not([open]) *) .cm-content");
await field.click();
await page.keyboard.down("Control");
await page.keyboard.press("KeyA");
await page.keyboard.up("Control");
await page.keyboard.type("print('in Fire' + 'fox')");
await page.keyboard.down("Control");
await page.keyboard.press("Enter");
await page.keyboard.up("Control");
await says("Ran");
const output = await page.$$eval(".live-output", (outputs) => outputs.map((each) => each.textContent).join(" "));
console.log(JSON.stringify({ ran: output.includes("in Firefox"), errors }));
await browser.close();
