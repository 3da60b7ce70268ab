// @ts-check
// Offers known crawlers for a list of agents.
import { element } from './elements.js';
import { texts } from './texts.js';

/** Product tokens as their operators publish them, by what the crawlers are for. */
const CRAWLERS = {
  search:
    'Googlebot Googlebot-Image Googlebot-News Bingbot DuckDuckBot Applebot YandexBot Baiduspider PetalBot SeznamBot ' +
    'Qwantbot Yeti',
  training:
    'GPTBot ClaudeBot CCBot Google-Extended Applebot-Extended Meta-ExternalAgent Amazonbot Bytespider ' +
    'cohere-training-data-crawler AI2Bot Diffbot',
  assistants:
    'OAI-SearchBot ChatGPT-User Claude-SearchBot Claude-User PerplexityBot Perplexity-User MistralAI-User ' +
    'DuckAssistBot Meta-ExternalFetcher',
  previews: 'facebookexternalhit Twitterbot LinkedInBot Slackbot Discordbot Pinterestbot',
  marketing: 'AhrefsBot SemrushBot MJ12bot DotBot BLEXBot DataForSeoBot',
  archives: 'archive.org_bot ia_archiver',
};

/**
 * A box per crawler, by kind.
 * @param {(name: string, chosen: boolean) => void} onToggle Called when a box is changed.
 */
export class CrawlerPicker {
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
          ...names.split(' ').map((name) => {
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
