/** `npm run demo`: a small crawl of good and bad sites on loopback, through the guard. */
import { runDemo } from './run.ts';

const CLEAR_LINE = '\r\u001B[2K';
const { stdout, stderr } = process;

const { report, differences } = await runDemo({
  onProgress: (done, total) => {
    if (stderr.isTTY) stderr.write(`${CLEAR_LINE}${done} / ${total} URLs`);
  },
});
if (stderr.isTTY) stderr.write(CLEAR_LINE);
stdout.write(report);
if (differences.length === 0) {
  stdout.write('\nEvery URL was treated as its site deserves.\n');
} else {
  stderr.write(
    `\nNot as the sites deserve:\n${differences.map((difference) => `  ${difference}\n`).join('')}`,
  );
  process.exitCode = 1;
}
