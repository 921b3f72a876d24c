// A field for code: CodeMirror, which knows brackets and Python's indents, in the page's own colours.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { pythonLanguage } from "@codemirror/lang-python";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

// The classes that Pygments gives to the same words: book.css colours both.
const COLOURS = tagHighlighter([
  { tag: [tags.keyword, tags.bool, tags.null], class: "k" },
  { tag: tags.string, class: "s1" },
  { tag: tags.comment, class: "c1" },
  { tag: tags.number, class: "mi" },
  { tag: [tags.definition(tags.function(tags.variableName)), tags.definition(tags.className)], class: "nf" },
]);

// editor(place, "x = 1", { label, help, changed, keys }) fills `place`. `keys` names what is to be done at a key;
// `help` is the id of the line that tells a reader of them.
export function editor(parent, doc, { label, help, changed, keys }) {
  const own = Object.entries(keys).map(([key, act]) => ({ key, run: () => (act(), true) }));
  const extensions = [
    keymap.of([...own, indentWithTab, ...defaultKeymap, ...historyKeymap]),
    history(),
    pythonLanguage,
    indentUnit.of("    "),
    indentOnInput(),
    bracketMatching(),
    syntaxHighlighting(COLOURS),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": help, tabindex: "0" }),
    EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
  ];
  return new EditorView({ parent, state: EditorState.create({ doc, extensions }) });
}

// Put other code into it; it can be undone.
export function fill(view, code) {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: code } });
}
