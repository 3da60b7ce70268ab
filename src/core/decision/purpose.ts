/** All purposes. In a file of its own, because `--help` of the command lists them and must load little. */
export const PURPOSES = ['train-ai', 'ai-use', 'ai-input', 'search'] as const;

/** The purpose of fetching a page, in the words of AIPREF and of Cloudflare's `ai-input`. */
export type Purpose = (typeof PURPOSES)[number];

export function isPurpose(value: unknown): value is Purpose {
  return PURPOSES.some((purpose) => purpose === value);
}
