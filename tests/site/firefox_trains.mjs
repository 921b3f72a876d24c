// `node firefox_trains.mjs FIREFOX PAGE` opens a page in Firefox, trains what it has, and prints what is said of it.

import puppeteer from "puppeteer-core";

const [executablePath, address] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, protocolTimeout: 600_000 });
const page = await browser.newPage();
await page.goto(address);
await page.click(".training button");
await page.waitForFunction(() => document.querySelector(".training-bench ~ [role=status]")?.textContent, { timeout: 300_000 });
console.log(JSON.stringify(await page.$eval(".training [role=status]", (status) => status.textContent)));
await browser.close();
