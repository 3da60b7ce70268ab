/** Something that happens once. Tests wait for it instead of for time. */
export class Moment<Value = void> {
  now: (value: Value) => void = () => undefined;
  readonly come: Promise<Value> = new Promise((resolve) => (this.now = resolve));
}
