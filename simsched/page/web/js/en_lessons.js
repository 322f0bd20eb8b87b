// English words around the lessons; their own texts come with their data.

/** @type {Record<string, string>} */
export const enLessons = {
  lessons_progress: "{done} of {all} answered",
  lessons_setting: "Setting",
  lessons_first: "First setting",
  lessons_run: "Run",
  lessons_ends: "Ends",
  lessons_before: "Before",
  lessons_idle: "Idle",
  lessons_peak: "Peak",
  lessons_outcome: "What this setting gives: the end of each run, its end before the last change of the setting, the share of the time in which streams are idle, and the peak memory of the fullest device",
  lessons_questions: "Questions",
  lessons_question: "Question {number}",
  lessons_answered: "answered",
  lessons_answer: "Your answer",
  lessons_check: "Check",
  lessons_check_setting: "Check the setting",
  lessons_right: "Right.",
  lessons_wrong: "Not yet.",
  lessons_empty_choice: "Choose one of the answers first.",
  lessons_empty_number: "Write a number first.",
  lessons_done: "All {all} questions answered. Well done.",
  lessons_next: "Next: {title}",
  lessons_live: "Continue in the editor",
};
