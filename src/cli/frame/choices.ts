export const shells = ['bash', 'zsh', 'fish'] as const;

/** The formats of every command that prints answers. `json` is one object per line. */
export const formats = ['text', 'json'] as const;

/** The formats of commands whose findings belong to lines of a file. */
export const findingFormats = ['text', 'json', 'sarif'] as const;

export type Format = (typeof findingFormats)[number];

export const severities = ['error', 'warning', 'info'] as const;

/** Actions of `canfetch cache`. */
export const cacheActions = ['ls', 'show', 'clear', 'export', 'import'] as const;
