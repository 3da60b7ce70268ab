/**
 * Version of what the command prints as JSON; raised when a field changes its meaning or goes away, not when one is
 * added.
 */
export const SCHEMA_VERSION = 1;
