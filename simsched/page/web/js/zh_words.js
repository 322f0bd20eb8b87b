// Placeholder.

/** @type {Record<string, string>} */
export const zhWords = {};
