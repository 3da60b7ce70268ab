/**
 * A tool with which a language model fetches pages; here the command line calls it instead of a model:
 * `node tool-of-an-agent.js '{ "url": "https://example.com/" }'`
 * Needs: npm install canfetch
 */
import { guardFetch, refusalIn, crawlReport, RobotsClient } from 'canfetch';

const MAX_CHARACTERS = 50_000;
// A model, or a page that it has read, chooses the URLs. They must not lead into the network of this machine.
const addressPolicy = process.env.ALLOW_PRIVATE === 'true' ? 'any' : 'public-only';

const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)', addressPolicy });
const report = crawlReport(robots, { onFirstRefused: false });
// The purpose is held against what sites say of it, in robots.txt and in header fields.
const fetchPolitely = guardFetch(fetch, robots, { addressPolicy, purpose: 'ai-input', pacing: true });

/** What the model is told, in the form that most interfaces take. */
export const tool = {
  name: 'fetch_page',
  description:
    'Fetches the text of a web page. A refusal is final unless it has "retryAt": do not try other ways.',
  parameters: {
    type: 'object',
    properties: { url: { type: 'string', format: 'uri', description: 'An absolute http or https URL' } },
    required: ['url'],
    additionalProperties: false,
  },
};

/** What the program does when the model calls. The result goes back to the model, so it is text in any case. */
export async function call({ url }) {
  try {
    const response = await fetchPolitely(url, { signal: AbortSignal.timeout(50_000) });
    const text = await response.text();
    return { url: response.url, status: response.status, text: text.slice(0, MAX_CHARACTERS) };
  } catch (error) {
    const refusal = refusalIn(error); // undefined: the request itself failed
    if (refusal === undefined) return { error: String(error.cause ?? error) };
    const retryAt = refusal.retryAt === undefined ? undefined : new Date(refusal.retryAt).toISOString();
    return { error: refusal.code, why: refusal.message, retryAt };
  }
}

for (const given of process.argv.slice(2)) {
  const result = await call(JSON.parse(given));
  console.log(result.error === undefined ? `fetched ${result.url}` : `refused ${JSON.stringify(result)}`);
}
console.log(`\n${report}`);
report.close();
await robots.close();
