// @ts-check
// Reads and fills the form, offers known crawlers, and takes files that are dropped on the page.
import { byId, element } from './elements.js';
import { texts } from './texts.js';

/** The service takes no more. */
const MAX_AGENTS = 100;
const MAX_ANSWERS = 1000;
const MAX_FILE_BYTES = 1_048_576;

/** Splits a list at commas and line ends, but not at commas in the comment of a User-Agent. */
function names(text) {
  return (text.match(/(?:\([^)\n]*\)|[^,\n])+/g) || [])
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

const lines = (text) =>
  text
    .split('\n')
    .map((each) => each.trim())
    .filter((each) => each !== '');

/** Prefixes a bare host name with `https://`, as browsers do. */
export function withScheme(text) {
  return /^[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$)/.test(text) ? 'https://' + text : text;
}

export class Form {
  /** @param {(error: Error) => void} onError */
  constructor(onError) {
    this.onError = onError;
    this.node = /** @type {HTMLFormElement} */ (byId('question'));
    /** @type {any} The fields, by their `name`. */
    this.fields = this.node.elements;
    fillPurposes(this.fields.purpose);
    this.picker = new CrawlerPicker((name, chosen) => this.toggle(name, chosen));
    byId('crawlers').append(this.picker.node);
    this.node.addEventListener('change', () => this.showMode());
    this.node.addEventListener('input', (event) => {
      // Not for the boxes themselves, which change the list afterwards.
      if (event.target === this.list) this.showPicked();
    });
    this.takeFiles();
    this.showMode();
  }

  get mode() {
    return this.fields.mode.value;
  }

  /** The field with the list of agents that the picker fills. */
  get list() {
    return this.mode === 'site' ? this.fields.compare : this.fields.agents;
  }

  showMode() {
    for (const part of this.node.querySelectorAll('[data-modes]')) {
      const of = /** @type {HTMLElement} */ (part);
      of.hidden = !(of.dataset.modes || '').split(' ').includes(this.mode);
    }
    this.fields.url.required = this.mode === 'site';
    byId('submit').textContent = this.mode === 'diff' ? texts.compareFiles : texts.check;
    const takesPaths = this.mode === 'text';
    byId('urls-label').textContent = takesPaths ? texts.urlsOrPaths : texts.urls;
    this.fields.urls.placeholder = takesPaths ? texts.pathPlaceholder : texts.urlPlaceholder;
    this.showPicked();
  }

  showPicked() {
    this.picker.show(names(this.list.value));
  }

  toggle(name, chosen) {
    const others = names(this.list.value).filter((each) => each.toLowerCase() !== name.toLowerCase());
    this.list.value = [...others, ...(chosen ? [name] : [])].join(', ');
  }

  /** @returns {import('./asking.js').Question} */
  read() {
    const { url, agent, compare, robots, urls, agents, purpose, before, after } = this.fields;
    if (this.mode === 'diff') return { mode: 'diff', before: before.value, after: after.value };
    if (names(this.list.value).length > MAX_AGENTS) {
      throw new Error(texts.tooManyAgents(names(this.list.value).length));
    }
    const list = { urls: lines(urls.value), agents: names(agents.value), purpose: purpose.value };
    if (this.mode === 'text') return { mode: 'text', robots: robots.value, ...list };
    if (this.mode === 'list') {
      const asked = { ...list, urls: list.urls.map(withScheme) };
      const count = asked.urls.length * Math.max(1, asked.agents.length);
      if (count === 0) throw new Error(texts.noUrls);
      if (count > MAX_ANSWERS) throw new Error(texts.tooManyAnswers(count));
      return { mode: 'list', ...asked };
    }
    url.value = withScheme(url.value.trim());
    return {
      mode: 'site',
      url: url.value,
      agent: names(agent.value),
      ...(compare.value === compare.defaultValue ? {} : { compare: names(compare.value) }),
      purpose: purpose.value,
    };
  }

  /** Fills the form with a question; without one, as it was at first. @param {import('./asking.js').Question} [question] */
  fill(question) {
    const { fields } = this;
    this.node.reset();
    if (question) {
      fields.mode.value = question.mode;
      fields.purpose.value = question.purpose || '';
      // A purpose that is no choice.
      if (fields.purpose.selectedIndex < 0) fields.purpose.value = '';
    }
    if (question && question.mode === 'site') {
      fields.url.value = question.url;
      fields.agent.value = (question.agent || []).join(', ');
      if (question.compare) fields.compare.value = question.compare.join(', ');
    }
    for (const name of ['robots', 'before', 'after']) {
      if (question && question[name] !== undefined) fields[name].value = question[name];
    }
    if (question && question.urls) {
      fields.urls.value = (question.urls || []).join('\n');
      fields.agents.value = (question.agents || []).join(', ');
    }
    this.showMode();
  }

