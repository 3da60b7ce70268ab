// @ts-check
// Reads and fills the form, and takes files that are dropped on the page.
import { CrawlerPicker } from './crawlers.js';
import { byId, element } from './elements.js';
import { texts } from './texts.js';

/** The service takes no more. */
const MAX_AGENTS = 100;
const MAX_FILE_OCTETS = 1_048_576;

/** Splits a list at commas and line ends, but not at commas in the comment of a User-Agent. */
export function names(text) {
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
function withScheme(text) {
  return /^[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$)/.test(text) ? 'https://' + text : text;
}

export class Form {
  /** @param {(error: Error) => void} onError */
  constructor(onError) {
    this.onError = onError;
    this.node = /** @type {HTMLFormElement} */ (byId('question'));
    /** @type {any} The fields, by their `name`. */
    this.fields = this.node.elements;
    this.parts = { site: byId('site-fields'), text: byId('text-fields') };
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
    for (const [name, part] of Object.entries(this.parts)) part.hidden = name !== this.mode;
    this.fields.url.required = this.mode === 'site';
    this.showPicked();
  }

  showPicked() {
    this.picker.show(names(this.list.value));
  }

  toggle(name, chosen) {
    const others = names(this.list.value).filter((each) => each.toLowerCase() !== name.toLowerCase());
    this.list.value = [...others, ...(chosen ? [name] : [])].join(', ');
  }

  /** @returns {import('./link.js').Question} */
  read() {
    const { url, agent, compare, robots, urls, agents, purpose } = this.fields;
    if (names(this.list.value).length > MAX_AGENTS) {
      throw new Error(texts.tooManyAgents(names(this.list.value).length));
    }
    if (this.mode === 'text') {
      return {
        mode: 'text',
        robots: robots.value,
        urls: lines(urls.value),
        agents: names(agents.value),
        purpose: purpose.value,
      };
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

  /** Fills the form with a question; without one, as it was at first. @param {import('./link.js').Question} [question] */
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
    if (question && question.mode === 'text') {
      fields.robots.value = question.robots;
      fields.urls.value = (question.urls || []).join('\n');
      fields.agents.value = (question.agents || []).join(', ');
    }
    this.showMode();
  }

  /** The names to compare with, also when they are those that the page suggests. */
  compared() {
    return names(this.fields.compare.value);
  }

  takeFiles() {
    const input = /** @type {HTMLInputElement} */ (byId('file'));
    byId('open').addEventListener('click', () => input.click());
    input.addEventListener('change', () => {
      this.take(input.files && input.files[0]);
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
      if (holdsFile(event)) this.take(event.dataTransfer && event.dataTransfer.files[0]);
    });
  }

  /** Puts the text of a file into the form. @param {File | null | undefined} file */
  async take(file) {
    if (!file) return;
    if (file.size > MAX_FILE_OCTETS) {
      this.onError(new Error(texts.fileTooLong(file.size)));
      return;
    }
    this.fields.robots.value = await file.text();
    this.fields.mode.value = 'text';
    this.showMode();
    this.fields.robots.focus();
  }
}

function fillPurposes(select) {
  select.append(
    element('option', { value: '' }, texts.anyPurpose),
    ...Object.entries(texts.purposes).map(([value, label]) => element('option', { value }, label)),
  );
}
