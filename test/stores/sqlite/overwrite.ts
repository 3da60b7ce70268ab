import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';

/** `overwrite <file>`: overwrites all pages of a database but the first. */
const file = openSync(process.argv[2] ?? '', 'r+');
const junk = Buffer.alloc(fstatSync(file).size - 4_096, 0xa5);
writeSync(file, junk, 0, junk.length, 4_096);
closeSync(file);
console.log('"done"');
