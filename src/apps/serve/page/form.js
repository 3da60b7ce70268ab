// @ts-check
// Reads and fills the form, takes files that are dropped on the page, and shows what is wrong with a field.
import { clear, say } from './asking.js';
import { byId, element, many, prose, PURPOSES } from './elements.js';

/** The service takes no more. */
const MAX_AGENTS = 100;
const MAX_ANSWERS = 1000;
const MAX_FILE_BYTES = 1_048_576;

/** Known crawlers, by what they are for: product tokens as their operators publish them. */
const CRAWLERS = {
  Search:
    'Googlebot Googlebot-Image Googlebot-News Bingbot DuckDuckBot Applebot YandexBot Baiduspider PetalBot SeznamBot ' +
    'Qwantbot Yeti',
  'AI training':
    'GPTBot ClaudeBot CCBot Google-Extended Applebot-Extended Meta-ExternalAgent Amazonbot Bytespider ' +
    'cohere-training-data-crawler AI2Bot Diffbot',
  'AI search and assistants':
    'OAI-SearchBot ChatGPT-User Claude-SearchBot Claude-User PerplexityBot Perplexity-User MistralAI-User ' +
    'DuckAssistBot Meta-ExternalFetcher',
  'Link previews': 'facebookexternalhit Twitterbot LinkedInBot Slackbot Discordbot Pinterestbot',
  'Marketing and SEO': 'AhrefsBot SemrushBot MJ12bot DotBot BLEXBot DataForSeoBot',
  Archives: 'archive.org_bot ia_archiver',
};

/** The pieces of a text that match, without blanks around them. */
const pieces = (text, pattern) =>
  (text.match(pattern) || []).map((each) => each.trim()).filter((each) => each !== '');
/** Splits a list at commas and line ends, but not at commas in the comment of a User-Agent. */
const names = (text) => pieces(text, /(?:\([^)\n]*\)|[^,\n])+/g);
const lines = (text) => pieces(text, /[^\n]+/g);

/** Prefixes a bare host name with `https://`, as browsers do. */
function withScheme(text) {
  return /^[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$)/.test(text) ? 'https://' + text : text;
}

/** An error that belongs to the field of this name. */
export class FieldError extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

/** The fields that a problem of the service can be about, by its code. Of these, the mode has one or two. */
const FIELDS = {
  ERR_ROBOTS_INVALID_REQUEST: ['url', 'urls', 'agents'],
  ERR_ROBOTS_INVALID_URL: ['url'],
  ERR_ROBOTS_INVALID_OPTIONS: ['agent', 'compare', 'agents'],
  ERR_ROBOTS_TOO_LARGE: ['robots', 'urls'],
};

const isShown = (field) => field.checkVisibility();

