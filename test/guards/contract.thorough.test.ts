import { tryFurtherLibraries } from './contract-libraries.ts';

await tryFurtherLibraries();
