/**
 * `Decision` and `OriginPolicy`: their types, and the only code that makes them. It imports `rules/` and
 * `lifecycle/`, nothing above, and starts no I/O.
 */
export * from './channels.ts';
export * from './decide.ts';
export * from './decide-usage.ts';
export * from './decision.ts';
export * from './describe-decision.ts';
export type * from './policy.ts';
export * from './robots-source.ts';
export * from './profile-check.ts';
export * from './refused-request.ts';
