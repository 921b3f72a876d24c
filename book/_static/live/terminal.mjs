// What a terminal would show of a text: no colours, and of a line that was written anew the last.

const COLOURS = /\x1b\[[0-9;?]*[A-Za-z]/g;

// written("1 %\r2 %") is "2 %": what a terminal would show.
export function written(text) {
  return text.replace(COLOURS, "").split("\n").map(overwritten).join("\n");
}

// located("SyntaxError", "invalid syntax (595929769.py, line 2)") names the cell, of which the kernel makes a file for
// itself; what Python could not read is always the cell that was run.
export function located(name, words) {
  if (!/(Syntax|Indentation|Tab|Input)Error$/.test(name)) return words;
  return words.replace(/\(\d+\.py, line (\d+)\)$/, "(this cell, line $1)");
}

function overwritten(line) {
  let shown = "";
  for (const part of line.split("\r")) shown = part + shown.slice(part.length);
  return shown;
}
