import { type Purpose, PURPOSES } from '../../../core/decision/index.ts';

/** What the forms hold, as the visitor wrote it. */
export interface Fields {
  readonly url?: string;
  readonly agent?: string;
  readonly compare?: string;
  readonly robots?: string;
  readonly purpose?: string;
}

/** A mistake in a field, or in none. */
export interface Fault {
  readonly field?: keyof Fields | undefined;
  readonly message: string;
}

export interface Page {
  readonly form: 'ask' | 'try';
  readonly fields: Fields;
  readonly title?: string | undefined;
  readonly fault?: Fault | undefined;
  /** A sentence above the result. */
  readonly note?: string | undefined;
  readonly result?: Markup | undefined;
  /** The same result as JSON. */
  readonly json?: string | undefined;
}

/** The whole page: the form, and below it the result. */
export function documentOf(page: Page): string {
  const { form, fault, note, result, title, json } = page;
  const shown = fault !== undefined && fault.field === undefined ? fault.message : note;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === undefined ? 'canfetch: may this agent fetch this URL?' : `${title} · canfetch`}</title>
<link rel="icon" type="image/svg+xml" href="/page/icon.svg">
<link rel="stylesheet" href="/page/style.css">
</head>
<body>
<header><h1><a href="/">canfetch</a></h1><p>May this agent fetch this URL, and why?</p></header>
<main>
${form === 'ask' ? askForm(page) : tryForm(page)}
${shown && markup`<p class="state${fault && ' error'}" role="${fault ? 'alert' : 'status'}">${shown}</p>`}
${result && markup`<div id="result">${result}</div>`}
</main>
${json && markup`<footer><p>As JSON: <a href="${json}">${json.split('?')[0]}</a></p></footer>`}
</body>
</html>
`.text;
}

export const DEFAULT_COMPARED = '*, Googlebot, Bingbot, GPTBot, ClaudeBot, CCBot';

function askForm({ fields, fault }: Page): Markup {
  return markup`<form id="question" action="/" autocomplete="off" autocapitalize="none" spellcheck="false">
${modes('ask')}
<div class="fields">
<div class="wide">${input('url', 'URL', fields.url, fault, 'https://example.com/page', markup` inputmode="url" required`)}</div>
${agentFields(fields, fault)}
</form>`;
}

function tryForm({ fields, fault }: Page): Markup {
  return markup`<form id="question" action="/try" method="post" enctype="multipart/form-data" autocomplete="off" autocapitalize="none" spellcheck="false">
${modes('try')}
<div class="fields">
<div class="wide">${area('robots', 'robots.txt', fields.robots, fault, 9, 'User-agent: *\nDisallow: /private/')}
<p class="hint"><label>or a file <input type="file" name="file" accept=".txt,text/plain"></label></p></div>
<div class="wide">${input('url', 'URL or path', fields.url, fault, '/private/report')}</div>
${agentFields(fields, fault)}
</form>`;
}

function agentFields(
  { agent, compare = DEFAULT_COMPARED, purpose }: Fields,
  fault: Fault | undefined,
): Markup {
  return markup`<div>${input('agent', 'Agent', agent, fault, 'ExampleBot/1.0')}</div>
<div>${area('compare', 'Compare with', compare, fault, 1)}</div>
</div>
<p class="hint" id="agent-hint">An agent is a product token or a whole User-Agent.
“*” stands for any crawler that the file does not name.</p>${askBar(purpose)}`;
}

function modes(current: Page['form']): Markup {
  const mode = (form: Page['form'], href: string, label: string): Markup =>
    markup`<a href="${href}"${form === current && markup` aria-current="page"`}>${label}</a>`;
  return markup`<nav class="modes" aria-label="What to ask">
${mode('ask', '/', 'Ask a site')}${mode('try', '/try', 'Try a robots.txt')}</nav>`;
}

function input(
  name: keyof Fields,
  label: string,
  value: string | undefined,
  fault: Fault | undefined,
  placeholder: string,
  more?: Markup,
): Markup {
  return markup`<label for="${name}">${label}</label>
<input type="text" id="${name}" name="${name}" value="${value}" placeholder="${placeholder}"${more}${described(name, fault)}>${faultOf(name, fault)}`;
}

function area(
  name: keyof Fields,
  label: string,
  value: string | undefined,
  fault: Fault | undefined,
  rows: number,
  placeholder?: string,
): Markup {
  // HTML drops the first line break within a textarea.
  return markup`<label for="${name}">${label}</label>
<textarea id="${name}" name="${name}" rows="${rows}" placeholder="${placeholder}"${described(name, fault)}>
${value}</textarea>${faultOf(name, fault)}`;
}

/** The hint of a field; and for one with a mistake that, and the focus. */
function described(name: keyof Fields, fault: Fault | undefined): Markup {
  const hint = name === 'agent' || name === 'compare' ? 'agent-hint' : '';
  if (fault?.field !== name) return hint === '' ? markup`` : markup` aria-describedby="${hint}"`;
  return markup` aria-describedby="fault ${hint}" aria-invalid="true" autofocus`;
}

function faultOf(name: keyof Fields, fault: Fault | undefined): Content {
  return (
    fault?.field === name && markup`<p id="fault" class="hint error" role="alert">${prose(fault.message)}</p>`
  );
}

/** A sentence, with code for what stands between backticks. */
export function prose(text: string): Content {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : markup`<code>${part}</code>`));
}

const PURPOSE_NAMES: Readonly<Record<Purpose, string>> = {
  'train-ai': 'Training AI models',
  'ai-use': 'Any use by AI',
  'ai-input': 'Input to AI answers',
  search: 'Search',
};

function askBar(purpose: string | undefined): Markup {
  const options = PURPOSES.map(
    (each) =>
      markup`<option value="${each}"${each === purpose && markup` selected`}>${PURPOSE_NAMES[each]}</option>`,
  );
  return markup`<div class="ask">
<label class="purpose">Purpose <select name="purpose"><option value="">Not considered</option>${options}</select></label>
<button type="submit">Check</button></div>`;
}

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
