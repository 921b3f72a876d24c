// The index of the sections that stand in the standard input, for the search page: made once, by the build.
import { readFileSync } from "node:fs";
import { built } from "./search_sections.mjs";

process.stdout.write(JSON.stringify(built(JSON.parse(readFileSync(0, "utf8")))));
