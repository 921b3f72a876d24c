// What training.js calls.
globalThis.openTraining = (box, told, { worker, ready }) => new TrainingBench(box, told, new Runner(worker, ready, null));
