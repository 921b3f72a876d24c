// Answers each line of JSON {tex, display} on stdin with one of {mathml} or {error} on stdout.
// `annotate: false` keeps the TeX out of the page, where search and screen readers would repeat it.
const temml = require("temml");

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { tex, display } = JSON.parse(line);
  let answer;
  try {
    answer = { mathml: temml.renderToString(tex, { displayMode: display, throwOnError: true, annotate: false }) };
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
});
