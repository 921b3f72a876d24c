// What a terminal would show of a text: no colours, and of a line that was written anew the last.

const COLOURS = /\x1b\[[0-9;?]*[A-Za-z]/g;

// written("1 %\r2 %") is "2 %": what a terminal would show.
export function written(text) {
  return text.replace(COLOURS, "").split("\n").map(overwritten).join("\n");
}

function overwritten(line) {
  let shown = "";
  for (const part of line.split("\r")) shown = part + shown.slice(part.length);
  return shown;
}
