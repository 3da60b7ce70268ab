// The service makes `words.js` from the table in `answers/text/reasons.ts`.
export const reasons: Readonly<Record<string, { readonly what: string; readonly so?: string }>>;
export const failures: Readonly<Record<string, string>>;
export const redirectEnds: Readonly<Record<string, string>>;
export const PRIVATE_ADDRESS: string;
