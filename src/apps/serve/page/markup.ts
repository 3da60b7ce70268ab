/** Markup. Only {@link markup} makes it, so that text from outside cannot become markup. */
class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
export type { Markup };

/** What a template takes. `undefined`, `false` and the empty text leave nothing. */
export type Content = Markup | string | number | false | undefined | readonly Content[];

/** Makes markup of a template. Its values are escaped, as text or within the quotes of an attribute. */
export function markup(parts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(parts.map((part, index) => part + textOf(values[index])).join(''));
}

function textOf(content: Content): string {
  if (content === undefined || content === false) return '';
  if (content instanceof Markup) return content.text;
  if (typeof content === 'string')
    return content.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
  return typeof content === 'number' ? String(content) : content.map(textOf).join('');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
