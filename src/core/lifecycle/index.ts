/**
 * The meaning of a response to `GET /robots.txt`, over time. Pure: time and randomness are numbers, and records
 * are plain data, so that a test of a month of outages takes a millisecond.
 *
 * It must not import Node, a library, or another module. Exceptions: `base/`, and the type `Dialect`.
 */
export * from './challenge-pages.ts';
export * from './freshness.ts';
export * from './gatekeepers.ts';
export * from './next-record.ts';
export * from './origin-record.ts';
export * from './outcome.ts';
export * from './profile.ts';
export * from './validate-record.ts';
export * from './state.ts';
export * from './under-profile.ts';
