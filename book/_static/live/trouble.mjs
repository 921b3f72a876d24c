// What can go wrong, in the words that a reader gets: one sentence, and a way on.

// new Trouble("The server does not answer.", "Start it again.")
export class Trouble extends Error {
  constructor(words, way = "") {
    super(words);
    this.way = way;
  }
}

export const HERE = "To run the book on your own machine, get it from its repository and type `make live`.";

// Whatever was thrown, as a trouble.
export function asTrouble(error) {
  if (error instanceof Trouble) return error;
  const words = String(error?.message ?? error);
  if (/No space left|Errno 28/i.test(words))
    return new Trouble("The disk of the machine that runs the code is full.", "Make room there, then try again.");
  return new Trouble(`Something went wrong: ${words}`, "Try again, or load the page anew: what you typed is kept.");
}
