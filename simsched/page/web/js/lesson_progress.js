// What a learner has set and answered in one lesson, and whether it is right. Kept while the page is open.

export const RIGHT = "right";
export const WRONG = "wrong";
/** Nothing was answered. */
export const EMPTY = "empty";

/** The document of a setting, put together from the parts of its lesson. @param {Lesson} lesson @param {string} setting @returns {PageDocument} */
export function settingDocument(lesson, setting) {
  const variant = lesson.variants[setting];
  return {
    title: variant.title,
    graph: lesson.graphs[variant.graph],
    machines: variant.machines.map((machine) => lesson.machines[machine]),
    runs: variant.runs.map(([run, machine]) => ({ ...lesson.runs[run], machine })),
    failures: [],
    problem: variant.problem === null ? null : lesson.problems[variant.problem],
  };
}

/** A number as people write it, "9,5" as well; NaN where it is none. @param {string} text */
function readNumber(text) {
  const clean = text.trim().replace(",", ".");
  return clean ? Number(clean) : NaN;
}

export class LessonProgress {
  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
    /** By control: its value. */
    this.values = new Map(lesson.controls.map((control) => [control.id, control.initial]));
    /** Setting before the last change. @type {string | null} */
    this.before = null;
    /** By question: what was chosen (an index) or written. @type {Map<string, string>} */
    this.given = new Map();
    /** By question: RIGHT, WRONG or EMPTY at the last check. @type {Map<string, string>} */
    this.verdicts = new Map();
    /** Questions that have been answered rightly. @type {Set<string>} */
    this.solved = new Set();
  }

  /** Key of the current setting. */
  get setting() {
    return this.lesson.controls.map((control) => this.values.get(control.id)).join("|");
  }

  get complete() {
    return this.solved.size === this.lesson.questions.length;
  }

  /** The first setting again, or one value changed; whether it is another setting now. @param {string | null} control @param {string} [value] */
  change(control, value) {
    const before = this.setting;
    if (control === null) for (const each of this.lesson.controls) this.values.set(each.id, each.initial);
    else this.values.set(control, /** @type {string} */ (value));
    if (this.setting === before) return false;
    this.before = before;
    return true;
  }

  /** Judge a question and note what came of it. @param {Question} question */
  check(question) {
    const verdict = this.#judge(question);
    this.verdicts.set(question.id, verdict);
    if (verdict === RIGHT) this.solved.add(question.id);
    return verdict;
  }

  /** Note which questions the current setting answers; a setting that answers none is not yet a wrong answer. @returns {Question[]} */
  checkSetting() {
    const found = this.lesson.questions.filter((each) => each.kind === "reach" && this.#judge(each) === RIGHT);
    for (const question of found) this.check(question);
    return found;
  }

  /** @param {Question} question */
  #judge(question) {
    if (question.kind === "reach") return question.reached?.includes(this.setting) ? RIGHT : WRONG;
    const given = readNumber(this.given.get(question.id) ?? "");
    if (Number.isNaN(given)) return EMPTY;
    return Math.abs(given - (question.answer ?? NaN)) < 1e-9 ? RIGHT : WRONG;
  }
}
