// What holds of a page whatever has been done with it, looked at from outside: every fault as a text, none where all holds.
() => {
  // What the page says of itself against what follows from the columns of its document alone.
  const state = () => {
  const said = simsched.state();
  const { graph, runs } = simsched.app.document;
  const faults = [];
  const check = (holds, words) => { if (!holds) faults.push(words); };
  const PHASES = { finish: 0, copyEnd: 1, ready: 2, dispatch: 3, launch: 4, copyStart: 5, start: 6 };
  const events = runs.flatMap((run, number) => [
    ...run.start.flatMap((start, op) => [
      [run.end[op], PHASES.finish, number, op], [run.ready[op], PHASES.ready, number, op],
      [run.dispatch[op], PHASES.dispatch, number, op], [start, PHASES.start, number, op],
      ...(run.launched.length && run.launched[op] > run.dispatch[op] ? [[run.launched[op], PHASES.launch, number, op]] : []),
    ]),
    ...run.transfers.flatMap((move, index) => (move[7] < 0 ? [] : [[move[5], PHASES.copyEnd, number, index], [move[4], PHASES.copyStart, number, index]])),
  ]).sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3]);
  const { cursor, time } = said;
  check(cursor >= 0 && cursor <= events.length, `cursor ${cursor} of ${events.length}`);
  check(time >= (cursor ? events[cursor - 1][0] : 0), `time ${time} is before the last event`);
  check(time <= (events[cursor]?.[0] ?? Infinity), `time ${time} is after the next event`);
  check(said.end === Math.max(0, ...runs.map((run) => run.makespan)), `end ${said.end}`);
  const happened = runs.map((run) => run.start.map(() => new Set()));
  for (const [, phase, run, item] of events.slice(0, cursor)) {
    if ([PHASES.finish, PHASES.ready, PHASES.dispatch, PHASES.start].includes(phase)) happened[run][item].add(phase);
  }
  const word = (set) => {
    if (set.has(PHASES.start)) return set.has(PHASES.finish) ? "done" : "running";
    return set.has(PHASES.dispatch) ? "queued" : set.has(PHASES.ready) ? "ready" : "waiting";
  };
  runs.forEach((run, number) => check(said.states[run.label].join() === happened[number].map(word).join(), `states of ${run.label}`));
  if (runs.length) {
    const focused = happened[said.focus];
    check(focused && said.run === runs[said.focus].label, `focus ${said.focus}`);
    for (const state of ["ready", "running"]) check(said[state].join("\n") === graph.names.filter((_, op) => word(focused[op]) === state).join("\n"), `list of ${state}`);
    for (const node of document.querySelectorAll("[data-testid^=node-]")) {
      const op = Number(node.dataset.testid.slice(5));
      check(node.dataset.state === word(focused[op]), `node ${op} is drawn as ${node.dataset.state}`);
    }
    check(document.getElementById("focus-run").value === String(said.focus), "the choice of the run in focus");
  }
  const scrubber = document.querySelector("[data-testid=scrubber]");
  check(Math.abs(scrubber.value - (said.end ? (time / said.end) * 10000 : 0)) <= 1, `the scrubber is at ${scrubber.value}`);
  check(document.documentElement.dataset.theme === said.theme, "theme");
  check(document.documentElement.lang.startsWith(said.lang), "language");
  for (const which of ["selected", "hovered"]) check(said[which] === null || said[which] < graph.names.length, which);
  return faults.slice(0, 5);
};
  // Numbers that went wrong, and things that are not text, in texts and attributes.
  const texts = () => {
  const wrong = /\bNaN\b|undefined|Infinity|\[object/;
  const faults = [];
  for (const element of document.querySelectorAll("body *:not(script, textarea)")) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data);
    for (const text of [...texts, ...[...element.attributes].map((each) => each.value)]) {
      if (wrong.test(text)) faults.push(`${element.tagName} ${element.id || element.dataset.testid}: ${text.slice(0, 100)}`);
    }
  }
  return faults.slice(0, 5);
};
  const width = () => {
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  const wide = [...document.querySelectorAll("body *")].filter((each) => each.getBoundingClientRect().right > innerWidth + 1);
  return [`wider than ${innerWidth}`, ...wide.slice(0, 4).map((each) => `${each.tagName} ${each.id || each.dataset.testid || ""}`)];
};
  return [...state(), ...texts(), ...width()];
}
