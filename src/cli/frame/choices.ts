export const shells = ['bash', 'zsh', 'fish'] as const;

export const lintFormats = ['human', 'ndjson', 'sarif'] as const;

export const severities = ['error', 'warning', 'info'] as const;

/** Actions of `canfetch cache`. */
export const cacheActions = ['ls', 'show', 'clear', 'export', 'import'] as const;
