/**
 * What every module may use: errors, the clock, abort signals, shared defaults. It must not import any other module, a
 * library, or Node. One concept per file; not a junk drawer.
 */
export * from './abort.ts';
export * from './builtin.ts';
export * from './clock.ts';
export * from './header-fields.ts';
export * from './map-concurrent.ts';
export * from './option-table.ts';
export * from './printable.ts';
export * from './values.ts';
export * from './errors.ts';