  /** The names to compare with, whether the page suggested them or not. */
  compared() {
    return names(this.fields.compare.value);
  }

  takeFiles() {
    const input = /** @type {HTMLInputElement} */ (byId('file'));
    let field = 'robots';
    for (const each of this.node.querySelectorAll('button.open')) {
      const opener = /** @type {HTMLButtonElement} */ (each);
      opener.addEventListener('click', () => {
        field = opener.value;
        input.click();
      });
    }
    input.addEventListener('change', () => {
      this.take(input.files && input.files[0], field);
      input.value = '';
    });
    const holdsFile = (event) => event.dataTransfer && [...event.dataTransfer.types].includes('Files');
    const mark = (event, over) => {
      if (!holdsFile(event)) return;
      event.preventDefault();
      document.body.classList.toggle('dropping', over);
    };
    document.addEventListener('dragover', (event) => mark(event, true));
    document.addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) mark(event, false);
    });
    document.addEventListener('drop', (event) => {
      mark(event, false);
      const files = holdsFile(event) && event.dataTransfer && event.dataTransfer.files;
      if (files) this.take(files[0], this.fieldAt(event.target));
    });
  }

  /** The field that takes a file which is dropped on `target`. */
  fieldAt(target) {
    if (this.mode !== 'diff') return 'robots';
    const { before, after } = this.fields;
    if (target === before || target === after) return target.name;
    return before.value === '' ? 'before' : 'after';
  }

  /** Puts the text of a file into a field. @param {File | null | undefined} file @param {string} field */
  async take(file, field) {
    if (!file) return;
    if (file.size > MAX_FILE_BYTES) {
      this.onError(new Error(texts.fileTooLong(file.size)));
      return;
    }
    this.fields[field].value = await file.text();
    if (this.mode !== 'diff') this.fields.mode.value = 'text';
    this.showMode();
    this.fields[field].focus();
  }
}

function fillPurposes(select) {
  select.append(
    element('option', { value: '' }, texts.anyPurpose),
    ...Object.entries(texts.purposes).map(([value, label]) => element('option', { value }, label)),
  );
}

/** Product tokens as their operators publish them, by what the crawlers are for. */
const CRAWLERS = {
  search: [
    'Googlebot',
    'Googlebot-Image',
    'Googlebot-News',
    'Bingbot',
    'DuckDuckBot',
    'Applebot',
    'YandexBot',
    'Baiduspider',
    'PetalBot',
    'SeznamBot',
    'Qwantbot',
    'Yeti',
  ],
  training: [
    'GPTBot',
    'ClaudeBot',
    'CCBot',
    'Google-Extended',
    'Applebot-Extended',
    'Meta-ExternalAgent',
    'Amazonbot',
    'Bytespider',
    'cohere-training-data-crawler',
    'AI2Bot',
    'Diffbot',
  ],
  assistants: [
    'OAI-SearchBot',
    'ChatGPT-User',
    'Claude-SearchBot',
    'Claude-User',
    'PerplexityBot',
    'Perplexity-User',
    'MistralAI-User',
    'DuckAssistBot',
    'Meta-ExternalFetcher',
  ],
  previews: ['facebookexternalhit', 'Twitterbot', 'LinkedInBot', 'Slackbot', 'Discordbot', 'Pinterestbot'],
  marketing: ['AhrefsBot', 'SemrushBot', 'MJ12bot', 'DotBot', 'BLEXBot', 'DataForSeoBot'],
  archives: ['archive.org_bot', 'ia_archiver'],
};

/**
 * A box per crawler, by kind.
 * @param {(name: string, chosen: boolean) => void} onToggle Called when a box is changed.
 */
class CrawlerPicker {
  constructor(onToggle) {
    /** @type {Map<string, HTMLInputElement>} */
    this.boxes = new Map();
    this.node = element(
      'div',
      { class: 'kinds' },
      ...Object.entries(CRAWLERS).map(([kind, names]) =>
        element(
          'fieldset',
          {},
          element('legend', {}, texts.crawlerKinds[kind]),
          ...names.map((name) => {
            const box = element('input', { type: 'checkbox' });
            box.addEventListener('change', () => onToggle(name, box.checked));
            this.boxes.set(name.toLowerCase(), box);
            return element('label', {}, box, element('span', {}, name));
          }),
        ),
      ),
    );
  }

  /** Ticks the boxes of the crawlers in a list. @param {readonly string[]} names */
  show(names) {
    const listed = new Set(names.map((name) => name.toLowerCase()));
    for (const [name, box] of this.boxes) box.checked = listed.has(name);
  }
}
