// The index of the sections and names that stand in the standard input, for the search page: made once, by the build.
import { readFileSync } from "node:fs";
import { built } from "./search_sections.mjs";

const { sections, asked } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(built(sections, asked)));
