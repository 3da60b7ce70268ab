/** The fields whose values are never undefined, and the others without `undefined`, as optional ones. */
type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/**
 * The fields that are not undefined, for objects in which a field is absent rather than undefined. It takes a
 * microsecond, ten times as long as a spread: not for the hot path.
 */
export function omitUndefined<const Fields extends object>(fields: Fields): Defined<Fields>;
export function omitUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A handler for rejections that are handled elsewhere, and for required listeners. */
export function ignore(): void {}
