// The chapter's notebook with what its reader typed, as a file: for JupyterLab, or to be handed in (`make grade`).

// notebook(chapter, sources) has the code that `sources`, a Map, gives each cell by its name; nothing of it has run.
export function notebook({ cells, metadata }, sources) {
  const written = cells.map(({ chart, ...cell }) => {
    const code = { ...cell, source: sources.get(cell.id), outputs: [], execution_count: null };
    return cell.cell_type === "code" ? code : cell;
  });
  return { cells: written, metadata, nbformat: 4, nbformat_minor: 5 };
}

export function save(chapter, sources) {
  const text = `${JSON.stringify(notebook(chapter, sources), null, 1)}\n`;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/x-ipynb+json" }));
  link.download = `${chapter.name}.ipynb`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // when it has long been written
}
