// The service makes `words.js`: reasons and error codes in the words that the command has.
export const reasons: Readonly<Record<string, { readonly what: string; readonly so?: string }>>;
export const failures: Readonly<Record<string, string>>;
export const redirectEnds: Readonly<Record<string, string>>;
export const PRIVATE_ADDRESS: string;
