/**
 * Calls the tool as a model would: `node call-tool-of-an-agent.js '{ "url": "https://example.com/" }'`
 * Needs: npm install canfetch node-html-markdown
 */
import { crawlReport } from 'canfetch';
import { call, robots } from './tool-of-an-agent.js';

const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());
const report = crawlReport(robots, { onFirstRefused: false });
for (const given of process.argv.slice(2)) {
  const result = await call(JSON.parse(given), stopping);
  if (result.error !== undefined) console.log(`refused ${JSON.stringify(result)}`);
  else console.log(`${result.status < 400 ? 'fetched' : `status ${result.status}`} ${result.url}`);
}
console.log(`\n${report}`);
report.close();
await robots.close();
