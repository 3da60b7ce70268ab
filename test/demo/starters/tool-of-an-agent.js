/**
 * A tool with which a language model fetches pages, to import; `call-tool-of-an-agent.js` is a program that calls it.
 * Needs: npm install canfetch node-html-markdown
 */
import { guardFetch, refusalIn, retryAtOf, retryLater, RobotsClient } from 'canfetch';
import { NodeHtmlMarkdown } from 'node-html-markdown';

const MAX_CHARACTERS = 50_000;
const MAX_WAIT_MS = 20_000;
// A model, or a page that it has read, chooses the URLs. They must not lead into the network of this machine.
const addressPolicy = process.env.ALLOW_PRIVATE === 'true' ? 'any' : 'public-only';

/** Close it when the agent ends. */
export const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)', addressPolicy });
// The purpose is held against what sites say of it, in robots.txt and in header fields.
const fetchPolitely = guardFetch(fetch, robots, {
  addressPolicy,
  purpose: 'ai-input',
  // The model waits no longer: for the delay of the site, which else defers the call, and for the page.
  pacing: { maxDelayMs: MAX_WAIT_MS },
  timeoutMs: MAX_WAIT_MS,
});

/** What the model is told, in the form that most interfaces take. */
export const tool = {
  name: 'fetch_page',
  description:
    'Fetches a web page as Markdown. A refusal is final unless it has "retryAt": do not try other ways.',
  parameters: {
    type: 'object',
    properties: { url: { type: 'string', format: 'uri', description: 'An absolute http or https URL' } },
    required: ['url'],
    additionalProperties: false,
  },
};

/** What the program does when the model calls. The result goes back to the model, so it is text in any case. */
export async function call({ url }, { signal } = {}) {
  try {
    // A busy page is asked for again, if its site names a time that is soon.
    const options = { maxWaitMs: MAX_WAIT_MS, maxRetries: 2, signal };
    const response = await retryLater(() => fetchPolitely(url, { signal }), options);
    const retryAt = timeOf(response);
    const type = response.headers.get('content-type') ?? 'text/plain';
    if (!/text|json|xml/i.test(type)) {
      await response.body?.cancel();
      return {
        url: response.url,
        status: response.status,
        error: 'NOT_TEXT',
        why: `It is ${type}, not text`,
        retryAt,
      };
    }
    const body = await response.text();
    const text = type.includes('html') ? NodeHtmlMarkdown.translate(body) : body; // shorter, and models read it well
    return { url: response.url, status: response.status, text: text.slice(0, MAX_CHARACTERS), retryAt };
  } catch (error) {
    const refusal = refusalIn(error); // undefined: the request itself failed
    if (refusal === undefined) return { error: String(error.cause ?? error) };
    return { error: refusal.code, why: refusal.message, retryAt: timeOf(error) };
  }
}

/** When a new call makes sense; `undefined` if it makes none. */
function timeOf(outcome) {
  const retryAt = retryAtOf(outcome);
  return retryAt === undefined ? undefined : new Date(retryAt).toISOString();
}
