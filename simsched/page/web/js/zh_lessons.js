// Chinese words around the lessons; their own texts come with their data.

/** @type {Record<string, string>} */
export const zhLessons = {
  lessons_progress: "已答对 {done} / {all} 题",
  lessons_setting: "设置",
  lessons_first: "最初的设置",
  lessons_run: "运行",
  lessons_ends: "结束",
  lessons_before: "之前",
  lessons_idle: "空闲",
  lessons_peak: "峰值",
  lessons_outcome: "当前设置的结果：每次运行的结束时刻、上次改变设置之前的结束时刻、流空闲的时间比例，以及最满的设备的峰值内存",
  lessons_questions: "问题",
  lessons_question: "问题 {number}",
  lessons_answered: "已答对",
  lessons_answer: "你的答案",
  lessons_check: "检查",
  lessons_check_setting: "检查设置",
  lessons_right: "正确。",
  lessons_wrong: "还不对。",
  lessons_empty_choice: "请先选择一个答案。",
  lessons_empty_number: "请先填写一个数。",
  lessons_done: "{all} 个问题全部答对，很好。",
  lessons_next: "下一个：{title}",
  lessons_live: "在编辑器中继续",
};
