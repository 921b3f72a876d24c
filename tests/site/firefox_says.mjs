// `node firefox_says.mjs FIREFOX SCRIPT` runs a script in Firefox and prints what it has set `answer` to.

import { readFileSync } from "node:fs";

import puppeteer from "puppeteer-core";

const [executablePath, script] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, protocolTimeout: 600_000 });
const page = await browser.newPage();
console.log(await page.evaluate(`${readFileSync(script, "utf8")}\nanswer`));
await browser.close();