export class Form {
  constructor() {
    this.node = /** @type {HTMLFormElement} */ (byId('question'));
    /** @type {any} The fields, by their `name`. */
    this.fields = this.node.elements;
    for (const [value, label] of Object.entries(PURPOSES)) {
      this.fields.purpose.append(element('option', { value }, label));
    }
    /** @type {HTMLInputElement[]} A box for each known crawler. */
    this.boxes = [];
    for (const [kind, crawlers] of Object.entries(CRAWLERS)) {
      const labels = crawlers.split(' ').map((name) => this.crawlerLabel(name));
      byId('crawlers').append(element('fieldset', element('legend', kind), labels));
    }
    this.node.addEventListener('change', (event) => {
      if (event.target instanceof HTMLInputElement && event.target.name === 'mode') this.showMode();
    });
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

  crawlerLabel(value) {
    const box = element('input', { type: 'checkbox', value });
    box.addEventListener('change', () => {
      const others = names(this.list.value).filter((each) => each.toLowerCase() !== value.toLowerCase());
      this.list.value = [...others, ...(box.checked ? [value] : [])].join(', ');
    });
    this.boxes.push(box);
    return element('label', box, element('span', value));
  }

  showMode() {
    this.clearFault();
    for (const part of this.node.querySelectorAll('[data-modes]')) {
      const of = /** @type {HTMLElement} */ (part);
      of.hidden = !(of.dataset.modes || '').split(' ').includes(this.mode);
    }
    this.fields.url.required = this.mode === 'site';
    byId('submit').textContent = 'Check';
    const takesPaths = this.mode === 'text';
    byId('urls-label').textContent = takesPaths ? 'URLs or paths' : 'URLs';
    this.fields.urls.placeholder = takesPaths ? '/private/report' : 'https://example.com/page';
    this.showPicked();
  }

  /** Ticks the boxes of the crawlers in the list. */
  showPicked() {
    const listed = new Set(names(this.list.value).map((name) => name.toLowerCase()));
    for (const box of this.boxes) box.checked = listed.has(box.value.toLowerCase());
  }

  /** @returns {import('./asking.js').Question} */
  read() {
    this.clearFault();
    const { url, agent, compare, robots, urls, agents, purpose } = this.fields;
    for (const { name, value } of [agent, compare, agents].filter(isShown)) {
      const count = names(value).length;
      if (count > MAX_AGENTS) throw new FieldError(name, 'Expected at most 100 agents, got ' + count);
    }
    const list = { urls: lines(urls.value), agents: names(agents.value), purpose: purpose.value };
    const count = list.urls.length * Math.max(1, list.agents.length);
    if (isShown(urls) && count > MAX_ANSWERS) {
      const got = count.toLocaleString('en');
      throw new FieldError('urls', `Expected at most 1,000 verdicts, got ${got} (URLs times agents)`);
    }
    if (this.mode === 'text') return { mode: 'text', robots: robots.value, ...list };
    if (this.mode === 'list') {
      if (count === 0) throw new FieldError('urls', 'Expected URLs, one per line, got none');
      return { mode: 'list', ...list, urls: list.urls.map(withScheme) };
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
  fill(question = { mode: 'site' }) {
    const { fields } = this;
    this.node.reset();
    const { mode, url, robots, urls, agent, compare, agents, purpose } = question;
    const lists = { agent, compare, agents };
    for (const [name, list] of Object.entries(lists)) if (list) fields[name].value = list.join(', ');
    const plain = { mode, url, robots, purpose, urls: urls && urls.join('\n') };
    for (const [name, value] of Object.entries(plain)) if (value !== undefined) fields[name].value = value;
    // A purpose that is no choice.
    if (fields.purpose.selectedIndex < 0) fields.purpose.value = '';
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
      if (files) this.take(files[0], 'robots');
    });
  }

  /** Puts the text of a file into a field. @param {File | null | undefined} file @param {string} field */
  async take(file, field) {
    if (!file) return;
    this.fields.mode.value = 'text';
    this.showMode();
    if (file.size > MAX_FILE_BYTES) {
      this.showError(
        new FieldError(field, 'Expected a file of at most 1 MiB, got ' + many(file.size, 'byte')),
      );
      return;
    }
    this.fields[field].value = await file.text();
    this.fields[field].focus();
  }

  /** Shows an error: at the field that it is about, or in the status line when it is about none. */
  showError(error) {
    if (error.name === 'AbortError') return;
    clear();
    say(error.message, 'error');
    const name = error.field || this.fieldOf(error);
    if (name) this.setFault(name, error.message);
  }

  /** The field that a problem of the service is about: the one whose value it quotes, else the one with most text. */
  fieldOf({ code, detail }) {
    const fields = (FIELDS[code] || []).map((name) => this.fields[name]).filter(isShown);
    const isQuoted = ({ value }) =>
      [withScheme(value.trim()), ...names(value)].some((part) =>
        detail.includes(', got ' + JSON.stringify(part)),
      );
    fields.sort((a, b) => b.value.length - a.value.length);
    const field = fields.find(isQuoted) || fields[0];
    return field && field.name;
  }

  /** Says right under a field what is wrong with it, and goes there. */
  setFault(name, message) {
    this.clearFault();
    say('');
    const field = this.fields[name];
    // Announced, too, when the focus has not left the field.
    const fault = element('p', { id: 'fault', class: 'hint error', role: 'alert' }, ...prose(message));
    // Not into the label, whose text is the name of the field.
    (field.closest('label') || field).after(fault);
    const hint = field.getAttribute('aria-describedby') || '';
    field.setAttribute('aria-describedby', ('fault ' + hint).trim());
    field.setAttribute('aria-invalid', 'true');
    field.focus();
  }

  clearFault() {
    const field = this.node.querySelector('[aria-invalid]');
    if (field === null) return;
    byId('fault').remove();
    const described = field.getAttribute('aria-describedby') || '';
    field.setAttribute('aria-describedby', described.replace('fault', '').trim());
    field.removeAttribute('aria-invalid');
  }
}
